// The search box of the explorer: a combobox over node names and class names.

function search(getData, visit) {
  const input = byId("node-search");
  const list = byId("node-options");
  let found = [];
  let active = -1;

  const close = () => {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const choose = (node) => {
    close();
    input.value = "";
    visit(node);
  };
  const highlight = (at) => {
    active = at;
    [...list.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === at)));
    if (at >= 0) input.setAttribute("aria-activedescendant", `node-option-${at}`);
  };
  const open = () => {
    const data = getData();
    found = matches(data, input.value.trim().toLowerCase());
    if (!input.value.trim()) return close();
    list.replaceChildren(...(found.length ? found.map((node, i) => html("li", {
      role: "option", id: `node-option-${i}`, "aria-selected": "false",
      onpointerdown: (event) => { event.preventDefault(); choose(node); },
    }, data.ids[node], html("span", {}, data.nameOf(node)))) : [html("li", { role: "presentation" }, "No node found")]));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    highlight(found.length ? 0 : -1);
  };

  input.addEventListener("input", open);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return close();
    if (event.key === "Enter" && !list.hidden && active >= 0) {
      event.preventDefault();
      return choose(found[active]);
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    if (list.hidden) open();
    else if (found.length) highlight((active + step + found.length) % found.length);
  });
}

// Up to eight nodes: the exact name, names that start so, names that hold it, then nodes of such a class.
function matches(data, wanted) {
  const limit = 8;
  const ranks = [[], [], [], []];
  for (let i = 0; i < data.rows; i += 1) {
    const name = data.ids[i].toLowerCase();
    const at = name.indexOf(wanted);
    if (name === wanted) ranks[0].push(i);
    else if (at === 0) ranks[1].push(i);
    else if (at > 0) ranks[2].push(i);
    else if (ranks[3].length < limit && data.nameOf(i).toLowerCase().includes(wanted)) ranks[3].push(i);
  }
  return ranks.flat().slice(0, limit);
}

if (DATA.graphs.length) graphChoice(explorer());
