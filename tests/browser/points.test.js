// What a reader may expect of a report on point clouds, tried in a real browser.

import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { PHONE } from "./browser.js";
import { anyReport, data, tabTo } from "./common.js";

const onPage = anyReport(process.env.POINTS);
const readout = (page) => page.locator("#cloud-readout").innerText();

// What the canvas shows: a fingerprint of its pixels, the share that is painted, and how many colours there are.
const picture = (page) => page.locator("#cloud").evaluate((canvas) => {
  const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
  const pen = copy.getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const { data: pixels } = pen.getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Set();
  let [print, painted] = [0, 0];
  for (let at = 0; at < pixels.length; at += 4) {
    if (pixels[at + 3] < 255) continue;
    const colour = (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
    colours.add(colour);
    painted += 1;
    print = (Math.imul(print, 31) + colour + at) | 0;
  }
  return { print, painted: painted / (pixels.length / 4), colours: [...colours] };
});

// The relative luminance of a colour, and its contrast with another.
const luminance = (colour) => [16, 8, 0]
  .map((shift) => ((colour >> shift) & 255) / 255)
  .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

describe("content", () => {
  test("headline, accuracies and way to reproduce are there", () => onPage({}, async (page) => {
    assert.match(await page.locator("h1").innerText(), /\d\d?\.\d\s%|runs in \d+ settings/);
    const { runs } = await data(page);
    assert.equal(await page.locator("table.compare tbody tr").count(), runs.length);
    assert.equal(await page.locator("table.errors tbody tr").count(), runs.length);
    assert.match(await page.locator("#again pre").first().innerText(), /adjoin train .*--task points/);
  }));

  test("every layer has its mean and standard deviation", () => onPage({}, async (page) => {
    const { clouds, runs } = await data(page);
    const rows = page.locator(".by-layer tbody tr");
    assert.equal(await rows.count(), clouds.at(-1)[0].degrees.length);
    for (const row of await rows.all()) {
      const cells = await row.locator("td").allInnerTexts();
      assert.equal(cells.length, runs.length);
      assert.ok(cells.every((cell) => /^\d+\.\d ± \d+\.\d$/.test(cell)), cells.join());
    }
  }));

  test("a cloud is drawn, with its class, the predicted one and its degrees", () => onPage({}, async (page) => {
    const cloud = (await data(page)).clouds.at(-1)[0];
    const words = await readout(page);
    assert.ok(words.startsWith(`${cloud.class}, predicted ${cloud.predicted} with `), words);
    assert.match(words, cloud.class === cloud.predicted ? /right/ : /wrong/);
    const title = await page.locator("#cloud-title").innerText();
    assert.equal(title, `${cloud.class}, ${cloud.class === cloud.predicted ? "recognised" : `taken for ${cloud.predicted}`}`);
    const mean = cloud.degrees[0].reduce((sum, k) => sum + k, 0) / cloud.degrees[0].length;
    assert.ok(words.includes(`layer 1: ${Number(mean.toPrecision(3))} ±`), words);
    const { painted, colours } = await picture(page);
    assert.ok(painted > 0.01 && painted < 0.9, String(painted));
    assert.ok(colours.length > 5, "learned degrees differ");
    assert.match(await page.locator("#cloud").getAttribute("aria-label"), /points: /);
    assert.match(await page.locator("#cloud-low").innerText(), /[\d.]+ or fewer/);
    assert.match(await page.locator("#cloud-high").innerText(), /[\d.]+ or more/);
  }));

  test("shape, layer and run can be chosen", () => onPage({}, async (page) => {
    const { clouds, layers, runs } = await data(page);
    const shown = clouds.at(-1);
    assert.equal(await page.locator("#cloud-pick option").count(), shown.length);
    const first = await picture(page);
    await page.locator("#cloud-pick").selectOption(String(shown.length - 1));
    assert.ok((await readout(page)).startsWith(shown.at(-1).class));
    const other = await picture(page);
    assert.notEqual(other.print, first.print);
    const last = shown[0].degrees.length - 1;
    await page.locator("#cloud-layer").selectOption(String(last));
    assert.match(await readout(page), new RegExp(`layer ${last + 1}:`));
    assert.notEqual((await picture(page)).print, other.print);
    assert.equal(await page.locator("#cloud-bars .bar").count(), layers.at(-1)[last].degrees.learned.length);
    assert.equal(await page.locator("#cloud-table tbody tr").count(), shown.length);
    if (runs.length < 2) return;
    await page.locator("#cloud-run").selectOption("0");
    assert.match(await readout(page), new RegExp(`layer ${last + 1}:`), "the layer stays");
    assert.match(await page.locator("#cloud-low").innerText(), /every point \d+/, "a fixed number of neighbours");
    const lights = (await picture(page)).colours.map(luminance);
    assert.ok(Math.max(...lights) - Math.min(...lights) < 0.02, "one colour");
  }));

  test("colours stand off the background in the dark and in the light", async () => {
    for (const colorScheme of ["light", "dark"]) {
      await onPage({ colorScheme }, async (page) => {
        const { colours } = await picture(page);
        const ground = await page.locator("#cloud").evaluate((canvas) =>
          getComputedStyle(canvas.closest(".panel")).backgroundColor.match(/\d+/g).reduce((colour, part) => colour * 256 + Number(part), 0));
        const least = Math.min(...colours.map((colour) => contrast(luminance(colour), luminance(ground))));
        assert.ok(least > 2.5, `${colorScheme}: ${least}`);
      });
    }
  });
});

describe("turning", () => {
  test("by mouse", () => onPage({}, async (page) => {
    await page.locator("#cloud").scrollIntoViewIfNeeded();
    const before = await picture(page);
    const box = await page.locator("#cloud").boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    assert.equal((await picture(page)).print, before.print, "not without a button");
    await page.mouse.down();
    await page.mouse.move(x + 60, y + 20, { steps: 4 });
    await page.mouse.up();
    const after = await picture(page);
    assert.notEqual(after.print, before.print);
    await page.mouse.move(x, y);
    assert.equal((await picture(page)).print, after.print, "it stays where it was left");
  }));

  test("by keyboard, and back", () => onPage({}, async (page) => {
    await tabTo(page, () => document.activeElement.id === "cloud");
    const before = await picture(page);
    const seen = new Set([before.print]);
    for (const key of ["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"]) {
      const top = await page.evaluate(() => scrollY);
      await page.keyboard.press(key);
      seen.add((await picture(page)).print);
      assert.equal(await page.evaluate(() => scrollY), top, "the page does not move");
    }
    assert.ok(seen.size >= 4, `${seen.size} views`);
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Home");
    assert.equal((await picture(page)).print, before.print);
  }));

  test("by touch on a phone", () => onPage({ viewport: PHONE, hasTouch: true, isMobile: true }, async (page) => {
    await page.locator("#cloud").scrollIntoViewIfNeeded();
    const before = await picture(page);
    const box = await page.locator("#cloud").boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const touch = await page.context().newCDPSession(page);
    const send = (type, touchPoints) => touch.send("Input.dispatchTouchEvent", { type, touchPoints });
    await send("touchStart", [{ x, y }]);
    for (const by of [15, 30, 60]) await send("touchMove", [{ x: x + by, y }]);
    await send("touchEnd", []);
    assert.notEqual((await picture(page)).print, before.print);
  }));
});

test("headline and tables stand without JavaScript", () => onPage({ javaScriptEnabled: false }, async (page) => {
  assert.ok((await page.locator("h1").innerText()).length > 10);
  assert.match(await page.locator(".by-layer").innerText(), /±/);
  assert.equal(await page.locator("#clouds").isVisible(), false);
  assert.match(await page.locator("noscript").innerText(), /clouds.*need JavaScript/);
}));
