// What any report must do, whatever it is about.

import { after, before, describe, test } from "node:test";
import assert from "node:assert/strict";
import { PHONE, WIDE, launch, lightness, lowContrast, open } from "./browser.js";

export const data = (page) => page.evaluate(() => JSON.parse(document.getElementById("data").textContent));

export async function tabTo(page, arrived, limit = 200) {
  for (let i = 0; i < limit; i += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(arrived)) return;
  }
  assert.fail(`not reached with ${limit} presses of Tab: ${arrived}`);
}

// Registers the tests that every report must pass; gives what runs a body on a fresh page of it and then
// checks that nothing went wrong behind the scenes.
export function anyReport(report) {
  let browser;
  before(async () => { browser = await launch(); });
  after(async () => { await browser?.close(); });

  async function onPage(options, body) {
    const { page, context, trouble } = await open(browser, report, options);
    try {
      await body(page);
      assert.deepEqual(trouble, [], "console errors, exceptions or network requests");
    } finally {
      await context.close();
    }
  }

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
      const small = await page.locator("button:not(.plainly), select, input[type=text], input[type=range]").evaluateAll((all) =>
        all.filter((c) => c.checkVisibility() && c.getBoundingClientRect().height < 24).map((c) => c.outerHTML.slice(0, 80)));
      assert.deepEqual(small, []);
    }));
  });

  return onPage;
}
