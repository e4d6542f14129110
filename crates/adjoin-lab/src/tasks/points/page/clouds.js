// Test shapes that can be turned, their points coloured by how many neighbours they have.

const START = { yaw: 0.6, pitch: 0.35 };
const TURN = Math.PI / 24;
const KEYS = { ArrowLeft: [-TURN, 0], ArrowRight: [TURN, 0], ArrowUp: [0, -TURN], ArrowDown: [0, TURN] };

const meanOf = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
const deviationOf = (values) => Math.sqrt(meanOf(values.map((value) => (value - meanOf(values)) ** 2)));

// The ends of the colours: all but the outermost points of all shapes lie between. They are the same where
// differences are too small to mean anything.
function cloudRange(clouds, layer) {
  const sorted = Float64Array.from(clouds.flatMap((cloud) => cloud.degrees[layer])).sort();
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return at(0.98) - at(0.02) < 0.1 ? [at(0.5), at(0.5)] : [at(0.02), at(0.98)];
}

// The colours of the style sheet, with steps between, from few to many.
function ramp(steps) {
  const style = getComputedStyle(document.documentElement);
  const stops = [0, 1, 2, 3, 4, 5].map((stop) => {
    const hex = style.getPropertyValue(`--k${stop}`).trim();
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  });
  return Array.from({ length: steps }, (_, step) => {
    const place = (step / (steps - 1)) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    const share = place - below;
    return `rgb(${stops[below].map((value, i) => Math.round(value + share * (stops[below + 1][i] - value))).join(" ")})`;
  });
}

// Points after turning around the upright axis and then towards the reader; z is depth.
function turned(points, { yaw, pitch }) {
  const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
  return points.map(([x, y, z]) => {
    const [across, away] = [cy * x + sy * z, cy * z - sy * x];
    return [across, cp * y - sp * away, sp * y + cp * away];
  });
}

function drawCloud(canvas, cloud, layer, [low, high], view) {
  const size = canvas.clientWidth;
  const dense = Math.min(devicePixelRatio || 1, 3);
  canvas.width = canvas.height = Math.round(size * dense);
  const pen = canvas.getContext("2d");
  pen.scale(dense, dense);
  pen.clearRect(0, 0, size, size);
  const reach = cloud.points.reduce((most, point) => Math.max(most, Math.hypot(...point)), 1e-6);
  const zoom = (0.94 * size) / 2 / reach;
  const colours = ramp(64);
  const colour = (degree) => colours[high > low ? Math.round(clamp((degree - low) / (high - low), 0, 1) * 63) : 32];
  const radius = clamp(size / Math.sqrt(cloud.points.length) / 4.5, 2, 6);
  const places = turned(cloud.points, view).map((place, at) => ({ place, degree: cloud.degrees[layer][at] }));
  places.sort((a, b) => a.place[2] - b.place[2]);
  for (const { place: [x, y, z], degree } of places) {
    pen.beginPath();
    pen.arc(size / 2 + x * zoom, size / 2 - y * zoom, radius * (0.8 + 0.25 * (z / reach)), 0, 2 * Math.PI);
    pen.fillStyle = colour(degree);
    pen.fill();
  }
}

// Turns the view by pointer and keys.
function turnable(canvas, view, redraw) {
  let from = null;
  const turn = (across, down) => {
    view.yaw = (view.yaw + across) % (2 * Math.PI);
    view.pitch = clamp(view.pitch + down, -Math.PI / 2, Math.PI / 2);
    redraw();
  };
  canvas.addEventListener("pointerdown", (event) => {
    from = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (from === null) return;
    const [x, y] = from;
    from = [event.clientX, event.clientY];
    const half = Math.PI / Math.max(canvas.clientWidth, 1);
    turn((from[0] - x) * half, (from[1] - y) * half);
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { from = null; });
  canvas.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Home") Object.assign(view, START);
    else if (!KEYS[event.key]) return;
    event.preventDefault();
    turn(...(KEYS[event.key] ?? [0, 0]));
  });
}

function cloudTable(clouds) {
  const layers = clouds[0].degrees.map((_, layer) => `Layer ${layer + 1}`);
  const row = (cloud) => html("tr", {}, html("th", { scope: "row" }, cloud.name), html("td", {}, cloud.class),
    html("td", {}, cloud.predicted), html("td", { class: "r num" }, `${Math.round(100 * cloud.probability)} %`),
    cloud.degrees.map((layer) => html("td", { class: "r num" }, brief(meanOf(layer)))));
  byId("cloud-table").replaceChildren(
    html("thead", {}, html("tr", {}, ["Shape", "Class", "Predicted"].map((title) => html("th", { scope: "col" }, title)),
      ["Probability", ...layers].map((title) => html("th", { scope: "col", class: "r" }, title)))),
    html("tbody", {}, clouds.map(row)));
}

function clouds() {
  const runs = DATA.clouds.map((list, run) => ({ list, name: DATA.runs[run].name, layers: DATA.layers[run] })).filter((run) => run.list.length);
  if (!runs.length) return;
  const [canvas, choice, pick, layer] = ["cloud", "cloud-run", "cloud-pick", "cloud-layer"].map(byId);
  const view = { ...START };
  // Baselines come first in a comparison; what was learned is the news.
  let run = runs.length - 1;
  const shown = () => ({ clouds: runs[run].list, cloud: runs[run].list[Number(pick.value)], at: Number(layer.value) });

  const redraw = () => {
    const { clouds: list, cloud, at } = shown();
    drawCloud(canvas, cloud, at, cloudRange(list, at), view);
  };
  const describe = () => {
    const { clouds: list, cloud, at } = shown();
    const [low, high] = cloudRange(list, at);
    const degrees = cloud.degrees[at];
    const right = cloud.class === cloud.predicted;
    byId("cloud-title").textContent = `${cloud.class}, ${right ? "recognised" : `taken for ${cloud.predicted}`}`;
    const guess = `predicted ${cloud.predicted} with ${Math.round(100 * cloud.probability)} %, ${right ? "right" : "wrong"}`;
    const words = `${cloud.class}, ${guess}; layer ${at + 1}: ${brief(meanOf(degrees))} ± ${brief(deviationOf(degrees))} neighbours`;
    byId("cloud-readout").textContent = words;
    canvas.setAttribute("aria-label", `${cloud.name}, ${plural(cloud.points.length, "point")}: ${words}`);
    byId("cloud-legend").classList.toggle("even", high <= low);
    byId("cloud-low").textContent = high > low ? `${brief(low)} or fewer` : `every point ${brief(low)}`;
    byId("cloud-high").textContent = high > low ? `${brief(high)} or more` : "";
  };
  const bars = () => {
    const graph = runs[run].layers[Number(layer.value)];
    const [place, readout] = [html("div", { class: "chart" }), html("p", { class: "readout" })];
    byId("cloud-bars-title").textContent = `Neighbours in layer ${Number(layer.value) + 1}, all test shapes`;
    byId("cloud-bars").replaceChildren(place, readout);
    degreeChart(place, graph, readout);
  };
  const open = () => { describe(); redraw(); };
  const fill = (select, words) => {
    const before = Number(select.value);
    select.replaceChildren(...words.map((word, at) => html("option", { value: at }, word)));
    select.value = String(clamp(before, 0, words.length - 1));
  };
  const openRun = () => {
    const { list } = runs[run];
    fill(pick, list.map((cloud) => (cloud.class === cloud.predicted ? cloud.class : `${cloud.class}, mistaken`)));
    fill(layer, list[0].degrees.map((_, at, all) => `${at + 1} of ${all.length}`));
    cloudTable(list);
    bars();
    open();
  };

  pick.addEventListener("change", open);
  layer.addEventListener("change", () => { bars(); open(); });
  if (runs.length > 1) {
    fill(choice, runs.map(({ name }) => name));
    choice.value = String(run);
    choice.addEventListener("change", () => { run = Number(choice.value); openRun(); });
    byId("cloud-run-choice").hidden = false;
  }
  turnable(canvas, view, redraw);
  openRun();
  drawOnResize(byId("cloud-stage"), redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}
clouds();
