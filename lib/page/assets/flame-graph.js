
"use strict";
// A flame graph that can be searched, zoomed, reversed, and limited to a thread or to running threads. Replaces the
// static picture in `svg`, the root of a file or an element of a page; reads the stacks that it has as text:
// "thread;outermost;...;innermost ALL RUNNING" in each line.
const drawFlameGraph = svg => {
  const NS = "http://www.w3.org/2000/svg", XHTML = "http://www.w3.org/1999/xhtml";
  const isFile = svg === document.documentElement, row = 18, character = 7.3, margin = 10;
  const stacks = svg.querySelector("#stacks").textContent.trim().split("\n").filter(Boolean).map(line => {
    const running = line.lastIndexOf(" "), all = line.lastIndexOf(" ", running - 1);
    return {frames: line.slice(0, all).split(";"), all: Number(line.slice(all, running)), running: Number(line.slice(running))};
  });
  // Each sample has a stack of each thread; a core has no samples.
  const {name: title, samples, unit} = svg.querySelector(".heading").dataset;
  const settings = {query: "", thread: "", running: false, reversed: false};
  let root, zoomed, focused, boxes = [];

  const make = (space, name, attributes, ...children) => {
    const element = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };
  const html = (name, attributes, ...children) => make(XHTML, name, attributes, ...children);
  const number = value => value.toLocaleString("en-US");

  const count = (value, one) => number(value) + " " + one + (value === 1 ? "" : "s");

  // A warm colour from the name (FNV-1a).
  function color(name) {
    let hash = 2166136261;
    for (const c of name) hash = Math.imul(hash ^ c.codePointAt(0), 16777619) >>> 0;
    return `rgb(${205 + hash % 50},${80 + (hash >>> 8) % 140},${(hash >>> 16) % 60})`;
  }

  /** Stacks with common frames at the root share boxes; boxes are in the order of names. */
  function build() {
    root = {name: "all", count: 0, depth: 0, children: new Map(), parent: null};
    for (const stack of stacks) {
      const count = settings.running ? stack.running : stack.all;
      if (!count || (settings.thread && stack.frames[0] !== settings.thread)) continue;
      const frames = settings.reversed ? stack.frames.slice(1).reverse() : settings.thread ? stack.frames.slice(1) : stack.frames;
      let at = root;
      at.count += count;
      for (const name of frames) {
        let next = at.children.get(name);
        if (!next) at.children.set(name, next = {name, count: 0, depth: at.depth + 1, children: new Map(), parent: at});
        next.count += count;
        at = next;
      }
    }
    zoomed = focused = root;
  }

  const input = html("input", {type: "search", id: "search", placeholder: "part of a function's name", "aria-label": "Search", oninput: () => { settings.query = input.value.toLowerCase(); draw(); }});
  const threads = html("select", {"aria-label": "Thread", onchange: () => { settings.thread = threads.value; build(); draw(); }}, html("option", {value: ""}, "all threads"),
    ...[...new Set(stacks.map(stack => stack.frames[0]))].sort().map(name => html("option", {value: name}, name || "(no name)")));
  const pressed = (text, key, hint) => {
    const button = html("button", {type: "button", "aria-pressed": "false", title: hint, onclick: () => {
      settings[key] = !settings[key];
      button.setAttribute("aria-pressed", String(settings[key]));
      build();
      draw();
    }}, text);
    return button;
  };
  const running = pressed("Only running", "running", "Only stacks of threads that were running or ready to run");
  const reversed = pressed("Reverse", "reversed", "Callers on top of what they called: where the stacks end, and who led there");
  const reset = html("button", {type: "button", onclick: () => { zoomed = focused = root; draw(); }}, "Reset zoom");
  const status = html("p", {role: "status", "aria-live": "polite"}), total = html("span", {});
  const panel = html("div", {id: "panel"}, html("h1", {}, title, " ", total), html("div", {id: "tools"}, input, threads, ...(samples === "0" ? [] : [running]), reversed, reset), status);
  const style = make(NS, "style", {});
  style.textContent = `
    ${isFile ? ":root { color-scheme: light dark; background: light-dark(#fffaf0, #14181d); }" : ""}
    #panel { font: 14px/1.4 system-ui, "DejaVu Sans", sans-serif; color: light-dark(#222, #e2e8ef); padding: 8px ${margin}px; }
    #panel h1 { font-size: 16px; margin: 0 0 6px; overflow-wrap: anywhere; }
    #panel h1 span { font-weight: normal; font-size: 14px; }
    #panel p { margin: 6px 0 0; min-height: 1.4em; overflow-wrap: anywhere; font-family: monospace; font-size: 12px; max-height: 5.6em; overflow: auto; }
    #tools { display: flex; flex-wrap: wrap; gap: 6px; }
    #tools > * { font: inherit; padding: 3px 8px; min-height: 32px; max-width: 100%; }
    #tools button[aria-pressed=true] { outline: 2px solid light-dark(#0b5cad, #6db3f8); font-weight: 600; }
    #boxes { outline-offset: -2px; }
    .box { cursor: pointer; }
    .box text { pointer-events: none; fill: #000; }
    .box.found rect { fill: #b04be0; }
    .box.found text { fill: #fff; }
    .box.chosen rect { stroke: light-dark(#000, #fff); stroke-width: 2; }
    .box.outside { opacity: .55; }
    @media print { #tools { display: none; } }`;
  const place = make(NS, "foreignObject", {x: 0, y: 0}, panel);
  const group = make(NS, "g", {id: "boxes", tabindex: 0, role: "tree", "aria-label": "Flame graph; arrow keys move, Enter zooms, Escape resets", onkeydown: key,
    onfocus: () => describe(focused)});

  function describe(node) {
    const share = (part, whole) => whole ? (100 * part / whole).toFixed(1) + "%" : "0%";
    status.textContent = `${node.name}: ${number(node.count)} of ${count(root.count, unit)} (${share(node.count, root.count)})` +
      (zoomed !== root ? `, ${share(node.count, zoomed.count)} of what is shown` : "") + found();
  }

  /** The stacks with a match: the outermost matching boxes. */
  function found() {
    if (!settings.query) return "";
    let sum = 0;
    const pending = [zoomed];
    while (pending.length) {
      const node = pending.pop();
      if (node !== root && node.name.toLowerCase().includes(settings.query)) sum += node.count;
      else pending.push(...node.children.values());
    }
    return ` — matched: ${number(sum)} (${zoomed.count ? (100 * sum / zoomed.count).toFixed(1) : 0}%)`;
  }

  function choose(node) {
    boxes.find(box => box.node === focused)?.element.classList.remove("chosen");
    focused = node;
    const box = boxes.find(one => one.node === node);
    if (box) {
      box.element.classList.add("chosen");
      group.setAttribute("aria-activedescendant", box.element.id);
      box.element.scrollIntoView({block: "nearest"});
    }
    describe(node);
  }

  function zoom(node) {
    zoomed = focused = node;
    draw();
  }

  function key(event) {
    const siblings = focused.parent ? [...focused.parent.children.values()].sort(byName) : [focused], at = siblings.indexOf(focused);
    const up = settings.reversed ? "ArrowDown" : "ArrowUp", down = settings.reversed ? "ArrowUp" : "ArrowDown";
    const largest = [...focused.children.values()].sort((a, b) => b.count - a.count)[0];
    const to = {[up]: largest, [down]: focused.parent, ArrowLeft: siblings[at - 1], ArrowRight: siblings[at + 1]}[event.key];
    if (event.key === "Enter") zoom(focused);
    else if (event.key === "Escape") zoom(root);
    else if (to) choose(to);
    else return;
    event.preventDefault();
  }

  const byName = (a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0;

  function draw() {
    const width = Math.max(isFile ? innerWidth - 16 : svg.parentElement.clientWidth, 300), inner = width - 2 * margin;
    total.textContent = count(root.count, unit) + (samples === "0" ? "" : ` in ${count(Number(samples), "sample")}`);
    place.setAttribute("width", width);
    place.setAttribute("height", 400);
    const top = Math.ceil(panel.getBoundingClientRect().height) + 8;
    place.setAttribute("height", top);
    // What is not drawn: boxes that are too narrow, and those beside the chosen one.
    const list = [], scale = inner / (zoomed.count || 1);
    for (let node = zoomed.parent; node; node = node.parent) list.push({node, x: 0, w: inner, outside: true});
    const pending = [[zoomed, 0]];
    let deepest = zoomed.depth;
    while (pending.length) {
      const [node, x] = pending.pop(), w = node.count * scale;
      if (w < .3) continue;
      deepest = Math.max(deepest, node.depth);
      list.push({node, x, w});
      let at = x;
      for (const child of [...node.children.values()].sort(byName)) {
        pending.push([child, at]);
        at += child.count * scale;
      }
    }
    const height = top + (deepest + 1) * row + margin;
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    svg.removeAttribute("viewBox");
    boxes = list.map(({node, x, w, outside}, i) => {
      const y = settings.reversed ? top + node.depth * row : height - margin - row * (node.depth + 1);
      const matches = settings.query && node.name.toLowerCase().includes(settings.query), room = Math.floor((w - 6) / character);
      const element = make(NS, "g", {class: "box" + (matches ? " found" : "") + (outside ? " outside" : "") + (node === focused ? " chosen" : ""), id: "box" + i, role: "treeitem",
        "aria-level": node.depth + 1, "aria-label": `${node.name}, ${count(node.count, unit)}`,
        onclick: () => { zoom(node); group.focus({preventScroll: true}); }, onpointerenter: () => describe(node)},
      make(NS, "rect", {x: (margin + x).toFixed(2), y, width: Math.max(w - .4, .3).toFixed(2), height: row - 1, fill: node === root ? "#d8d4c8" : color(node.name)}));
      if (room >= 3)
        element.append(make(NS, "text", {x: (margin + x + 3).toFixed(2), y: y + 13}, node.name.length <= room ? node.name : node.name.slice(0, room - 2) + ".."));
      return {node, element};
    });
    group.replaceChildren(...boxes.map(box => box.element));
    describe(focused);
  }

  svg.querySelector("#picture").remove();
  svg.querySelector(".heading").remove();
  svg.append(style, place, group);
  addEventListener("resize", draw);
  build();
  draw();
};
