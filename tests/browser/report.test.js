// What a reader may expect of a report on nodes, tried in a real browser.

import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { anyReport, data, tabTo } from "./common.js";

const onPage = anyReport(process.env.REPORT);
const focusId = (page) => page.evaluate(() => document.activeElement.id);
const shownNode = (page) => page.locator("#node-facts h3").innerText();

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
    const bars = page.locator("section.graph:not([hidden]) .chart .bar");
    const shown = graphs[graphs.length - 1];
    assert.equal(await bars.count(), 2 * shown.charts.reduce((sum, chart) => sum + chart.degrees.input.length, 0));
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

  test("the page shows what was learned: sizes, scores, classes and the choice", () => onPage({}, async (page) => {
    const { graphs } = await data(page);
    const panel = page.locator("section.graph:not([hidden])");
    const titles = await panel.locator("h4").allInnerTexts();
    for (const title of ["Links present at a node", "Neighbours of the same class", "By class", "Confusion matrix"]) assert.ok(titles.includes(title), `${title} in ${titles}`);
    const { charts, explorer } = graphs.at(-1);
    assert.equal(titles.includes("Size k: what training changed"), charts.length === 2);
    assert.ok((await panel.locator(".sizes").innerText()).includes("Soft degree"));
    for (const nodes of ["Test nodes, by links", "Test nodes, by weight"]) assert.match(await panel.locator(`.homophily tr:has-text("${nodes}")`).innerText(), /\d+\.\d\s+\d+\.\d/);
    if (explorer.scores.length) {
      assert.ok(await panel.locator(".scores .bar").count() > 5);
      assert.match(await page.locator("#node-links tbody tr").first().innerText(), /p [01]/);
    }
    if (explorer.injected) {
      assert.ok(await panel.locator(".scores .bar.injected").count() > 0, "injected edges are in the histograms");
      const colours = await panel.locator(".scores .bar.injected, .scores .bar.learned").evaluateAll((all) => [...new Set(all.map((bar) => getComputedStyle(bar).fill))]);
      assert.equal(colours.length, 2, "in another colour");
    }
    if (charts.length === 2) {
      assert.ok((await panel.locator(".scatter .dots").getAttribute("d")).split("M").length > 1000);
      assert.equal(explorer.start.length, explorer.k.length);
    }
    const choice = page.locator("table.choice").last();
    assert.match(await choice.locator("tr.all").innerText(), /\d+ of \d+/);
    assert.equal(await choice.locator("tbody tr:not(.all) b").count(), await choice.locator("tbody tr:not(.all)").count(), "one graph a seed is chosen");
  }));

  test("figures and tables can be taken along", () => onPage({ acceptDownloads: true }, async (page) => {
    const take = async (label) => {
      const button = page.locator(`section.graph:not([hidden]) .downloads button:text-is("${label}")`).first();
      const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
      const parts = [];
      for await (const part of await file.createReadStream()) parts.push(part);
      return { name: file.suggestedFilename(), bytes: Buffer.concat(parts) };
    };
    const picture = await take("SVG");
    assert.match(picture.name, /\.svg$/);
    assert.match(picture.bytes.toString(), /^<svg[^]*fill:rgb/);
    const pixels = await take("PNG");
    assert.deepEqual([...pixels.bytes.subarray(1, 4)], [..."PNG"].map((c) => c.charCodeAt(0)));
    const table = await take("CSV");
    assert.ok(table.bytes.toString().trim().split("\n").length > 3);
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
    assert.match(await page.locator('section.graph:not([hidden]) [data-readout^="degrees"]').first().innerText(), /^links present .* in the given graph/);
  }));

  test("the explorer finds, walks and goes back", async (t) => {
    await onPage({}, async (page) => {
      const { graphs } = await data(page);
      if (!graphs.length) return t.skip("no graph in this report");
      const { explorer } = graphs.at(-1);
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

});

test("headline and tables stand without JavaScript", () => onPage({ javaScriptEnabled: false }, async (page) => {
  assert.ok((await page.locator("h1").innerText()).length > 10);
  assert.ok(await page.locator("table.compare tbody tr").first().isVisible());
  assert.match(await page.locator("table.compare tbody tr").first().innerText(), /\d+\.\d/);
  assert.ok(await page.locator("#again pre").first().isVisible());
  assert.equal(await page.locator("#explorer").isVisible(), false);
  assert.match(await page.locator("noscript").innerText(), /need JavaScript/);
}));
