// The neighbourhood explorer: one node, its links before and after, drawn and as a table.

const FATES = ["kept", "new", "dropped"];
const PARTS = ["in no part of the split", "a training node", "a validation node", "a test node"];
// Okabe and Ito's colours, told apart by people with any kind of colour vision; the letter says the same.
const FILLS = ["#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#B8BDC4"];
const fillOf = (c) => (c < 0 ? "#FFFFFF" : FILLS[c % FILLS.length]);
const inkOf = (c) => (c >= 0 && c % FILLS.length === 4 ? "#FFFFFF" : "#14161A");

// A, B, ... Z, AA, AB, ...
function letter(c) {
  if (c < 0) return "?";
  const last = String.fromCharCode(65 + (c % 26));
  return c < 26 ? last : letter(Math.floor(c / 26) - 1) + last;
}

// Reading the embedded arrays.
function view(data) {
  const rows = data.totals.length;
  const className = (c) => (c < 0 ? "class unknown" : data.classes[c]);
  const links = (i) => {
    const out = [];
    for (let e = data.pointers[i]; e < data.pointers[i + 1]; e += 1) {
      out.push({ to: data.neighbours[e], weight: data.weights[e], score: data.scores[e] ?? null, fate: Number(data.fates[e]), injected: data.injected[e] === "1" });
    }
    return out;
  };
  const changed = Array.from({ length: rows }, (_, i) => i)
    .sort((a, b) => data.totals[b][1] + data.totals[b][2] - data.totals[a][1] - data.totals[a][2]);
  return { ...data, rows, className, links, changed, nameOf: (i) => className(data.labels[i]) };
}

function explorer() {
  const map = byId("node-map");
  const state = { data: null, node: 0, past: [], rank: -1, width: 0 };

  const render = (focusCentre) => {
    const links = state.data.links(state.node);
    facts(state.data, state.node, links);
    classLegend(state.data, [state.node, ...links.map((l) => l.to)]);
    if (state.width) {
      map.replaceChildren(neighbourhood(state.data, state.node, links, state.width, visit));
      if (focusCentre) map.querySelector(".centre").focus();
    }
    linkTable(state.data, links, visit);
    byId("node-readout").textContent = "Point at a node, or use the arrow keys, to see its name and weight.";
    byId("node-back").disabled = state.past.length === 0;
  };
  const visit = (node, { focus = false, remember = true } = {}) => {
    if (node >= state.data.rows) return;
    if (remember && node !== state.node) state.past.push(state.node);
    state.node = node;
    render(focus);
    byId("node-status").textContent = sentence(state.data, node);
  };
  const changeData = (data) => {
    state.data = view(data);
    state.past = [];
    state.rank = -1;
    state.node = firstNode(state.data);
    if (state.data.rows) render(false);
  };

  linkLegend();
  byId("node-random").addEventListener("click", () => visit(Math.floor(Math.random() * state.data.rows)));
  byId("node-changed").addEventListener("click", () => {
    state.rank = (state.rank + 1) % state.data.rows;
    visit(state.data.changed[state.rank]);
  });
  byId("node-back").addEventListener("click", () => {
    if (state.past.length) visit(state.past.pop(), { remember: false });
    if (!state.past.length) byId("node-random").focus();
  });
  search(() => state.data, visit);
  drawOnResize(map, (width) => {
    state.width = width;
    if (state.data?.rows) render(map.contains(document.activeElement));
  });
  return changeData;
}

// A node to begin with: few enough links to read, and of every kind where there is such a node.
function firstNode(data) {
  const few = data.changed.filter((i) => data.pointers[i + 1] - data.pointers[i] <= 12);
  return few.find((i) => data.totals[i].every((n) => n >= 2)) ?? few.find((i) => data.totals[i].every((n) => n > 0)) ?? few[0] ?? data.changed.at(-1) ?? 0;
}

function sentence(data, node) {
  const [kept, added, dropped] = data.totals[node];
  return `Node ${data.ids[node]}, ${data.nameOf(node)}: ${plural(kept, "link")} kept, ${added} new, ${dropped} dropped.`;
}

function facts(data, node, links) {
  const [kept, added, dropped] = data.totals[node];
  const [label, guess] = [data.labels[node], data.predicted[node]];
  const verdict = label < 0 ? "" : label === guess ? ", which is right" : ", which is wrong";
  const same = (list) => list.filter((l) => data.labels[l.to] === label).length;
  const before = links.filter((l) => l.fate !== 1);
  const after = links.filter((l) => l.fate !== 2);
  const start = data.start.length ? `, from ${brief(data.start[node])} before the first step` : "";
  const k = data.k.length ? ` Its size k is ${brief(data.k[node])}${start}.` : "";
  const cut = links.length < kept + added + dropped;
  const shown = cut ? ` Only ${links.length} of ${kept + added + dropped} links are shown, the strongest first.` : "";
  const share = label < 0 ? "" : ` Of ${cut ? "the neighbours shown" : "its neighbours"}, ${same(before)} of ${before.length} had its class before, ${same(after)} of ${after.length} have it now.`;
  byId("node-facts").replaceChildren(
    html("h3", {}, data.ids[node]),
    html("p", {}, `${data.nameOf(node)}, ${PARTS[data.part[node]] ?? PARTS[0]}. The network says ${data.className(guess)}${verdict}.`),
    html("p", {}, `${plural(kept, "link")} kept, ${added} new, ${dropped} dropped.${k}${share}${shown}`));
}

// Positions on one ring, or on up to three when there are many neighbours.
function ring(n, width, height, radius) {
  const rings = n > 36 ? 3 : n > 18 ? 2 : 1;
  const [cx, cy] = [width / 2, height / 2];
  const names = rings === 1 && width >= 420;
  const rx = cx - radius - (names ? 84 : 8);
  const ry = cy - radius - (names ? 24 : 8);
  return Array.from({ length: n }, (_, i) => {
    const angle = (i / n) * 2 * Math.PI - Math.PI / 2;
    const near = 1 - (i % rings) * 0.25;
    return { x: cx + rx * near * Math.cos(angle), y: cy + ry * near * Math.sin(angle), angle, names };
  });
}

function neighbourhood(data, node, links, width, visit) {
  const height = Math.round(clamp(width * 0.72, 320, 470));
  const radius = links.length > 18 ? 11 : 14;
  const places = ring(links.length, width, height, radius);
  const strongest = Math.max(...links.map((l) => l.weight), 1e-12);
  const [cx, cy] = [width / 2, height / 2];
  const thickness = (l) => (l.fate === 2 ? 2 : 1.25 + (links.length > 18 ? 3 : 5.5) * (l.weight / strongest));
  const edges = links.map((l, i) => svg("line", {
    class: `edge ${FATES[l.fate]}${l.injected ? " injected" : ""}`, x1: cx, y1: cy, x2: places[i].x, y2: places[i].y, "stroke-width": thickness(l).toFixed(2),
  }));
  const centre = svg("g", { class: "node centre", tabindex: "0", role: "img", "aria-label": sentence(data, node) },
    disc(data, node, cx, cy, 20));
  const nodes = links.map((l, i) => neighbour(data, l, places[i], radius, visit));
  const root = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, height, role: "group",
    "aria-label": `Neighbourhood of ${data.ids[node]}. Arrow keys go from neighbour to neighbour, Enter moves there.`,
  }, svg("g", { "aria-hidden": "true" }, edges), nodes, centre);
  rove(root, [centre, ...nodes]);
  return root;
}

function disc(data, node, x, y, radius) {
  const c = data.labels[node];
  return [
    svg("circle", { class: "halo", cx: x, cy: y, r: radius + 4 }),
    svg("circle", { class: c < 0 ? "disc unknown" : "disc", cx: x, cy: y, r: radius, style: `fill:${fillOf(c)}` }),
    svg("text", { class: "letter", x, y, style: `fill:${inkOf(c)};font-size:${Math.round(radius * 0.95)}px`, "aria-hidden": "true" }, letter(c)),
  ];
}

const weightText = (w) => (w >= 0.001 ? w.toFixed(3) : w.toExponential(1));

const fateWords = (link) => `${link.injected ? "injected, " : ""}${FATES[link.fate]}`;

function linkWords(data, link) {
  const weight = link.fate === 2 ? "" : `, weight ${weightText(link.weight)}`;
  const score = link.score === null ? "" : `, score ${brief(link.score)}`;
  return `${data.ids[link.to]}: ${data.nameOf(link.to)}, ${fateWords(link)}${weight}${score}`;
}

function neighbour(data, link, place, radius, visit) {
  const open = link.to < data.rows;
  const words = linkWords(data, link) + (open ? "" : ", not among the nodes this page carries");
  const show = () => { byId("node-readout").textContent = words; };
  const go = (focus) => open && visit(link.to, { focus });
  const out = svg("g", {
    class: open ? "node" : "node fixed", tabindex: "-1", role: "button", "aria-label": words, "aria-disabled": open ? null : "true",
    onclick: () => go(false), onpointerenter: show, onfocus: show,
    onkeydown: (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      go(true);
    },
  }, disc(data, link.to, place.x, place.y, radius));
  if (place.names) {
    const name = data.ids[link.to];
    const side = Math.cos(place.angle);
    const anchor = side > 0.3 ? "start" : side < -0.3 ? "end" : "middle";
    const shift = anchor === "middle" ? 0 : Math.sign(side) * (radius + 7);
    const drop = anchor === "middle" ? Math.sign(Math.sin(place.angle)) * (radius + 13) : 0;
    out.append(svg("text", { class: "name", x: place.x + shift, y: place.y + drop + 4, "text-anchor": anchor, "aria-hidden": "true" },
      name.length > 11 ? `${name.slice(0, 10)}…` : name));
  }
  return out;
}

// One tab stop for the whole drawing; arrow keys move between its nodes.
function rove(root, items) {
  root.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const at = items.indexOf(document.activeElement);
    if (at < 0) return;
    let to = null;
    if (event.key in steps) to = (at + steps[event.key] + items.length) % items.length;
    if (event.key === "Home") to = 0;
    if (event.key === "End") to = items.length - 1;
    if (to === null) return;
    event.preventDefault();
    items[at].setAttribute("tabindex", "-1");
    items[to].setAttribute("tabindex", "0");
    items[to].focus();
  });
}

const swatch = (c) => html("span", { class: c < 0 ? "swatch unknown" : "swatch", style: `background:${fillOf(c)};color:${inkOf(c)}`, "aria-hidden": "true" }, letter(c));

function linkTable(data, links, visit) {
  const scored = data.scores.length > 0;
  const row = (l) => {
    const name = data.ids[l.to];
    const who = l.to < data.rows
      ? html("button", { type: "button", class: "plainly", "aria-label": `Go to ${name}`, onclick: () => { visit(l.to); byId("node-links").parentElement.focus(); } }, name)
      : html("span", {}, name);
    return html("tr", {},
      html("th", { scope: "row" }, html("span", { class: "who" }, swatch(data.labels[l.to]), html("span", {}, who, html("small", { style: "display:block" }, data.nameOf(l.to))))),
      html("td", { class: `fate ${FATES[l.fate]}${l.injected ? " injected" : ""}` }, fateWords(l)),
      html("td", { class: "r num" }, l.fate === 2 ? "–" : weightText(l.weight),
        scored ? html("small", { style: "display:block" }, `p ${brief(l.score)}`) : null));
  };
  byId("node-links").replaceChildren(
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "Neighbour"), html("th", { scope: "col" }, "Link"), html("th", { scope: "col", class: "r" }, scored ? "Weight, score p" : "Weight"))),
    html("tbody", {}, links.length ? links.map(row) : html("tr", {}, html("td", { colspan: "3" }, "This node has no links."))));
}

function linkLegend() {
  const line = (style, meaning) => html("li", {},
    svg("svg", { width: 44, height: 12, "aria-hidden": "true" }, svg("line", { class: `edge ${style}`, x1: 2, x2: 42, y1: 6, y2: 6, "stroke-width": 2.5 })), meaning);
  const marked = DATA.graphs.some((graph) => graph.explorer?.injected);
  byId("link-legend").append(line("kept", "kept from the input"), line("new", "new"), line("dropped", "dropped from the input"),
    ...(marked ? [line("kept injected", "this colour: injected into the input")] : []),
    html("li", {}, "thicker: more weight"));
}

// All classes when they are few, else those on show.
function classLegend(data, nodes) {
  const seen = new Set(nodes.map((i) => data.labels[i]));
  const wanted = data.classes.map((_, c) => c).filter((c) => data.classes.length <= 10 || seen.has(c));
  if (seen.has(-1)) wanted.push(-1);
  byId("class-legend").replaceChildren(...wanted.map((c) => html("li", {}, swatch(c), html("span", {}, data.className(c)))));
}
