// Histogram of learned degrees against input degrees, and the choice of the graph on show.

function binName(histogram, bin) {
  const first = bin * histogram.width;
  if (bin === histogram.input.length - 1) return `${first} or more`;
  return histogram.width === 1 ? String(first) : `${first} to ${first + histogram.width - 1}`;
}

const thousands = (n) => (n >= 10_000 ? `${n / 1000}k` : String(n));
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const given = (graph) => graph.input !== null;

function degreeChart(place, graph, readout) {
  const { input, learned } = graph.degrees;
  const measure = graph.measure ?? "degree";
  const noun = graph.learned ?? (graph.has_k ? "with learned k" : "with learned graph");
  // Where nothing is given, there is nothing to compare with.
  const series = given(graph) ? [["input", input], ["learned", learned]] : [["learned", learned]];
  const describe = (bin) => (given(graph)
    ? `${measure} ${binName(graph.degrees, bin)}: ${plural(input[bin], graph.noun)} ${graph.input}, ${learned[bin]} ${noun}`
    : `${measure} ${binName(graph.degrees, bin)}: ${plural(learned[bin], graph.noun)}`);
  const state = { at: null };
  let shades = [];

  const mark = () => {
    shades.forEach((shade, i) => shade.classList.toggle("on", i === state.at));
    readout.textContent = state.at === null ? "Point at a bar, or use the arrow keys." : describe(state.at);
  };
  const draw = (width) => {
    const height = 320;
    const [left, right, top, bottom] = [46, width - 6, 28, height - 40];
    const yTicks = ticks(0, Math.max(...input, ...learned, 1), 5);
    const x = scale(0, input.length, left, right);
    const y = scale(0, yTicks[yTicks.length - 1], bottom, top);
    const room = x(1) - x(0);
    const bar = (room * 0.76) / series.length;
    const every = Math.max(1, Math.ceil(26 / room));
    const rect = (kind, bin, n, offset) =>
      svg("rect", { class: `bar ${kind}`, x: x(bin) + room * 0.12 + offset, width: Math.max(bar, 0.5), y: y(n), height: bottom - y(n) });
    shades = input.map((_, bin) => svg("rect", { class: "bin", x: x(bin), y: top, width: room, height: bottom - top }));
    const labelled = input.map((_, bin) => bin).filter((bin) => bin === input.length - 1 || (bin % every === 0 && bin + every < input.length));
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height }, shades,
      axes({ x: (bin) => x(bin + 0.5), y, xTicks: labelled, yTicks, left, right, bottom, yFormat: thousands,
        xFormat: (bin) => `${bin * graph.degrees.width}${bin === input.length - 1 ? "+" : ""}` }),
      series.map(([kind, counts], at) => counts.map((n, bin) => rect(kind, bin, n, at * bar))),
      svg("text", { class: "tick", x: right, y: height - 6, "text-anchor": "end", "aria-hidden": "true" }, measure),
      svg("text", { class: "tick", x: 0, y: 12, "aria-hidden": "true" }, `${graph.noun}s`));
    scrub(root, {
      label: `Number of ${graph.noun}s by ${measure}. Arrow keys read the bars.`,
      count: input.length,
      position: (px) => Math.floor(x.invert((px / root.clientWidth) * width || 0)),
      current: () => state.at,
      describe,
      onMove: (bin) => { state.at = bin; mark(); },
    });
    place.replaceChildren(root);
    mark();
  };
  drawOnResize(place, draw);
  readout.after(degreeTable(graph));
}

function degreeTable(graph) {
  const { input, learned } = graph.degrees;
  const row = (bin) => html("tr", {}, html("th", { scope: "row" }, binName(graph.degrees, bin)),
    given(graph) ? html("td", { class: "r num" }, String(input[bin])) : null, html("td", { class: "r num" }, String(learned[bin])));
  return html("details", { class: "table-alternative" }, html("summary", {}, "The same as a table"),
    html("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "The bars as a table" },
      html("table", { class: "plain" },
        html("thead", {}, html("tr", {}, html("th", { scope: "col" }, capital(graph.measure ?? "degree")),
          given(graph) ? html("th", { scope: "col", class: "r" }, `${capital(graph.noun)}s ${graph.input}`) : null,
          html("th", { scope: "col", class: "r" }, given(graph) ? graph.learned ?? "Learned" : `${capital(graph.noun)}s`))),
        html("tbody", {}, input.map((_, bin) => row(bin))))));
}

// Shows one graph's panel at a time; tells the explorer when the choice changes.
function graphChoice(onChange) {
  const panels = [...document.querySelectorAll("section.graph")];
  const show = (at) => {
    panels.forEach((panel, i) => { panel.hidden = i !== at; });
    onChange(DATA.graphs[at].explorer);
  };
  DATA.graphs.forEach((graph, at) => {
    graph.charts.forEach((chart, number) => {
      const readout = document.querySelector(`[data-readout="degrees-${at}-${number}"]`);
      degreeChart(panels[at].querySelector(`[data-chart="degrees"][data-number="${number}"]`), chart, readout);
    });
  });
  // Baselines come first in a comparison; what was learned is the news.
  const start = DATA.graphs.length - 1;
  if (start > 0) {
    const select = byId("graph-select");
    select.append(...DATA.graphs.map((graph, at) => html("option", { value: at }, graph.name)));
    select.value = start;
    select.addEventListener("change", () => show(Number(select.value)));
    byId("graph-choice").hidden = false;
    panels.forEach((panel) => panel.querySelector(".of-run").classList.add("hidden"));
  }
  show(start);
}
