// Opens the report under test, with the network shut off and everything it does written down.

import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";

export const WIDE = { width: 1280, height: 900 };
export const PHONE = { width: 360, height: 740 };

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--no-first-run", "--no-default-browser-check"],
  });
}

// A report in a fresh context; `trouble` collects console errors, exceptions and requests to elsewhere.
export async function open(browser, report, options = {}) {
  const address = pathToFileURL(report).href;
  const context = await browser.newContext({ viewport: WIDE, reducedMotion: "reduce", ...options });
  const trouble = [];
  await context.route("**/*", (route) => {
    const url = route.request().url();
    if (url === address) return route.continue();
    if (!url.startsWith("data:")) trouble.push(`request: ${url}`);
    return route.abort();
  });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) trouble.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => trouble.push(`exception: ${error.message}`));
  page.on("dialog", (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  await page.goto(address);
  if (options.javaScriptEnabled !== false) await page.waitForSelector('[data-chart="loss"] svg, #curves > .note');
  return { page, context, trouble };
}

// Texts on the page whose contrast with what lies behind them is below WCAG AA.
export function lowContrast(page) {
  return page.evaluate(() => {
    const parse = (text) => {
      const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
      return { rgb: [r, g, b], a };
    };
    const luminance = ({ rgb }) => {
      const [r, g, b] = rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const colour = parse(getComputedStyle(at).backgroundColor);
        if (colour.a === 1) return colour;
      }
      return parse("rgb(255,255,255)");
    };
    const bad = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      const element = text.parentElement;
      if (!text.textContent.trim() || element.closest("script, style, noscript, :disabled, .hidden")) continue;
      if (!element.checkVisibility()) continue;
      const style = getComputedStyle(element);
      const inSvg = element instanceof SVGElement;
      const disc = element.matches(".letter") && element.parentElement.querySelector(".disc");
      const front = parse(inSvg ? style.fill : style.color);
      const back = disc ? parse(getComputedStyle(disc).fill) : behind(inSvg ? element.closest("svg").parentElement : element);
      const [light, dark] = [luminance(front), luminance(back)].sort((a, b) => b - a);
      const ratio = (light + 0.05) / (dark + 0.05);
      const large = parseFloat(style.fontSize) >= 24;
      if (ratio < (large ? 3 : 4.5)) bad.push(`${ratio.toFixed(2)} ${text.textContent.trim().slice(0, 40)}`);
    }
    return bad;
  });
}

// Mean and spread of the lightness of a screenshot, 0 black to 1 white.
export async function lightness(browser, png) {
  const page = await browser.newPage();
  const found = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    let [sum, low, high] = [0, 1, 0];
    for (let i = 0; i < data.length; i += 4) {
      const v = (0.2126 * data[i] + 0.7152 * data[i + 1] + 0.0722 * data[i + 2]) / 255;
      sum += v;
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
    return { mean: sum / (data.length / 4), spread: high - low };
  }, png.toString("base64"));
  await page.close();
  return found;
}
