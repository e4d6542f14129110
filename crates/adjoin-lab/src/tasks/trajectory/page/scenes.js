// Test scenes that move: tracks, predictions and the graph of the frame on show.

const SHAPES = [
  ["track", "observed"],
  ["truth", "what happened"],
  ["sample", "sampled predictions"],
  ["likely", "most likely prediction"],
  ["link", "link, stronger: clearer"],
];

// Reading the arrays of a scene.
function sceneView(scene) {
  const agents = scene.agents.length;
  const steps = scene.places.length / agents;
  const predicted = steps - scene.observed;
  const path = (list, at, length) => list.slice(at * length, (at + 1) * length);
  const strongest = (links) => links.reduce((most, link) => Math.max(most, link[3]), 1e-9);
  const named = (links) => links.map(([frame, agent, other, share]) => ({ frame, agent, other, share }));
  return {
    ...scene, learned: named(scene.learned), published: named(scene.published), count: agents, steps, predicted,
    samples_each: scene.samples.length / (agents * predicted),
    track: (agent) => path(scene.places, agent, steps),
    likelyOf: (agent) => path(scene.likely, agent, predicted),
    sampleOf: (sample, agent) => path(scene.samples, sample * agents + agent, predicted),
    strongest: { learned: strongest(scene.learned), published: strongest(scene.published) },
  };
}

// Metres to pixels, the same along both axes, around everything that happens; samples may leave.
function framing(scene, width, height) {
  const all = scene.places.concat(scene.likely);
  const [[x0, x1], [y0, y1]] = [0, 1].map((axis) => extent(all.map((place) => place[axis])));
  const room = 26;
  const zoom = Math.min((width - 2 * room) / Math.max(x1 - x0, 1), (height - 2 * room) / Math.max(y1 - y0, 1));
  const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
  const at = ([x, y]) => [width / 2 + (x - cx) * zoom, height / 2 - (y - cy) * zoom];
  return { at, zoom, line: (places) => places.map((place) => at(place).map((v) => v.toFixed(1)).join(",")).join(" ") };
}

function scaleBar(frame, width, height) {
  const metres = [20, 10, 5, 2, 1, 0.5, 0.2].find((m) => m * frame.zoom <= width / 3) ?? 0.1;
  const [x, y] = [14, height - 12];
  return svg("g", { "aria-hidden": "true" },
    svg("line", { class: "ruler", x1: x, x2: x + metres * frame.zoom, y1: y, y2: y }),
    svg("text", { class: "tick", x, y: y - 6 }, `${metres} m`));
}

// One drawing of a scene; `update` shows a step of it.
function drawing(place, scene, { kind, forecast, label }) {
  let update = () => {};
  const draw = (width) => {
    const height = Math.round(clamp(width * 0.75, 240, 420));
    const frame = framing(scene, width, height);
    const agents = Array.from({ length: scene.count }, (_, agent) => {
      const line = (shape) => svg("polyline", { class: shape });
      const samples = forecast ? Array.from({ length: scene.samples_each }, () => line("sample")) : [];
      const parts = { samples, track: line("track"), truth: line("truth"), likely: line("likely"), dot: svg("circle", { class: "here", r: 5 }) };
      const group = svg("g", { class: `run-${agent % 6}` }, samples, parts.track, parts.truth, parts.likely, parts.dot);
      return { ...parts, group };
    });
    const links = svg("g", { class: "links" });
    const clip = `scene-clip-${kind}`;
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": label },
      svg("defs", {}, svg("clipPath", { id: clip }, svg("rect", { width, height }))),
      svg("g", { "clip-path": `url(#${clip})` }, links, agents.map((agent) => agent.group)), scaleBar(frame, width, height));
    update = (step) => {
      const seen = Math.min(step, scene.observed - 1);
      const shown = scene[kind].filter((link) => link.frame === seen);
      links.replaceChildren(...shown.map((link) => {
        const [[x1, y1], [x2, y2]] = [link.agent, link.other].map((agent) => frame.at(scene.track(agent)[seen]));
        const opacity = clamp(link.share / scene.strongest[kind], 0.04, 1);
        return svg("line", { class: "link", x1, y1, x2, y2, "stroke-opacity": opacity.toFixed(3) });
      }));
      const future = Math.max(0, step - scene.observed + 1);
      agents.forEach((parts, agent) => {
        const track = scene.track(agent);
        const last = track[scene.observed - 1];
        const ahead = (path) => (future ? frame.line([last, ...path.slice(0, future)]) : "");
        parts.track.setAttribute("points", frame.line(track.slice(0, seen + 1)));
        parts.truth.setAttribute("points", ahead(track.slice(scene.observed)));
        if (forecast) {
          parts.likely.setAttribute("points", ahead(scene.likelyOf(agent)));
          parts.samples.forEach((line, sample) => line.setAttribute("points", ahead(scene.sampleOf(sample, agent))));
        }
        const [x, y] = frame.at(track[step]);
        parts.dot.setAttribute("cx", x.toFixed(1));
        parts.dot.setAttribute("cy", y.toFixed(1));
      });
      return shown;
    };
    place.replaceChildren(root);
  };
  return { draw, update: (step) => update(step) };
}

function distance(a, b) {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

// Average and final displacement of a predicted path.
function displacement(path, truth) {
  const all = path.map((place, i) => distance(place, truth[i]));
  return { ade: all.reduce((sum, d) => sum + d, 0) / all.length, fde: all[all.length - 1] };
}

function agentTable(scene) {
  const metres = (value) => value.toFixed(2);
  const rows = scene.agents.map((name, agent) => {
    const truth = scene.track(agent).slice(scene.observed);
    const likely = displacement(scene.likelyOf(agent), truth);
    const each = Array.from({ length: scene.samples_each }, (_, sample) => displacement(scene.sampleOf(sample, agent), truth));
    const least = (key) => Math.min(...each.map((error) => error[key]));
    const heard = (kind) => scene[kind].filter((link) => link.agent === agent).length / scene.observed;
    const cells = [metres(least("ade")), metres(least("fde")), metres(likely.ade), metres(likely.fde), heard("learned").toFixed(1), heard("published").toFixed(1)];
    return html("tr", {}, html("th", { scope: "row", class: "num" }, String(name)), cells.map((cell) => html("td", { class: "r num" }, cell)));
  });
  const titles = ["Best sample, ADE m", "FDE m", "Most likely, ADE m", "FDE m", "Links in use", "Links published"];
  byId("scene-agents").replaceChildren(
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "Agent"), titles.map((title) => html("th", { scope: "col", class: "r" }, title)))),
    html("tbody", {}, rows));
}

function sceneLegend() {
  byId("scene-legend").append(...SHAPES.map(([shape, words]) => html("li", {},
    svg("svg", { width: 38, height: 12, "aria-hidden": "true", class: "run-1" },
      svg("polyline", { class: `${shape} ${shape === "sample" ? "alone" : ""}`, points: "2,6 36,6" })), words)));
}

function scenes() {
  const runs = DATA.scenes.map((list, run) => ({ list: list.map(sceneView), name: DATA.runs[run].name })).filter((run) => run.list.length);
  if (!runs.length) return;
  const [play, time, pick, choice] = ["scene-play", "scene-time", "scene-pick", "scene-run"].map(byId);
  // Baselines come first in a comparison; what was learned is the news.
  const state = { run: runs.length - 1, scene: 0, step: 0, timer: null, drawings: [] };
  const current = () => runs[state.run].list[Math.min(state.scene, runs[state.run].list.length - 1)];

  const show = (step) => {
    const scene = current();
    state.step = clamp(step, 0, scene.steps - 1);
    const shown = state.drawings.map((drawing) => drawing.update(state.step) ?? []);
    const part = state.step < scene.observed ? "observed" : "predicted";
    const words = `step ${state.step + 1} of ${scene.steps}, ${part}`;
    const [used, published] = shown.map((links) => links.length);
    time.value = String(state.step);
    time.setAttribute("aria-valuetext", words);
    byId("scene-readout").textContent = `${scene.name}: ${words}; ${plural(used, "link")} in use, ${published} published`;
  };
  const stop = () => {
    clearInterval(state.timer);
    state.timer = null;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
  };
  const start = () => {
    if (state.step >= current().steps - 1) show(0);
    play.textContent = "Pause";
    play.setAttribute("aria-pressed", "true");
    // Twice as fast as life.
    state.timer = setInterval(() => {
      show(state.step + 1);
      if (state.step >= current().steps - 1) stop();
    }, clamp(500 * DATA.seconds, 60, 500));
  };
  const open = () => {
    stop();
    const scene = current();
    time.max = String(scene.steps - 1);
    const about = `${scene.name}, ${plural(scene.count, "agent")}`;
    state.drawings = [
      drawing(byId("scene-predicted"), scene, { kind: "learned", forecast: true, label: `${about}: tracks, predictions and the graph in use` }),
      drawing(byId("scene-published"), scene, { kind: "published", forecast: false, label: `${about}: tracks and the published graph` }),
    ];
    if (state.width) redraw(state.width);
    agentTable(scene);
    show(scene.steps - 1);
  };
  const redraw = (width) => {
    state.width = width;
    state.drawings.forEach((drawing) => drawing.draw(width));
    show(state.step);
  };
  const fillPick = () => {
    pick.replaceChildren(...runs[state.run].list.map((scene, at) =>
      html("option", { value: at }, `${scene.name} (${plural(scene.count, "agent")})`)));
    pick.value = String(Math.min(state.scene, runs[state.run].list.length - 1));
  };

  play.addEventListener("click", () => (state.timer === null ? start() : stop()));
  time.addEventListener("input", () => { stop(); show(Number(time.value)); });
  pick.addEventListener("change", () => { state.scene = Number(pick.value); open(); });
  if (runs.length > 1) {
    choice.append(...runs.map((run, at) => html("option", { value: at }, run.name)));
    choice.value = String(state.run);
    choice.addEventListener("change", () => { state.run = Number(choice.value); fillPick(); open(); });
    byId("scene-run-choice").hidden = false;
  }
  sceneLegend();
  fillPick();
  open();
  drawOnResize(byId("scene-predicted"), redraw);
}

DATA.graphs.forEach((graph, at) => {
  const place = document.querySelector(`[data-chart="degrees"][data-graph="${at}"]`);
  degreeChart(place, graph, document.querySelector(`[data-readout="degrees-${at}"]`));
});
scenes();
