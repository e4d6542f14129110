// Helpers that every chart shares. All text from the data goes in as text nodes, never as markup.

const DATA = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
document.documentElement.classList.add("js");

function build(make, tag, attributes, children) {
  const node = make(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

const html = (tag, attributes, ...children) => build((t) => document.createElement(t), tag, attributes, children);
const svg = (tag, attributes, ...children) =>
  build((t) => document.createElementNS("http://www.w3.org/2000/svg", t), tag, attributes, children);

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const plural = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

// Three significant digits, without an exponent where a person would not write one.
function brief(value) {
  if (!isNumber(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
}

// Writes the numbers of an axis with the digits that tell them apart.
function axisFormat(values) {
  const step = Math.abs(values[1] - values[0]) || 1;
  const digits = clamp(Math.ceil(-Math.log10(step) - 1e-9), 0, 8);
  const plain = step >= 1e-4 && Math.max(...values.map(Math.abs)) < 1e5;
  return plain ? (value) => String(Number(value.toFixed(digits))) : brief;
}

function scale(from, to, left, right) {
  const span = to - from || 1;
  const at = (value) => left + ((value - from) / span) * (right - left);
  at.invert = (position) => from + ((position - left) / (right - left || 1)) * span;
  return at;
}

// Round numbers that cover low..high with about `count` steps.
function ticks(low, high, count) {
  const rough = (high - low || Math.abs(high) || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!isNumber(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : [0, 1];
}

// Draws now and again whenever the width of the place changes.
function drawOnResize(place, draw) {
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.round(place.clientWidth);
    if (width > 0 && width !== last) draw((last = width));
  }).observe(place);
}

// Makes a chart a slider over positions 0..count-1: by pointer, arrow keys, Page Up/Down, Home and End.
function scrub(root, { label, count, start = 0, position, current, describe, onMove }) {
  const show = () => {
    root.setAttribute("aria-valuenow", String(current() ?? start));
    root.setAttribute("aria-valuetext", describe(current() ?? start));
  };
  const move = (index) => {
    onMove(clamp(index, 0, count - 1));
    show();
  };
  const jumps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
  const far = Math.max(1, Math.round(count / 10));
  Object.assign(jumps, { PageUp: far, PageDown: -far, Home: -count, End: count });
  for (const [name, value] of Object.entries({
    role: "slider", tabindex: "0", "aria-label": label, "aria-valuemin": "0", "aria-valuemax": String(count - 1),
  })) root.setAttribute(name, value);
  show();
  root.addEventListener("keydown", (event) => {
    const jump = jumps[event.key];
    if (jump === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    move((current() ?? start) + jump);
  });
  root.addEventListener("focus", () => move(current() ?? start));
  for (const kind of ["pointermove", "pointerdown"]) {
    root.addEventListener(kind, (event) => {
      move(Math.round(position(event.clientX - root.getBoundingClientRect().left)));
    });
  }
}

// Horizontal grid lines with their numbers, and the numbers below.
function axes({ x, y, xTicks, yTicks, xFormat, yFormat, left, right, bottom }) {
  return svg("g", { "aria-hidden": "true" },
    yTicks.map((t) => [
      svg("line", { class: "grid", x1: left, x2: right, y1: y(t), y2: y(t) }),
      svg("text", { class: "tick", x: left - 8, y: y(t) + 4, "text-anchor": "end" }, yFormat(t)),
    ]),
    svg("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }),
    xTicks.map((t) => svg("text", { class: "tick", x: x(t), y: bottom + 18, "text-anchor": "middle" }, xFormat(t))));
}

// Buttons that copy a command or a configuration.
function copyButtons() {
  for (const block of document.querySelectorAll(".code")) {
    const pre = block.querySelector("pre");
    const button = html("button", { type: "button", "aria-label": `Copy: ${pre.getAttribute("aria-label")}` }, "Copy");
    button.addEventListener("click", async () => {
      let said = "Copied";
      try {
        await navigator.clipboard.writeText(pre.textContent);
      } catch {
        getSelection().selectAllChildren(pre);
        said = "Selected";
      }
      button.textContent = said;
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    block.append(button);
  }
}
copyButtons();
