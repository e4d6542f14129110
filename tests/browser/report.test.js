// What a reader may expect of a report, tried in a real browser.

import { after, before, describe, test } from "node:test";
import assert from "node:assert/strict";
import { PHONE, WIDE, launch, lightness, lowContrast, open } from "./browser.js";

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

// Runs `body` on a fresh page and then checks that nothing went wrong behind the scenes.
async function onPage(options, body) {
  const { page, context, trouble } = await open(browser, options);
  try {
    await body(page);
    assert.deepEqual(trouble, [], "console errors, exceptions or network requests");
  } finally {
    await context.close();
  }
}

const focusId = (page) => page.evaluate(() => document.activeElement.id);
const shownNode = (page) => page.locator("#node-facts h3").innerText();
const data = (page) => page.evaluate(() => JSON.parse(document.getElementById("data").textContent));

async function tabTo(page, arrived, limit = 200) {
  for (let i = 0; i < limit; i += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(arrived)) return;
  }
  assert.fail(`not reached with ${limit} presses of Tab: ${arrived}`);
}

describe("content", () => {
  test("headline, results and way to reproduce are there", () => onPage({}, async (page) => {
    const title = await page.locator("h1").innerText();
    assert.match(title, /\d+\.\d\s%|runs in \d+ settings/);
    assert.ok((await page.title()).startsWith(title));
    assert.match(await page.locator(".lede").innerText(), /Test \w+.*\d+\.\d/s);
    const { runs } = await data(page);
    assert.equal(await page.locator("table.compare tbody tr").count(), runs.length);
    assert.equal(await page.locator("table.compare tbody .strip .mean").count(), runs.length);
    assert.match(await page.locator("#again pre").first().innerText(), /adjoin/);
  }));

  test("every chart is drawn, has a name and stays inside its frame", () => onPage({}, async (page) => {
    const { runs, graphs } = await data(page);
    for (const key of ["loss", "valid"]) {
      const chart = page.locator(`[data-chart="${key}"] svg`);
      assert.equal(await chart.locator(".line").count(), runs.length);
      assert.ok((await chart.locator(".line").first().getAttribute("d")).length > 20);
      assert.ok((await chart.getAttribute("aria-label")).length > 10);
      assert.ok(await chart.locator(".grid").count() >= 3);
    }
    if (!graphs.length) return;
    const bars = page.locator("section.graph:not([hidden]) .bar");
    const shown = graphs[graphs.length - 1];
    assert.equal(await bars.count(), 2 * shown.degrees.input.length);
    const heights = await bars.evaluateAll((all) => all.map((bar) => Number(bar.getAttribute("height"))));
    assert.ok(heights.every((h) => h >= 0) && Math.max(...heights) > 100);
    assert.ok(await page.locator("section.graph:not([hidden]) .homophily .mean").count() >= 1);
    const out = await page.locator("#node-map svg .disc").evaluateAll((all) => all.filter((disc) => {
      const [a, b] = [disc.getBoundingClientRect(), disc.ownerSVGElement.getBoundingClientRect()];
      return a.left < b.left || a.right > b.right || a.top < b.top || a.bottom > b.bottom;
    }).length);
    assert.equal(out, 0);
    const [kept, added, dropped] = [0, 1, 2].map((f) => page.locator(`#node-map .edge.${["kept", "new", "dropped"][f]}`));
    const drawn = await kept.count() + await added.count() + await dropped.count();
    assert.equal(await page.locator("#node-links tbody tr:has(td.num)").count(), drawn, "table and drawing agree");
  }));

  test("a run can be hidden in the curves", () => onPage({}, async (page) => {
    const { runs } = await data(page);
    await page.locator("#readings input").first().uncheck();
    assert.equal(await page.locator('[data-chart="loss"] .line').count(), runs.length - 1);
  }));
});

describe("without a mouse", () => {
  test("curves and histogram are read with the arrow keys", () => onPage({}, async (page) => {
    await tabTo(page, () => document.activeElement.parentElement?.dataset.chart === "valid");
    await page.keyboard.press("Home");
    const first = await page.locator("#reading-epoch").innerText();
    await page.keyboard.press("ArrowRight");
    assert.notEqual(await page.locator("#reading-epoch").innerText(), first);
    assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-valuetext")), /^epoch \d+: .*\d/);
    assert.ok(await page.locator('[data-chart="loss"] .point').count() > 0, "the other charts follow");
    if (!(await data(page)).graphs.length) return;
    await tabTo(page, () => document.activeElement.parentElement?.dataset.chart === "degrees");
    await page.keyboard.press("ArrowRight");
    assert.match(await page.locator('section.graph:not([hidden]) [data-readout^="degrees"]').innerText(), /^degree .* in the input/);
  }));

  test("the explorer finds, walks and goes back", async (t) => {
    await onPage({}, async (page) => {
      const { graphs } = await data(page);
      if (!graphs.length) return t.skip("no graph in this report");
      const { explorer } = graphs[0];
      await tabTo(page, () => document.activeElement.id === "node-search");
      const rows = explorer.totals.length;
      const linksOf = (i) => explorer.neighbours.slice(explorer.pointers[i], explorer.pointers[i + 1]);
      const wanted = explorer.totals.findIndex((_, i) => linksOf(i).some((j) => j < rows));
      await page.keyboard.type(explorer.ids[wanted]);
      assert.equal(await page.locator("#node-search").getAttribute("aria-expanded"), "true");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("Enter");
      assert.equal(await shownNode(page), explorer.ids[wanted]);
      assert.match(await page.locator("#node-status").textContent(), /kept.*new.*dropped/);

      await tabTo(page, () => document.activeElement.matches(".node.centre"));
      const steps = 1 + linksOf(wanted).findIndex((j) => j < rows);
      for (let i = 0; i < steps; i += 1) await page.keyboard.press("ArrowRight");
      const label = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
      assert.match(label, /kept|new|dropped/);
      assert.equal(await page.locator("#node-readout").innerText(), label);
      await page.keyboard.press("Enter");
      const next = await shownNode(page);
      assert.ok(label.startsWith(`${next}:`), `${label} led to ${next}`);
      assert.ok(await page.evaluate(() => document.activeElement.matches(".node.centre")), "focus is kept");

      await page.locator("#node-back").focus();
      await page.keyboard.press("Enter");
      assert.equal(await shownNode(page), explorer.ids[wanted]);
      await page.locator("#node-changed").focus();
      await page.keyboard.press("Enter");
      const change = (i) => explorer.totals[i][1] + explorer.totals[i][2];
      const most = Math.max(...explorer.totals.map((_, i) => change(i)));
      assert.equal(change(explorer.ids.indexOf(await shownNode(page))), most);
      await page.locator("#node-random").focus();
      await page.keyboard.press("Space");
      assert.equal(await focusId(page), "node-random");
      const row = page.locator("#node-links button").first();
      if (await row.count()) {
        const name = await row.innerText();
        await row.press("Enter");
        assert.equal(await shownNode(page), name);
      }
    });
  });

  test("a search without a match says so", () => onPage({}, async (page) => {
    if (!(await data(page)).graphs.length) return;
    await page.locator("#node-search").fill("no such node anywhere");
    assert.equal(await page.locator("#node-options").innerText(), "No node found");
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#node-options").isHidden());
  }));

  test("every stop of the Tab key is visible and shows its focus", () => onPage({}, async (page) => {
    const seen = new Set();
    for (let i = 0; i < 150; i += 1) {
      await page.keyboard.press("Tab");
      const stop = await page.evaluate(() => {
        const at = document.activeElement;
        if (at === document.body) return null;
        at.dataset.stop ??= String(Math.random());
        const halo = at.querySelector(".halo");
        const style = getComputedStyle(at);
        const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
        const ringed = halo && getComputedStyle(halo).stroke !== "none";
        return { key: at.dataset.stop, name: at.outerHTML.slice(0, 90), shows: outlined || ringed, box: at.getBoundingClientRect().width };
      });
      if (stop === null || seen.has(stop.key)) break;
      seen.add(stop.key);
      assert.ok(stop.shows, `no visible focus: ${stop.name}`);
      assert.ok(stop.box > 0, `invisible: ${stop.name}`);
    }
    assert.ok(seen.size > 10, `only ${seen.size} stops`);
  }));
});

describe("looks", () => {
  test("dark and light differ, and both can be read", async () => {
    const shots = {};
    for (const colorScheme of ["light", "dark"]) {
      await onPage({ colorScheme }, async (page) => {
        assert.deepEqual(await lowContrast(page), []);
        shots[colorScheme] = await lightness(browser, await page.screenshot());
      });
    }
    assert.ok(shots.light.mean > 0.8 && shots.dark.mean < 0.25, JSON.stringify(shots));
    assert.ok(shots.light.spread > 0.7 && shots.dark.spread > 0.7, JSON.stringify(shots));
  });

  for (const width of [320, PHONE.width, 600, 830, 1000, 1118, 1122, WIDE.width]) {
    const viewport = { width, height: 900 };
    test(`nothing sticks out at ${width} pixels`, () => onPage({ viewport }, async (page) => {
      await page.locator("details").evaluateAll((all) => all.forEach((d) => { d.open = true; }));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= viewport.width, `${wide} pixels wide`);
      const cut = await page.evaluate(() => [...document.querySelectorAll("main *")].filter((element) => {
        if (element.closest(".scroll, pre, svg, .hidden") || !element.checkVisibility()) return false;
        return element.getBoundingClientRect().right > innerWidth + 1;
      }).map((element) => element.outerHTML.slice(0, 90)));
      assert.deepEqual(cut, []);
    }));
  }

  test("controls are large enough for a finger", () => onPage({ viewport: PHONE, hasTouch: true }, async (page) => {
    const small = await page.locator("button:not(.plainly), select, input[type=text]").evaluateAll((all) =>
      all.filter((c) => c.checkVisibility() && c.getBoundingClientRect().height < 24).map((c) => c.outerHTML.slice(0, 80)));
    assert.deepEqual(small, []);
  }));
});

test("headline and tables stand without JavaScript", () => onPage({ javaScriptEnabled: false }, async (page) => {
  assert.ok((await page.locator("h1").innerText()).length > 10);
  assert.ok(await page.locator("table.compare tbody tr").first().isVisible());
  assert.match(await page.locator("table.compare tbody tr").first().innerText(), /\d+\.\d/);
  assert.ok(await page.locator("#again pre").first().isVisible());
  assert.equal(await page.locator("#explorer").isVisible(), false);
  assert.match(await page.locator("noscript").innerText(), /need JavaScript/);
}));
