// What the scripts of all pages share: elements, tables of any length, charts. Everything from the data is
// shown as text: no function here makes markup of a string.

const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");
const contents = document.getElementById("contents");
const narrow = matchMedia("(max-width: 820px)");

/** Text with what steers it (controls, changes of direction) made visible. */
const shown = text => String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
  c => "\\u" + c.codePointAt(0).toString(16).padStart(4, "0"));

/** An element. `on...` attributes are listeners, `style` is an object; null and undefined children are left out. */
function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [property, to] of Object.entries(value)) element.style.setProperty(property, to);
    else element.setAttribute(key, shown(value));
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined).map(child => child instanceof Node ? child : shown(child)));
  return element;
}

function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const number = value => value.toLocaleString("en-US");
const count = (value, one, many = one + "s") => number(value) + " " + (value === 1 ? one : many);
function percent(part, whole) {
  return whole ? (100 * part / whole).toFixed(part === whole || part === 0 ? 0 : 1) + " %" : "–";
}
const megabytes = value => value < 1e7 ? number(value) : (value / 1e6).toLocaleString("en-US", {maximumFractionDigits: 1}) + " MB";
/** Without its directories; a file may have no name. */
const fileName = path => (path ?? "").slice((path ?? "").lastIndexOf("/") + 1);
const hex = value => "0x" + BigInt(value).toString(16);
const colors = ["var(--s1)", "var(--s2)", "var(--s3)", "var(--s4)", "var(--s5)", "var(--s6)", "var(--s7)"];

/** The result as the title: in the heading, and for the browser's tabs. `kind` colours its first word. */
function setTitle(result, rest, kind) {
  document.title = shown(`${result}: ${rest}`);
  document.querySelector("h1").replaceChildren(el("span", {class: kind}, result), `: ${shown(rest)}`);
}

/** Below the heading: what made the page, from what. */
function aboutPage(pairs) {
  document.querySelector("header > div").append(el("p", {class: "about"}, pairs.filter(([, value]) => value)
    .map(([name, value]) => el("span", {}, el("span", {class: "muted"}, name + " "), value))));
}

/** A part of the page with a heading, which the contents at the top link to. */
function section(parent, id, title, ...children) {
  const part = el("section", {"aria-labelledby": id}, el("h2", {id}, title), ...children);
  parent.append(part);
  contents.append(el("a", {href: "#" + id}, title));
  return part;
}

/** Words as one line, quoted for a shell where necessary: an empty one is visible. */
const commandLine = words => words.map(word => /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'").join(" ");

/** [["name", "value" or node], ...]; without those whose value is missing. */
function facts(pairs) {
  return el("dl", {class: "facts"}, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function figures(list) {
  return el("dl", {class: "figures"}, list.filter(Boolean).map(([name, value, remark, kind]) =>
    el("div", {}, el("dt", {}, name), el("dd", {class: kind ?? ""}, value, remark ? el("small", {}, remark) : null))));
}

function notice(text, kind = "") {
  return el("p", {class: "notice " + kind}, text);
}

/** A table of known, small length. Cells are texts or nodes; `right` has the numbers of right-aligned columns. */
function plainTable(head, rows, right = []) {
  const side = i => right.includes(i) ? "right" : null;
  return el("div", {class: "scroll-x"}, el("table", {class: "plain"},
    el("thead", {}, el("tr", {}, head.map((text, i) => el("th", {scope: "col", class: side(i) ?? "nowrap"}, text)))),
    el("tbody", {}, rows.map(row => el("tr", {}, row.map((cell, i) =>
      cell instanceof HTMLTableCellElement ? cell : el("td", {class: side(i)}, cell)))))));
}

/** A bar of parts [{label, value, color}] with its legend. */
function bar(label, parts) {
  const total = parts.reduce((sum, part) => sum + part.value, 0);
  const shown = parts.filter(part => part.value);
  return el("figure", {},
    el("div", {class: "bar", role: "img", "aria-label": label + ": " + shown.map(p => `${p.label} ${number(p.value)}`).join(", ")},
      shown.map(p => el("span", {style: {flex: `${p.value} 0 2px`, background: p.color}, title: `${p.label}: ${number(p.value)}`}))),
    el("ul", {class: "legend"}, shown.map(p => el("li", {}, el("i", {style: {background: p.color}}),
      `${p.label} ${number(p.value)} `, el("span", {class: "muted"}, percent(p.value, total))))));
}

/** Squarified treemap (Bruls, Huizing, van Wijk): rectangles [{item, x, y, w, h}] in a rectangle of that size. */
function squarify(items, width, height) {
  const rest = items.filter(item => item.value > 0).sort((a, b) => b.value - a.value);
  const total = rest.reduce((sum, item) => sum + item.value, 0);
  const scale = width * height / total, placed = [];
  let x = 0, y = 0, w = width, h = height;
  while (rest.length) {
    const side = Math.min(w, h), row = [];
    let area = 0, worst = Infinity;
    while (rest.length) {
      const more = area + rest[0].value * scale, areas = [...row, rest[0]].map(item => item.value * scale);
      const ratio = Math.max(side * side * Math.max(...areas) / (more * more), more * more / (side * side * Math.min(...areas)));
      if (ratio > worst) break;
      worst = ratio, area = more;
      row.push(rest.shift());
    }
    const depth = area / side;
    let at = 0;
    for (const item of row) {
      const length = item.value * scale / depth;
      placed.push(w >= h ? {item, x, y: y + at, w: depth, h: length} : {item, x: x + at, y, w: length, h: depth});
      at += length;
    }
    if (w >= h) x += depth, w -= depth; else y += depth, h -= depth;
  }
  return placed;
}

/** A treemap of [{label, value, color, note}]. Its numbers must be on the page as text, too. */
function treemap(label, items) {
  const box = el("div", {class: "treemap", role: "img", "aria-label": label});
  const draw = () => {
    const width = box.clientWidth, height = box.clientHeight;
    if (!width) return;
    box.replaceChildren(...squarify(items, width, height).map(({item, x, y, w, h}) =>
      el("div", {title: `${item.label}: ${item.note}`, style: {left: x + "px", top: y + "px", width: w + "px", height: h + "px", background: item.color}},
        w > 60 && h > 26 ? item.label : null, w > 60 && h > 46 ? el("small", {}, item.note) : null)));
  };
  new ResizeObserver(draw).observe(box);
  return box;
}

/**
 * A table of any length, of which only the rows in view exist. Columns: {title, value(row), text(row), cell(row),
 * width, right, wide, path}: `value` sorts, `text` is shown and searched (default: the value), `cell` makes another
 * node of it, `wide` columns are left out on narrow screens, `path` ones lose their start where they are too long. The table is one stop for Tab; arrows, Page Up
 * and Down, Home and End choose rows.
 */
class Grid {
  static next = 0;

  constructor({label, columns, rows, select, search = true, height = 30, sort, role = "grid", noun = "row", tools = []}) {
    Object.assign(this, {label, columns, rows, onSelect: select, height, role, noun});
    this.id = "grid" + Grid.next++;
    this.filter = null;
    this.query = "";
    this.sorting = sort ?? null; // {column, down}
    this.chosen = null;
    this.input = el("input", {type: "search", id: this.id + "-search", placeholder: "all words must occur", autocomplete: "off",
      spellcheck: "false", oninput: () => { this.query = this.input.value; this.update(); }});
    this.status = el("output", {for: this.id + "-search"});
    this.head = el("div", {class: "grid-head", role: "rowgroup"});
    this.body = el("div", {class: "grid-rows", role: "rowgroup"});
    this.space = el("div", {style: {position: "relative"}, role: "presentation"}, this.body);
    this.view = el("div", {class: "grid", role, tabindex: 0, "aria-label": label, onkeydown: event => this.key(event)}, this.head, this.space);
    this.view.addEventListener("scroll", () => this.render(), {passive: true});
    this.element = el("div", {class: role === "treegrid" ? "tree" : null},
      el("div", {class: "tools"}, search ? el("label", {}, "Search", this.input) : null, ...tools, this.status), this.view);
    narrow.addEventListener("change", () => this.update());
    new ResizeObserver(() => this.render()).observe(this.view);
    this.update();
  }

  text(row, column) {
    return column.text ? column.text(row) : String(column.value(row) ?? "");
  }

  setRows(rows) {
    this.rows = rows;
    this.texts = null;
    this.update();
  }

  setFilter(filter) {
    this.filter = filter;
    this.update();
  }

  /** Applies filter, search and order. */
  update() {
    this.visible = this.columns.filter(column => !(column.wide && narrow.matches));
    this.view.style.setProperty("--columns", this.visible.map(column => column.width ?? "minmax(0, 1fr)").join(" "));
    const words = this.query.toLowerCase().split(/\s+/).filter(Boolean);
    let numbers = [...this.rows.keys()];
    if (this.filter) numbers = numbers.filter(i => this.filter(this.rows[i]));
    if (words.length) {
      this.texts ??= this.rows.map(row => this.columns.map(column => this.text(row, column)).join("\n").toLowerCase());
      numbers = numbers.filter(i => words.every(word => this.texts[i].includes(word)));
    }
    if (this.sorting) {
      const {column, down} = this.sorting, values = this.rows.map(row => this.columns[column].value(row) ?? "");
      const order = (a, b) => values[a] < values[b] ? -1 : values[a] > values[b] ? 1 : 0;
      numbers.sort((a, b) => (down ? order(b, a) : order(a, b)) || a - b);
    }
    this.shown = numbers.map(i => this.rows[i]);
    this.space.style.height = this.shown.length * this.height + "px";
    const all = this.rows.length, part = this.shown.length;
    this.status.textContent = part === all ? count(all, this.noun) : `${number(part)} of ${count(all, this.noun)}`;
    this.view.setAttribute("aria-rowcount", part + 1);
    this.view.scrollTop = 0;
    this.renderHead();
    this.render();
  }

  renderHead() {
    if (this.role === "treegrid") return;
    const focused = this.head.contains(document.activeElement) ? [...this.head.querySelectorAll("button")].indexOf(document.activeElement) : -1;
    this.head.replaceChildren(el("div", {class: "grid-row", role: "row", "aria-rowindex": 1}, this.visible.map(column => {
      const number = this.columns.indexOf(column), sorted = this.sorting?.column === number;
      return el("div", {role: "columnheader", class: column.right ? "right" : null,
        "aria-sort": !sorted ? "none" : this.sorting.down ? "descending" : "ascending"},
      el("button", {type: "button", title: "Sort by " + column.title, onclick: () => this.sortBy(number)}, column.title));
    })));
    if (focused >= 0) this.head.querySelectorAll("button")[focused]?.focus();
  }

  /** Numbers start with the largest. */
  sortBy(column) {
    const again = this.sorting?.column === column;
    this.sorting = {column, down: again ? !this.sorting.down : Boolean(this.columns[column].right)};
    this.update();
  }

  render() {
    const room = this.view.clientHeight, top = this.view.scrollTop, beyond = 6;
    const first = Math.max(0, Math.floor(top / this.height) - beyond);
    const end = Math.min(this.shown.length, Math.ceil((top + room) / this.height) + beyond);
    this.body.style.transform = `translateY(${first * this.height}px)`;
    const rows = [];
    for (let i = first; i < end; ++i) rows.push(this.renderRow(this.shown[i], i));
    if (!this.shown.length) rows.push(el("p", {class: "empty"}, this.rows.length ? "Nothing matches." : "None."));
    if (!this.shown.length) this.space.style.height = "52px";
    this.body.replaceChildren(...rows);
    const at = this.shown.indexOf(this.chosen);
    if (at >= first && at < end) this.view.setAttribute("aria-activedescendant", this.id + "-" + at);
    else this.view.removeAttribute("aria-activedescendant");
  }

  renderRow(row, i) {
    return el("div", {class: "grid-row", role: "row", id: this.id + "-" + i, "aria-rowindex": i + 2, "aria-selected": String(row === this.chosen),
      ...this.rowAttributes?.(row), onclick: () => this.choose(row, true)},
    this.visible.map(column => {
      const text = this.text(row, column), cell = column.cell?.(row) ?? (column.path ? el("bdi", {}, text) : null);
      return el("div", {role: "gridcell", class: column.right ? "right" : column.path ? "path" : null, title: text.length > 8 ? text : null}, cell ?? text);
    }));
  }

  /** Selects a row; `enter`: the user asked to see its details. */
  choose(row, enter = false) {
    this.chosen = row;
    this.render();
    this.onSelect?.(row, enter);
  }

  /** Selects a row and scrolls to it. */
  reveal(row, enter = false) {
    const at = this.shown.indexOf(row);
    if (at < 0) return;
    const head = this.head.offsetHeight, top = at * this.height, room = this.view.clientHeight - head;
    if (top < this.view.scrollTop) this.view.scrollTop = top;
    else if (top + this.height > this.view.scrollTop + room) this.view.scrollTop = top + this.height - room;
    this.choose(row, enter);
  }

  key(event) {
    if (event.target !== this.view || event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.view.clientHeight / this.height) - 2), at = this.shown.indexOf(this.chosen), last = this.shown.length - 1;
    const to = {ArrowDown: at + 1, ArrowUp: at < 0 ? 0 : at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: last}[event.key];
    if (to === undefined) {
      if (this.otherKey?.(event, this.chosen)) event.preventDefault();
      else if (event.key === "Enter" && this.chosen) this.choose(this.chosen, true);
      return;
    }
    event.preventDefault();
    if (last >= 0) this.reveal(this.shown[Math.min(Math.max(to, 0), last)]);
  }
}

/** A table beside the details of the chosen row, which `show(row)` makes. `options` are those of Grid; `roomy`: the table has many columns. */
function masterDetail(options, show, hint) {
  const detail = el("section", {class: "detail", tabindex: -1, "aria-label": "Details"}, el("p", {class: "empty"}, hint));
  const grid = new Grid({...options, select(row, enter) {
    const back = el("button", {type: "button", class: "back", onclick: () => { grid.view.focus(); grid.element.scrollIntoView({block: "start"}); }}, "Back to the list");
    detail.replaceChildren(back, ...[show(row)].flat().filter(Boolean));
    detail.scrollTop = 0;
    options.chosen?.(row);
    if (enter && narrow.matches) { detail.focus(); detail.scrollIntoView({block: "start"}); }
  }});
  return {grid, detail, element: el("div", {class: options.roomy ? "split roomy" : "split"}, grid.element, detail)};
}

/** What the address of the page has after "#", as "key=value&...": so that a link leads to one row. */
const state = {
  get(key) { return new URLSearchParams(location.hash.slice(1)).get(key); },
  set(key, value) {
    const all = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
    all.set(key, value);
    history.replaceState(null, "", "#" + all);
  },
};

(() => {
  const button = document.getElementById("theme"), system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const isDark = () => (chosen ?? (system.matches ? "dark" : "light")) === "dark";
  const show = () => {
    document.documentElement.style.colorScheme = chosen ?? "";
    button.textContent = isDark() ? "Light mode" : "Dark mode";
  };
  button.hidden = false;
  button.addEventListener("click", () => { chosen = isDark() ? "light" : "dark"; show(); });
  system.addEventListener("change", show);
  show();
})();
