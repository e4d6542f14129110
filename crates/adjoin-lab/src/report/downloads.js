// Figures as SVG and PNG, tables as CSV: made in the page, from what is on show.

// Looks come from the style sheet, which a file of its own does not have.
const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "vector-effect"];

function drawing(source) {
  const copy = source.cloneNode(true);
  const originals = [source, ...source.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, at) => {
    const look = getComputedStyle(originals[at]);
    node.setAttribute("style", LOOKS.map((name) => `${name}:${look.getPropertyValue(name)}`).join(";"));
  });
  const { width, height } = source.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const back = svg("rect", { width: "100%", height: "100%", fill: getComputedStyle(source.closest(".panel")).backgroundColor });
  copy.prepend(back);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function save(blob, name) {
  const link = html("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function savePng(source, name) {
  const { text, width, height } = drawing(source);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = html("canvas", { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save(blob, name));
}

function csv(table) {
  const cell = (node) => {
    const text = node.textContent.trim().replace(/\s+/g, " ");
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = [...table.rows].filter((row) => !row.closest("tfoot"));
  return rows.map((row) => [...row.cells].map(cell).join(",")).join("\n") + "\n";
}

const fileName = (text) => text.trim().toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "adjoin";

function downloads() {
  const button = (label, what, onclick) => html("button", { type: "button", "aria-label": `${label}: ${what}`, onclick }, label);
  for (const figure of document.querySelectorAll("main figure.panel")) {
    const what = figure.querySelector("h3, h4")?.textContent ?? "figure";
    const name = fileName(what);
    const picture = () => figure.querySelector(".chart svg, svg.scatter");
    const table = figure.querySelector("table");
    const buttons = [];
    if (figure.querySelector(".chart, svg.scatter")) {
      buttons.push(button("SVG", what, () => save(new Blob([drawing(picture()).text], { type: "image/svg+xml" }), `${name}.svg`)));
      buttons.push(button("PNG", what, () => savePng(picture(), `${name}.png`)));
    }
    if (table) buttons.push(button("CSV", what, () => save(new Blob([csv(table)], { type: "text/csv" }), `${name}.csv`)));
    if (buttons.length) figure.append(html("p", { class: "downloads" }, buttons));
  }
}
downloads();
