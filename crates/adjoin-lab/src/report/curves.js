// Learning curves of all runs: linked charts, and one table that is legend and read-out in one.

const MEASURE = DATA.measure;
const UNITS = { "%": "percent", m: "metres" };
const measured = (value) => (isNumber(value) ? (MEASURE.factor * value).toFixed(MEASURE.digits) : "–");
const DASHES = [null, "7 4", "2 4", "10 4 2 4"];
const look = (index) => ({ class: `run-${index % 6}`, dash: DASHES[index % DASHES.length] });

function curves() {
  const runs = DATA.runs.map((run, index) => ({ ...run, index, shown: true }));
  const epochs = [...new Set(runs.flatMap((run) => run.curve.epoch))].sort((a, b) => a - b);
  if (epochs.length < 2) {
    byId("curves").replaceChildren(html("p", { class: "note" }, "These runs recorded no learning curves."));
    return;
  }
  const hasDegree = runs.some((run) => run.curve.degree.some(isNumber));
  document.querySelector('[data-optional="degree"]').hidden = !hasDegree;
  const state = { at: null, charts: [] };

  // The record of a run at an epoch: exact, else the last one before it, else none (it had stopped).
  const reading = (run, epoch) => {
    const list = run.curve.epoch;
    if (!list.length || epoch > list[list.length - 1] || epoch < list[0]) return null;
    let i = list.indexOf(epoch);
    if (i < 0) i = list.findIndex((e) => e > epoch) - 1;
    return i;
  };
  const value = (run, key, epoch) => {
    const i = reading(run, epoch);
    return i === null ? null : run.curve[key][i];
  };
  const shared = Math.min(...runs.map((run) => run.curve.epoch.at(-1) ?? Infinity));
  const cursorEpoch = () => (state.at === null ? shared : epochs[state.at]);

  const table = readings(runs, hasDegree, () => {
    state.charts.forEach((chart) => chart.draw());
  });
  const update = () => {
    table.fill(cursorEpoch(), value, state.at !== null);
    state.charts.forEach((chart) => chart.cursor());
  };

  for (const key of hasDegree ? ["loss", "valid", "degree"] : ["loss", "valid"]) {
    const place = document.querySelector(`[data-chart="${key}"]`);
    state.charts.push(lineChart(place, key, { runs, epochs, shared, state, value, update }));
  }
  update();
}

const KINDS = {
  loss: { name: "Training loss", format: brief, band: ["loss_low", "loss_high"], factor: 1 },
  valid: { name: `Validation ${MEASURE.name} in ${UNITS[MEASURE.unit] ?? MEASURE.unit}`, format: (v) => v.toFixed(MEASURE.digits), band: ["valid_low", "valid_high"], factor: MEASURE.factor },
  degree: { name: "Mean size k of a neighbourhood", format: brief, band: null, factor: 1 },
};

function lineChart(place, key, { runs, epochs, shared, state, value, update }) {
  const kind = KINDS[key];
  const height = 260;
  let layer = null;
  let x = null;
  let y = null;
  let width = 0;

  const bounds = (shown) => {
    const keys = kind.band ?? [key];
    let [low, high] = extent(shown.flatMap((run) => keys.flatMap((k) => run.curve[k])));
    // Steep first epochs should not squeeze the rest.
    if (key === "valid" && MEASURE.lower) high = Math.min(high, low + 4 * (quantile(shown, 0.75) - low));
    if (key === "valid" && !MEASURE.lower) low = Math.max(low, high - 4 * (high - quantile(shown, 0.25)));
    if (key === "loss") low = Math.min(low, 0);
    return ticks(kind.factor * low, kind.factor * high, 5);
  };

  const draw = (newWidth = width) => {
    width = newWidth;
    if (!width) return;
    const shown = runs.filter((run) => run.shown);
    const yTicks = bounds(shown.length ? shown : runs);
    const [left, right, top, bottom] = [44, width - 10, 10, height - 40];
    x = scale(epochs[0], epochs[epochs.length - 1], left, right);
    y = scale(yTicks[0], yTicks[yTicks.length - 1], bottom, top);
    const xTicks = ticks(epochs[0], epochs[epochs.length - 1], 4).filter((t) => t >= epochs[0] && t <= epochs[epochs.length - 1]);
    const clip = `clip-${key}`;
    layer = svg("g", {});
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height },
      svg("defs", {}, svg("clipPath", { id: clip }, svg("rect", { x: left, y: top - 3, width: right - left + 4, height: bottom - top + 6 }))),
      axes({ x, y, xTicks, yTicks, xFormat: String, yFormat: axisFormat(yTicks), left, right, bottom }),
      svg("text", { class: "tick", x: right, y: height - 6, "text-anchor": "end", "aria-hidden": "true" }, "epoch"),
      svg("g", { "clip-path": `url(#${clip})` }, shown.map((run) => series(run))), layer);
    scrub(root, {
      label: `${kind.name} by epoch. Arrow keys read the values.`,
      count: epochs.length,
      start: nearest(epochs, shared),
      position: (px) => nearest(epochs, x.invert((px / root.clientWidth) * width || 0)),
      current: () => state.at,
      describe: (i) => `epoch ${epochs[i]}: ${runs.filter((r) => r.shown).map((r) => `${r.name} ${said(r, epochs[i])}`).join(", ")}`,
      onMove: (i) => { state.at = i; update(); },
    });
    const focused = place.contains(document.activeElement);
    place.replaceChildren(root);
    if (focused) root.focus();
    cursor();
  };

  const said = (run, epoch) => {
    const v = value(run, key, epoch);
    return isNumber(v) ? kind.format(kind.factor * v) : "no value";
  };
  const px = (i, run, k) => `${x(run.curve.epoch[i]).toFixed(1)},${y(kind.factor * run.curve[k][i]).toFixed(1)}`;
  const path = (run, k) => {
    let out = "";
    let pen = "M";
    run.curve[k].forEach((v, i) => {
      if (isNumber(v)) { out += pen + px(i, run, k); pen = "L"; } else pen = "M";
    });
    return out;
  };
  const series = (run) => {
    const style = look(run.index);
    const parts = [];
    if (kind.band && DATA.runs[run.index].best.length > 1) {
      const [low, high] = kind.band;
      const there = run.curve.epoch.map((_, i) => i).filter((i) => isNumber(run.curve[low][i]));
      if (there.length) {
        const points = [...there.map((i) => px(i, run, high)), ...there.reverse().map((i) => px(i, run, low))];
        parts.push(svg("polygon", { class: "band", points: points.join(" ") }));
      }
    }
    parts.push(svg("path", { class: "line", d: path(run, key), "stroke-dasharray": style.dash }));
    if (key === "valid") {
      const [epoch, best] = [0, 1].map((i) => run.best.reduce((sum, pair) => sum + pair[i], 0) / run.best.length);
      parts.push(svg("circle", { class: "ring", cx: x(epoch), cy: y(MEASURE.factor * best), r: 4.5 }));
    }
    return svg("g", { class: style.class }, parts);
  };
  const cursor = () => {
    if (!layer) return;
    layer.replaceChildren();
    if (state.at === null) return;
    const epoch = epochs[state.at];
    layer.append(svg("line", { class: "cursor", x1: x(epoch), x2: x(epoch), y1: 10, y2: height - 40 }));
    for (const run of runs.filter((r) => r.shown)) {
      const v = value(run, key, epoch);
      if (!isNumber(v)) continue;
      layer.append(svg("g", { class: look(run.index).class }, svg("circle", { class: "point", cx: x(epoch), cy: y(kind.factor * v), r: 4.5 })));
    }
    place.firstChild?.setAttribute("aria-valuenow", String(state.at));
  };
  drawOnResize(place, draw);
  return { draw: () => draw(), cursor };
}

// A quantile of the validation curves.
function quantile(runs, share) {
  const all = runs.flatMap((run) => run.curve.valid).filter(isNumber).sort((a, b) => a - b);
  return all[Math.floor(all.length * share)] ?? 0;
}

function nearest(sorted, wanted) {
  let best = 0;
  sorted.forEach((v, i) => { if (Math.abs(v - wanted) < Math.abs(sorted[best] - wanted)) best = i; });
  return best;
}

function readings(runs, hasDegree, redraw) {
  const table = byId("readings");
  const columns = [["loss", "Loss", brief]];
  if (runs.some((run) => run.curve.train.some(isNumber))) columns.push(["train", `Training ${MEASURE.name}, ${MEASURE.unit}`, measured]);
  columns.push(["valid", `Validation ${MEASURE.name}, ${MEASURE.unit}`, measured]);
  if (hasDegree) columns.push(["degree", "Size k ± standard deviation", brief]);
  const cells = new Map();
  const rows = runs.map((run) => {
    const box = html("input", { type: "checkbox", onchange: () => { run.shown = box.checked; redraw(); } });
    box.checked = true;
    const style = look(run.index);
    const sample = svg("svg", { width: 34, height: 12, "aria-hidden": "true" },
      svg("line", { class: "line", x1: 1, x2: 33, y1: 6, y2: 6, "stroke-dasharray": style.dash }));
    const values = columns.map(([key, label]) => {
      const cell = html("td", { role: "cell", class: "r num", "data-label": label });
      cells.set(`${run.index} ${key}`, cell);
      return cell;
    });
    return html("tr", { role: "row", class: style.class },
      html("th", { role: "rowheader", scope: "row" }, html("label", {}, box, sample, html("span", {}, run.name))), values);
  });
  table.append(
    html("thead", { role: "rowgroup" }, html("tr", { role: "row" },
      html("th", { role: "columnheader", scope: "col" }, "Run (untick to hide)"),
      columns.map(([, label]) => html("th", { role: "columnheader", scope: "col", class: "r" }, label)))),
    html("tbody", { role: "rowgroup" }, rows));
  const fill = (epoch, value, pointed) => {
    byId("reading-epoch").textContent = pointed ? `At epoch ${epoch}` : `At epoch ${epoch}, the last that every run reached`;
    for (const run of runs) {
      for (const [key, , format] of columns) {
        let text = format(value(run, key, epoch));
        const spread = value(run, "degree_deviation", epoch);
        if (key === "degree" && isNumber(spread)) text += ` ± ${brief(spread)}`;
        cells.get(`${run.index} ${key}`).textContent = text;
      }
    }
  };
  return { fill };
}
curves();
