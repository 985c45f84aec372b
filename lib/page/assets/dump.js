// The page of sframe-dump --stats --format=html. Its data: docs/json.md, with what stats_details.cc adds.

const files = data.files;
const view = el("div");

const byteParts = [["index", "Index", "what finds a function: its start, size and the place of its rows"], ["data_words", "Data words", "the rows' offsets"],
  ["row_starts", "Row starts", "where each row starts, and its info byte"], ["attributes", "Attributes", "per function, before its rows (version 3)"],
  ["header", "Header", ""], ["aux_header", "Auxiliary header", ""], ["padding", "Padding", "unreferenced bytes"]];

const sectionTitle = s => `${s.name}${s.offset ? ` + ${hex(s.offset)}` : ""}`;

function bytesPart(sections) {
  const part = section(view, "bytes", "Where the bytes go");
  for (const s of sections) {
    const bytes = s.stats.bytes;
    const items = byteParts.map(([key, label, note], i) => ({label, value: bytes[key], color: colors[i], note: `${number(bytes[key])} bytes, ${percent(bytes[key], bytes.total)}`, text: note}));
    if (sections.length > 1) part.append(el("h3", {}, sectionTitle(s)));
    part.append(el("div", {class: "columns"}, treemap("Bytes by use", items),
      plainTable(["", "Use", "Bytes", "Share"], items.filter(item => item.value).sort((a, b) => b.value - a.value).map(item =>
        [el("span", {class: "key", style: {background: item.color}}), el("span", {}, item.label, item.text ? el("span", {class: "muted"}, " – " + item.text) : null), number(item.value), percent(item.value, bytes.total)]), [2, 3])));
    if (s.stats.shared_bytes) part.append(el("p", {class: "muted"}, `Sharing rows saves ${number(s.stats.shared_bytes)} bytes.`));
    const names = {addr1: "1-byte start offsets", addr2: "2-byte start offsets", addr4: "4-byte start offsets", default: "default FDEs", flex: "flexible FDEs",
      word1: "data words of 1 byte", word2: "data words of 2 bytes", word4: "data words of 4 bytes"};
    part.append(el("h3", {}, "Encodings"), plainTable(["Encoding", "Functions", "Rows", "Bytes"], Object.entries(s.stats.encodings).filter(([, e]) => e.rows || e.functions)
      .map(([key, e]) => [names[key] ?? key, e.functions === undefined ? "–" : number(e.functions), number(e.rows), number(e.bytes)]), [1, 2, 3]));
  }
}

/** A strip along one range of code: the height of a colour is its share of the bytes of that piece. */
function strip(map) {
  const count = map.covered.length, piece = map.piece;
  const sizes = i => Math.min(piece, map.size - i * piece);
  const sum = list => list.reduce((a, b) => a + b, 0), covered = sum(map.covered), only = sum(map.with_cfi_only);
  const picture = svg("svg", {class: "strip", viewBox: `0 0 ${count} 1`, preserveAspectRatio: "none", "aria-hidden": "true"});
  const add = (list, below, color) => {
    for (let i = 0; i < count;) {
      const share = list[i] / sizes(i), base = below ? below[i] / sizes(i) : 0;
      let end = i + 1;
      while (end < count && list[end] / sizes(end) === share && (below ? below[end] / sizes(end) : 0) === base) ++end;
      if (share) picture.append(svg("rect", {x: i, y: 1 - base - share, width: end - i, height: share, fill: color}));
      i = end;
    }
  };
  add(map.covered, null, "var(--s1)");
  add(map.with_cfi_only, map.covered, "var(--s3)");
  const mark = svg("rect", {x: 0, y: 0, width: Math.max(1, count / 300), height: 1, fill: "var(--text)", opacity: 0});
  picture.append(mark);
  const where = el("span", {class: "muted"}, " ");
  let at = 0;
  const show = i => {
    at = Math.min(Math.max(i, 0), count - 1);
    const start = BigInt(map.start) + BigInt(at) * BigInt(piece), size = sizes(at);
    const text = `${hex(start)} to ${hex(start + BigInt(size) - 1n)}: rows ${percent(map.covered[at], size)}, only CFI ${percent(map.with_cfi_only[at], size)}`;
    where.textContent = text;
    mark.setAttribute("x", at);
    mark.setAttribute("opacity", .6);
    slider.setAttribute("aria-valuenow", at);
    slider.setAttribute("aria-valuetext", text);
  };
  const slider = el("div", {tabindex: 0, role: "slider", "aria-label": `Coverage along ${map.section || "segment"}`, "aria-valuemin": 0, "aria-valuemax": count - 1, "aria-valuenow": 0,
    onpointermove: event => { const box = slider.getBoundingClientRect(); show(Math.floor((event.clientX - box.left) / box.width * count)); },
    onkeydown: event => {
      const step = {ArrowRight: 1, ArrowLeft: -1, PageDown: Math.ceil(count / 20), PageUp: -Math.ceil(count / 20)}[event.key];
      if (step === undefined) return;
      event.preventDefault();
      show(at + step);
    }}, picture);
  return el("figure", {class: "strip-row"}, el("figcaption", {}, el("strong", {}, map.section || "segment"),
    el("span", {}, `${hex(map.start)}, ${number(map.size)} bytes`), el("span", {}, `rows ${percent(covered, map.size)}, only CFI ${percent(only, map.size)}, nothing ${percent(map.size - covered - only, map.size)}`), where), slider);
}

function coveragePart(file) {
  const part = section(view, "coverage", "Coverage of the code"), stats = file.stats;
  part.append(bar("Executable bytes", [{label: "with rows", value: stats.covered_bytes, color: "var(--s1)"},
    {label: "only CFI", value: stats.cfi_bytes - stats.covered_cfi_bytes, color: "var(--s3)"},
    {label: "nothing", value: stats.executable_bytes - stats.covered_bytes - (stats.cfi_bytes - stats.covered_cfi_bytes), color: "var(--s7)"}]));
  part.append(el("h3", {}, "Along the code"), el("p", {class: "muted"}, "From the first address of each section to its last. Point at a place, or use the arrow keys, for its addresses."));
  part.append(...file.maps.map(strip));
  if (file.maps_left_out) part.append(notice(`${count(file.maps_left_out, "smaller section")} of code not shown.`));
}

function functionsPart(sections) {
  const part = section(view, "functions", "Functions");
  sections.forEach((s, number_) => {
    if (sections.length > 1) part.append(el("h3", {}, sectionTitle(s)));
    const most = Math.max(...s.rows_per_function.map(group => group.functions));
    part.append(el("h3", {}, "Rows per function"), plainTable(["Rows", "Functions", ""], s.rows_per_function.map(group =>
      [el("td", {class: "nowrap"}, group.from === group.to ? number(group.from) : `${number(group.from)}–${number(group.to)}`), number(group.functions),
        el("td", {style: {width: "70%"}, "aria-hidden": "true"}, el("div", {class: "meter", style: {width: 100 * group.functions / most + "%"}}))]), [1]));
    part.append(el("h3", {}, "Largest functions"));
    if (s.not_listed) part.append(notice(`Those with the most rows and those with the most bytes; ${count(s.not_listed, "function")} not listed. sframe-dump --format=json lists all.`));
    const list = masterDetail({
      label: "Functions", noun: "function", rows: s.largest, sort: {column: 2, down: true}, chosen: f => state.set("function", `${number_}.${f.start}`),
      columns: [{title: "Function", value: f => f.name || f.start, width: "minmax(0, 1fr)"}, {title: "Rows", value: f => f.rows, text: f => number(f.rows), width: "8ch", right: true},
        {title: "Bytes", value: f => f.bytes, text: f => number(f.bytes), width: "9ch", right: true}, {title: "Code", value: f => f.size, text: f => number(f.size), width: "10ch", right: true, wide: true},
        {title: "Start", value: f => BigInt(f.start), text: f => f.start, width: "15ch", wide: true}],
    }, f => [el("h3", {}, f.name || f.start), facts([["Start", el("code", {}, f.start)], ["Section", f.section], ["Code", `${number(f.size)} bytes`], ["Rows", number(f.rows)],
      ["Bytes of its rows", number(f.bytes)], ["FDE type", f.fde_type], ["Code per row", f.rows ? `${(f.size / f.rows).toFixed(1)} bytes` : null]]),
    el("p", {class: "muted"}, "Its rows: ", el("code", {}, `sframe-dump --address ${f.start}`), " with the same file.")], "Choose a function.");
    part.append(list.element);
    const wanted = s.largest.find(f => `${number_}.${f.start}` === state.get("function"));
    if (wanted) list.grid.reveal(wanted);
  });
}

function showFile(file) {
  view.replaceChildren();
  for (const link of [...contents.children]) if (link.hash !== "#files") link.remove();
  const part = section(view, "overview", files.length > 1 ? file.path : "Overview");
  if (file.error) return part.append(notice(file.error.message, "bad"));
  for (const problem of file.problems ?? []) part.append(notice(`${problem.section ?? ""} ${problem.message}`, "bad"));
  const sections = file.sections.filter(s => s.stats);
  for (const s of file.sections) {
    if (s.error) part.append(notice(`${s.name}: ${s.error.message}` + (s.error.offset !== undefined ? ` (offset ${hex(s.error.offset)})` : ""), "bad"));
    if (s.version === undefined) { if (!s.error) part.append(el("p", {}, `${s.name}: empty`)); continue; }
    part.append(el("p", {}, `${sectionTitle(s)}: ${number(s.size)} bytes at ${s.address}, version ${s.version}, ${s.abi}, ${s.byte_order} endian` +
      (s.flags.length ? `, ${s.flags.join(", ")}` : "")));
  }
  const sum = key => sections.reduce((total, s) => total + s.stats[key], 0), functions = sum("functions"), rows = sum("rows"), bytes = sections.reduce((total, s) => total + s.size, 0);
  const cfi = file.stats ? file.stats.eh_frame + file.stats.eh_frame_hdr : 0;
  part.append(figures([["Functions", number(functions)], ["Rows", number(rows), functions ? `${(rows / functions).toFixed(1)} per function` : null],
    ["Bytes of SFrame", number(bytes), functions ? `${(bytes / functions).toFixed(1)} per function` : null],
    cfi ? ["Compared with CFI", percent(bytes, cfi), `.eh_frame and .eh_frame_hdr: ${number(cfi)} bytes`] : null,
    file.stats ? ["Executable bytes with rows", percent(file.stats.covered_bytes, file.stats.executable_bytes)] : null,
    file.stats ? ["Bytes with CFI with rows", percent(file.stats.covered_cfi_bytes, file.stats.cfi_bytes)] : null]));
  if (!sections.length) return;
  bytesPart(sections);
  if (file.stats) coveragePart(file);
  functionsPart(sections);
}

if (files.length > 1) {
  const part = section(main, "files", "Files"), sum = (file, f) => file.sections.filter(s => s.stats).reduce((total, s) => total + f(s), 0);
  const all = f => files.reduce((total, file) => total + f(file), 0), stat = key => all(file => file.stats ? file.stats[key] : 0);
  const functions = all(file => sum(file, s => s.stats.functions)), bytes = all(file => sum(file, s => s.size));
  const title = `${count(files.length, "file")}, ${count(functions, "function")}`;
  document.title = `sframe-dump: ${title}`;
  document.querySelector("h1").textContent = title;
  part.append(figures([["Files", number(files.length)], ["Functions", number(functions)], ["Rows", number(all(file => sum(file, s => s.stats.rows)))],
    ["Bytes of SFrame", number(bytes), `${percent(stat("sframe"), stat("eh_frame") + stat("eh_frame_hdr"))} of .eh_frame and .eh_frame_hdr`],
    ["Executable bytes with rows", percent(stat("covered_bytes"), stat("executable_bytes"))]]));
  const column = (title, value, width, wide) => ({title, value, text: file => number(value(file)), width, right: true, wide});
  const share = (a, b) => b ? a / b : -1;
  const grid = new Grid({label: "Files", noun: "file", rows: files, select: (file, enter) => { showFile(file); state.set("file", files.indexOf(file)); if (enter) view.scrollIntoView(); },
    columns: [{title: "File", value: file => file.path, width: "minmax(0, 1fr)", path: true}, column("Functions", f => sum(f, s => s.stats.functions), "11ch", true), column("Rows", f => sum(f, s => s.stats.rows), "11ch", true),
      column("Bytes", f => sum(f, s => s.size), "11ch", false),
      {title: "Covered", value: f => f.stats ? share(f.stats.covered_bytes, f.stats.executable_bytes) : -1, text: f => f.stats ? percent(f.stats.covered_bytes, f.stats.executable_bytes) : "", width: "10ch", right: true},
      {title: "Size, of CFI", value: f => f.stats ? share(f.stats.sframe, f.stats.eh_frame + f.stats.eh_frame_hdr) : -1, text: f => f.stats ? percent(f.stats.sframe, f.stats.eh_frame + f.stats.eh_frame_hdr) : "", width: "14ch", right: true, wide: true}]});
  part.append(grid.element, el("p", {class: "muted"}, "Select a file for details."));
  main.append(view);
  grid.choose(files[Number(state.get("file") ?? 0)] ?? files[0]);
} else {
  main.append(view);
  if (files.length) showFile(files[0]);
}
