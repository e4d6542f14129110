// What a reader may expect of a report on trajectories, tried in a real browser.

import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { PHONE } from "./browser.js";
import { anyReport, data, tabTo } from "./common.js";

const onPage = anyReport(process.env.TRAJECTORIES);
const step = (page) => page.locator("#scene-time").inputValue().then(Number);
const readout = (page) => page.locator("#scene-readout").innerText();
const points = (page, shape) => page.locator(`#scene-predicted .${shape}`).evaluateAll((all) => all.map((line) => line.getAttribute("points")));

// The scene on show when the page opens: the first one of the last run.
const firstScene = async (page) => (await data(page)).scenes.at(-1)[0];

describe("content", () => {
  test("headline, errors and way to reproduce are there", () => onPage({}, async (page) => {
    const title = await page.locator("h1").innerText();
    assert.match(title, /\d\.\d{3}\sm|runs in \d+ settings/);
    const { runs } = await data(page);
    assert.equal(await page.locator("table.compare tbody tr").count(), runs.length);
    assert.equal(await page.locator("table.errors tbody tr").count(), runs.length + 2);
    assert.match(await page.locator("table.errors").innerText(), /constant velocity\s+\d\.\d{3} \/ \d\.\d{3}/);
    assert.match(await page.locator("#again pre").first().innerText(), /adjoin train .*--task trajectory/);
  }));

  test("curves and degrees are drawn", () => onPage({}, async (page) => {
    const { runs, graphs } = await data(page);
    for (const key of ["loss", "valid"]) {
      assert.equal(await page.locator(`[data-chart="${key}"] svg .line`).count(), runs.length);
    }
    assert.equal(await page.locator("#readings thead th").count(), 3, "no training score");
    for (const [at, graph] of graphs.entries()) {
      const bars = page.locator(`[data-chart="degrees"][data-graph="${at}"] .bar`);
      assert.equal(await bars.count(), 2 * graph.degrees.input.length);
    }
  }));

  test("a scene shows tracks, truth, all samples, the likely path and links", () => onPage({}, async (page) => {
    const scene = await firstScene(page);
    const agents = scene.agents.length;
    const predicted = scene.places.length / agents - scene.observed;
    const count = (lines) => lines.map((line) => (line ?? "").split(" ").filter(Boolean).length);
    assert.deepEqual(count(await points(page, "track")), Array(agents).fill(scene.observed));
    for (const shape of ["truth", "likely"]) {
      assert.deepEqual(count(await points(page, shape)), Array(agents).fill(predicted + 1));
    }
    assert.equal((await points(page, "sample")).length, 20 * agents);
    const last = (links) => links.filter(([frame]) => frame === scene.observed - 1).length;
    assert.equal(await page.locator("#scene-predicted .links .link").count(), last(scene.learned));
    assert.equal(await page.locator("#scene-published .links .link").count(), last(scene.published));
    const opacity = await page.locator("#scene-predicted .links .link").evaluateAll((all) => all.map((l) => Number(l.getAttribute("stroke-opacity"))));
    assert.ok(opacity.every((o) => o > 0 && o <= 1));
    assert.equal(await page.locator("#scene-agents tbody tr").count(), agents);
    const outside = await page.locator("#scene-predicted .here").evaluateAll((all) => all.filter((dot) => {
      const [a, b] = [dot.getBoundingClientRect(), dot.ownerSVGElement.getBoundingClientRect()];
      return a.left < b.left || a.right > b.right || a.top < b.top || a.bottom > b.bottom;
    }).length);
    assert.equal(outside, 0);
  }));

  test("the graph follows the observed frame and predictions wait for it", () => onPage({}, async (page) => {
    const scene = await firstScene(page);
    await page.locator("#scene-time").fill("2");
    assert.match(await readout(page), /step 3 of \d+, observed/);
    const there = scene.learned.filter(([frame]) => frame === 2).length;
    assert.equal(await page.locator("#scene-predicted .links .link").count(), there);
    assert.ok((await points(page, "likely")).every((line) => !line));
    assert.ok((await points(page, "sample")).every((line) => !line));
    await page.locator("#scene-time").fill(String(scene.observed));
    assert.match(await readout(page), /predicted/);
    assert.ok((await points(page, "likely")).every((line) => line.split(" ").length === 2));
  }));

  test("scenes and runs can be chosen", () => onPage({}, async (page) => {
    const { scenes, runs } = await data(page);
    const shown = scenes.at(-1);
    assert.equal(await page.locator("#scene-pick option").count(), shown.length);
    await page.locator("#scene-pick").selectOption(String(shown.length - 1));
    assert.ok((await readout(page)).startsWith(shown.at(-1).name));
    assert.equal(await page.locator("#scene-agents tbody tr").count(), shown.at(-1).agents.length);
    if (runs.length < 2) return;
    const before = await points(page, "likely");
    await page.locator("#scene-run").selectOption("0");
    assert.ok((await readout(page)).startsWith(shown.at(-1).name), "the scene stays");
    assert.notDeepEqual(await points(page, "likely"), before);
  }));
});

describe("playing", () => {
  test("by keyboard: play, pause, scrub", () => onPage({}, async (page) => {
    await tabTo(page, () => document.activeElement.id === "scene-play");
    const { steps } = await page.evaluate(() => ({ steps: Number(document.getElementById("scene-time").max) + 1 }));
    assert.equal(await step(page), steps - 1, "the whole scene at first");
    await page.keyboard.press("Space");
    assert.equal(await page.locator("#scene-play").innerText(), "Pause");
    await page.waitForFunction(() => { const at = Number(document.getElementById("scene-time").value); return at > 1 && at < 10; });
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("#scene-play").innerText(), "Play");
    const stopped = await step(page);
    await page.waitForTimeout(600);
    assert.equal(await step(page), stopped, "it stands still");
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowRight");
    assert.equal(await step(page), stopped + 1);
    await page.keyboard.press("Home");
    assert.match(await page.locator("#scene-time").getAttribute("aria-valuetext"), /^step 1 of \d+, observed$/);
    assert.match(await readout(page), /step 1 of/);
  }));

  test("it ends by itself", () => onPage({}, async (page) => {
    const last = Number(await page.locator("#scene-time").getAttribute("max"));
    await page.locator("#scene-time").fill(String(last - 2));
    await page.locator("#scene-play").click();
    await page.waitForFunction(() => document.getElementById("scene-play").textContent === "Play");
    assert.equal(await step(page), last);
  }));

  test("by touch on a phone", () => onPage({ viewport: PHONE, hasTouch: true, isMobile: true }, async (page) => {
    await page.locator("#scene-play").tap();
    assert.equal(await page.locator("#scene-play").getAttribute("aria-pressed"), "true");
    await page.locator("#scene-play").tap();
    assert.equal(await page.locator("#scene-play").getAttribute("aria-pressed"), "false");
    const box = await page.locator("#scene-time").boundingBox();
    await page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
    const middle = Number(await page.locator("#scene-time").getAttribute("max")) / 2;
    assert.ok(Math.abs(await step(page) - middle) <= 2);
  }));
});

test("headline and tables stand without JavaScript", () => onPage({ javaScriptEnabled: false }, async (page) => {
  assert.ok((await page.locator("h1").innerText()).length > 10);
  assert.match(await page.locator("table.errors").innerText(), /Most likely path/);
  assert.equal(await page.locator("#scenes").isVisible(), false);
  assert.match(await page.locator("noscript").innerText(), /scenes.*need JavaScript/);
}));
