// The page of sframe-sweep report: tools/sframe-sweep/sframe_sweep/report.py makes its data.

/** Rows of a table that the data has by columns; a row reads its values when they are asked for. */
function rowsOf(table) {
  const names = Object.keys(table), first = table[names[0]], size = (first.numbers ?? first).length;
  class Row { constructor(number) { this.number = number; } }
  for (const name of names) {
    const column = table[name];
    Object.defineProperty(Row.prototype, name, {get: column.numbers ? function() { return column.texts[column.numbers[this.number]]; } : function() { return column[this.number]; }});
  }
  return Array.from({length: size}, (_, number) => new Row(number));
}

const files = rowsOf(data.files), packages = rowsOf(data.packages), totals = data.totals;
const cfiBytes = row => row.eh_frame + row.eh_frame_hdr;
const share = (part, whole) => whole ? part / whole : -1;
const fixed = (value, digits = 1) => value === null || value === undefined ? "" : value.toFixed(digits);
const severityKind = {error: "bad", warning: "doubtful", note: "muted"};

/** Columns that most tables have. */
const columns = {
  number: (title, value, width = "11ch", wide = false) => ({title, value: row => value(row) ?? -1, text: row => { const v = value(row); return v === null || v === undefined ? "" : number(v); }, width, right: true, wide}),
  share: (title, part, whole, width = "10ch", wide = false) => ({title, value: row => share(part(row), whole(row)), text: row => whole(row) ? percent(part(row), whole(row)) : "", width, right: true, wide}),
};
const covered = columns.share("Covered", row => row.covered_bytes, row => row.executable_bytes);
const ofCfi = columns.share("Size, of CFI", row => row.sframe_shared, cfiBytes, "14ch", true);

function verdictBar(row) {
  return bar("Functions by verdict", [{label: "agree", value: row.agree, color: "var(--good)"}, {label: "contradiction", value: row.contradiction - row.contradiction_in_cfi, color: "var(--bad)"},
    {label: "contradiction, also in the CFI", value: row.contradiction_in_cfi, color: "var(--s3)"}, {label: "undecided", value: row.undecided, color: "var(--s7)"},
    {label: "unreached", value: row.unreached, color: "var(--line)"}]);
}

/** What a kind of findings is, and where it was found. */
const titleOf = kind => (data.titles[kind.id] ?? "") + (kind.in_cfi ? ", also in the CFI" : "") + (kind.profile === "spec" ? "" : ` (for ${kind.profile})`);

/** Findings of a severity in the default sections and in those for one reader. */
const findingsOf = (of, key) => of[key] + of[`reader_${key}`];

function countCard(title, key, className) {
  const ofReaders = totals[`reader_${key}`], all = findingsOf(totals, key);
  return [title, number(all), ofReaders ? `${number(ofReaders)} in sections for one reader` : null, all ? className : ""];
}

function overview() {
  const part = section(main, "overview", "Overview");
  part.append(figures([["Packages", number(totals.packages), totals.failed_packages ? `${number(totals.failed_packages)} failed` : null],
    ["Files", number(totals.files), `${number(totals.measured)} measured, ${number(totals.skipped)} without CFI`],
    ["Refused or failed", number(totals.refused + totals.failed), null, totals.refused + totals.failed ? "bad" : ""],
    ["Executable bytes", megabytes(totals.executable_bytes), `${percent(totals.covered_bytes, totals.executable_bytes)} covered`],
    ["Of those with CFI", percent(totals.covered_cfi_bytes, totals.cfi_bytes), "covered"],
    ["Bytes of SFrame", megabytes(totals.sframe_shared), `${percent(totals.sframe_shared, cfiBytes(totals))} of .eh_frame and .eh_frame_hdr`],
    countCard("Errors", "errors", "bad"), countCard("Warnings", "warnings", "doubtful")]), verdictBar(totals));
  if (data.runs.length) part.append(el("h3", {}, "Runs"), plainTable(["Host", "Started", "Shard", "Programs", "Elapsed, s"],
    data.runs.slice(0, 20).map(run => [run.host, run.started, run.shard, run.programs, fixed(run.elapsed)]), [4]));
  if (data.runs.length > 20) part.append(el("p", {class: "muted"}, `and ${number(data.runs.length - 20)} more`));
}

function trends() {
  const other = data.compare;
  if (!other) return;
  const part = section(main, "trends", `Compared with ${other.path}`), old = other.totals;
  const row = (title, before, after, lessIsBetter, text = number) => [title, text(before), text(after), el("td", {class: "right " + (before === after || lessIsBetter === null ? "" : (after < before) === lessIsBetter ? "good" : "bad")},
    before === after ? "same" : (after > before ? "+" : "−") + text(Math.abs(after - before)))];
  const ratio = value => (100 * value).toFixed(2) + " %";
  part.append(plainTable(["", "Before", "Now", "Change"], [row("Packages", old.packages, totals.packages, null), row("Files measured", old.measured, totals.measured, null),
    row("Refused or failed", old.refused + old.failed, totals.refused + totals.failed, true),
    row("Executable bytes covered", share(old.covered_bytes, old.executable_bytes), share(totals.covered_bytes, totals.executable_bytes), false, ratio),
    row("SFrame, of CFI", share(old.sframe_shared, cfiBytes(old)), share(totals.sframe_shared, cfiBytes(totals)), true, ratio),
    row("Errors", findingsOf(old, "errors"), findingsOf(totals, "errors"), true),
    row("Warnings", findingsOf(old, "warnings"), findingsOf(totals, "warnings"), true), row("Functions that contradict", old.contradiction, totals.contradiction, true)], [1, 2, 3]));
  const kinds = other.findings.filter(kind => kind.old !== kind.new && kind.severity !== "note");
  if (kinds.length) part.append(el("h3", {}, "Findings"), plainTable(["ID", "Severity", "Before", "Now", "Change"], kinds.map(kind => {
    const [id, before, now, change] = row(`${kind.id} ${titleOf(kind)}`, kind.old, kind.new, true);
    return [id, kind.severity, before, now, change];
  }), [2, 3, 4]));
  part.append(el("h3", {}, "Files"), el("p", {class: "muted"}, `${count(other.same, "file")} with the same results. Better: fewer errors, or more bytes covered.`));
  if (other.changed_left_out) part.append(notice(`${count(other.changed_left_out, "changed file")} not in this page.`));
  const of = (side, key) => side?.[key] ?? 0;
  const how = row => !row.old ? "new" : !row.new ? "gone" : of(row.new, "errors") !== of(row.old, "errors") ? (of(row.new, "errors") < of(row.old, "errors") ? "better" : "worse") :
    share(of(row.new, "covered_bytes"), of(row.new, "executable_bytes")) > share(of(row.old, "covered_bytes"), of(row.old, "executable_bytes")) ? "better" :
    share(of(row.new, "covered_bytes"), of(row.new, "executable_bytes")) < share(of(row.old, "covered_bytes"), of(row.old, "executable_bytes")) ? "worse" : "other";
  part.append(masterDetail({label: "Changed files", noun: "changed file", rows: other.changed, columns: [
    {title: "Change", value: how, width: "9ch", cell: row => el("span", {class: {better: "good", worse: "bad"}[how(row)] ?? "muted"}, how(row))},
    {title: "File", value: row => row.path, width: "minmax(0, 1fr)"}, {title: "Package", value: row => row.package, width: "minmax(0, .6fr)", wide: true},
    {title: "Errors", value: row => of(row.new, "errors") - of(row.old, "errors"), text: row => `${of(row.old, "errors")} → ${of(row.new, "errors")}`, width: "12ch", right: true}]},
  row => [el("h3", {}, row.path), facts([["Package", row.package]]), plainTable(["", "Before", "Now"], ["state", "errors", "warnings", "executable_bytes", "covered_bytes", "sframe_shared"].map(key =>
    [key.replaceAll("_", " "), ...[row.old, row.new].map(side => side ? (typeof side[key] === "number" ? number(side[key]) : side[key] ?? "–") : "–")]), [1, 2])], "Choose a file.").element);
}

/** Code lines {address, text, row?, here?}. */
function listing(lines, label) {
  return el("div", {class: "code", tabindex: 0, role: "region", "aria-label": label}, lines.flatMap(line => [line.row ? el("div", {class: "row-text"}, "  " + line.row) : null,
    el("div", {class: line.here ? "here" : null}, `${line.here ? "▸" : " "} ${line.address}  ${line.text}`)]).filter(Boolean));
}

function showFinding(kind) {
  const example = kind.example;
  const head = [el("h3", {}, el("span", {class: "tag " + severityKind[kind.severity]}, kind.severity), ` ${kind.id} ${data.titles[kind.id] ?? ""}`),
    facts([["Findings", number(kind.findings)], ["Functions", number(kind.functions)], ["Files", number(kind.files)], ["Reader", kind.profile === "spec" ? null : kind.profile],
      ["Also in the CFI", kind.in_cfi ? "yes: the compiler's CFI is the cause" : null]]),
    el("p", {class: "muted"}, "Meaning: ", el("code", {}, `sframe-verify --explain ${kind.id}`))];
  const worst = kind.worst.length ? [el("h3", {}, "Files with most of them"), plainTable(["File", "Package", "Findings"], kind.worst.map(row => [row.path, row.package, number(row.findings)]), [2])] : [];
  if (!example) return [...head, ...worst];
  const sources = [["SFrame", example.sframe], ["CFI", example.cfi], ["Machine code", example.code]].filter(([, text]) => text);
  const evidence = example.evidence, rows = new Map((evidence?.rows ?? []).map(row => [row.address, `cfa=${row.cfa} ra=${row.ra} fp=${row.fp}`]));
  return [...head, el("h3", {}, "Example"), el("p", {}, example.message),
    facts([["File", example.path], ["Package", example.package], ["Compiler", example.compiler], ["Function", example.function && el("code", {}, example.function)], ["Address", example.pc && el("code", {}, example.pc)], ["Source", example.source]]),
    sources.length ? facts(sources.map(([name, text]) => [name, el("code", {}, text)])) : null,
    evidence?.instructions?.length ? listing(evidence.instructions.map(line => ({...line, row: rows.get(line.address), here: line.address === evidence.at})), "Instructions") :
      example.instruction ? listing([{address: example.pc ?? "", text: example.instruction, here: true}], "Instruction") : null, ...worst].filter(Boolean);
}

function findingsPart() {
  const part = section(main, "findings", "Findings");
  const list = masterDetail({label: "Kinds of findings", noun: "kind", rows: data.findings, chosen: kind => state.set("finding", data.findings.indexOf(kind)), columns: [
    {title: "Severity", value: kind => ({error: 0, warning: 1, note: 2})[kind.severity], text: kind => kind.severity, width: "10ch", cell: kind => el("span", {class: severityKind[kind.severity]}, kind.severity)},
    {title: "ID", value: kind => kind.id, width: "7ch"}, {title: "Finding", value: titleOf, width: "minmax(0, 1fr)"},
    columns.number("Files", kind => kind.files, "9ch", true), columns.number("Functions", kind => kind.functions, "11ch", true), columns.number("Findings", kind => kind.findings)]},
  showFinding, "Select a kind to see an example.");
  part.append(list.element);
  const wanted = data.findings[Number(state.get("finding") ?? 0)];
  if (wanted) list.grid.reveal(wanted);
}

function compilersPart() {
  const part = section(main, "compilers", "Compilers");
  part.append(new Grid({label: "Compilers", noun: "compiler", rows: data.compilers, columns: [{title: "Compiler", value: row => row.compiler, width: "minmax(0, 1fr)"},
    {title: "Language", value: row => row.language, width: "12ch"}, {title: "ABI", value: row => row.abi, width: "11ch", wide: true}, columns.number("Files", row => row.files, "9ch", true),
    columns.number("Code, bytes", row => row.executable_bytes, "15ch", true), covered, ofCfi, columns.number("Contradict", row => row.contradiction, "11ch", true), columns.number("Errors", row => row.errors, "9ch")]}).element);
  if (!data.wrong_cfi.length) return;
  part.append(el("h3", {}, "Wrong CFI"), el("p", {class: "muted"}, "Rows of the CFI that the code proves wrong, by compiler and pattern."), masterDetail({
    label: "Wrong CFI", noun: "pattern", rows: data.wrong_cfi, columns: [{title: "Compiler", value: row => row.compiler, width: "minmax(0, .6fr)"}, {title: "Pattern", value: row => row.pattern, width: "minmax(0, 1fr)"},
      columns.number("Places", row => row.places, "9ch"), columns.number("Files", row => row.files, "8ch", true)]},
  row => [el("h3", {}, row.pattern), facts([["Compiler", row.compiler], ["Places", `${number(row.places)} in ${number(row.functions)} functions of ${count(row.files, "file")}`], ["Example in", row.path], ["Package", row.package],
    ["Function", row.example?.function && el("code", {}, row.example.function)], ["Source", row.example?.file && `${row.example.file}:${row.example.line}`]]),
  row.example?.lines ? listing(row.example.lines.map(line => ({address: line.address ?? line.pc, text: line.instruction, row: line.code ? `CFI ${line.cfi}; right: ${line.code}` : line.cfi, here: Boolean(line.code)})), "Instructions") :
    row.example?.instructions ? listing(row.example.instructions.map(line => ({address: line.address ?? line.pc, text: line.text ?? line.instruction, row: line.code ? `CFI ${line.cfi}; right: ${line.code}` : line.cfi, here: Boolean(line.code)})), "Instructions") : null].filter(Boolean),
  "Choose a pattern to see an example.").element);
}

function packagesPart(showFiles) {
  const part = section(main, "packages", "Packages");
  const list = masterDetail({label: "Packages", roomy: true, noun: "package", rows: packages, columns: [{title: "Package", value: row => row.name || row.id, width: "minmax(0, 1fr)"},
    {title: "Architecture", value: row => row.architecture, width: "13ch", wide: true}, columns.number("Files", row => row.files, "8ch", true), columns.number("Code, bytes", row => row.executable_bytes, "14ch", true), covered, ofCfi,
    columns.number("Errors", row => row.errors, "9ch")]},
  row => [el("h3", {}, `${row.name} ${row.version}`), row.failure ? notice(row.failure, "bad") : null, facts([["Package", row.id], ["Architecture", row.architecture], ["State", row.state], ["ELF files", number(row.elf_files)],
    ["Executable bytes", number(row.executable_bytes)], ["Covered", percent(row.covered_bytes, row.executable_bytes)], ["SFrame", `${number(row.sframe_shared)} bytes, ${percent(row.sframe_shared, cfiBytes(row))} of CFI`],
    ["Errors, warnings, notes", `${number(row.errors)}, ${number(row.warnings)}, ${number(row.notes)}`]]), verdictBar(row),
  el("p", {}, el("button", {type: "button", onclick: () => showFiles(row.id)}, "Show its files"))], "Choose a package.");
  part.append(list.element);
}

function filesPart() {
  const part = section(main, "files", "Files");
  if (data.files_left_out) part.append(notice(`${count(data.files_left_out, "file")} not in this page: those with fewest errors and least code. They are counted above.`));
  const list = masterDetail({label: "Files", roomy: true, noun: "file", rows: files, chosen: row => state.set("file", row.id), columns: [{title: "File", value: row => row.path, width: "minmax(0, 1.4fr)"},
    {title: "Package", value: row => row.package, width: "minmax(0, .8fr)", wide: true}, {title: "Language", value: row => row.language, width: "10ch", wide: true}, columns.number("Code, bytes", row => row.executable_bytes, "13ch", true), covered, ofCfi,
    columns.number("Errors", row => row.errors, "8ch"), {title: "Seconds", value: row => row.seconds, text: row => fixed(row.seconds, 2), width: "9ch", right: true, wide: true}]},
  row => [el("h3", {}, row.path), row.failure ? notice(row.failure, "bad") : null, facts([["Package", row.package], ["Build ID", el("code", {}, row.id)], ["State", row.state], ["Kind", `${row.abi}, ${row.kind}`], ["Language", row.language], ["Compiler", row.compiler],
    ["Executable bytes", row.executable_bytes === null ? null : `${number(row.executable_bytes)}, ${percent(row.covered_bytes, row.executable_bytes)} covered`], ["With CFI", row.cfi_bytes === null ? null : `${number(row.cfi_bytes)}, ${percent(row.covered_cfi_bytes, row.cfi_bytes)} covered`],
    ["SFrame", row.sframe_shared === null ? null : `${number(row.sframe_shared)} bytes, ${percent(row.sframe_shared, cfiBytes(row))} of CFI; optimized ${number(row.sframe_optimized ?? 0)}`],
    ["Rows", row.rows === null ? null : `${number(row.rows)} of ${number(row.functions)} functions`], ["Errors, warnings, notes", row.errors === null ? null : `${number(row.errors)}, ${number(row.warnings)}, ${number(row.notes)}`],
    ["Time and memory", `${fixed(row.seconds, 2)} s, ${fixed(row.memory / 1048576)} MiB`]]), row.agree === null ? null : verdictBar(row)], "Choose a file.");
  part.append(list.element);
  const wanted = state.get("file") && files.find(row => row.id === state.get("file"));
  if (wanted) list.grid.reveal(wanted);
  return list.grid;
}

function sizesPart() {
  const part = section(main, "sizes", "Sizes"), groups = new Map();
  for (const row of data.compilers) {
    const key = `${row.language}\n${row.abi}`, group = groups.get(key) ?? {language: row.language, abi: row.abi, sframe: 0, optimized: 0, cfi: 0, loaded: 0};
    group.sframe += row.sframe_shared, group.optimized += row.sframe_optimized, group.cfi += cfiBytes(row), group.loaded += row.loaded_bytes;
    groups.set(key, group);
  }
  const list = [...groups.values()].sort((a, b) => b.sframe - a.sframe);
  part.append(el("div", {class: "columns"}, treemap("Bytes of SFrame by language", list.slice(0, 40).map((group, i) => ({label: `${group.language}, ${group.abi}`, value: group.sframe, color: colors[i % colors.length], note: `${number(group.sframe)} bytes, ${percent(group.sframe, group.cfi)} of CFI`}))),
    plainTable(["Language", "ABI", "SFrame", "Size, of CFI", "Optimized", "Of loaded"], list.map(group => [group.language, group.abi, number(group.sframe), percent(group.sframe, group.cfi), percent(group.optimized, group.cfi), percent(group.sframe, group.loaded)]), [2, 3, 4, 5])));
  if (data.profiles.length) part.append(el("h3", {}, "Sections for one reader"), plainTable(["ABI", "Reader", "Version", "Files", "Bytes", "Covered", "Errors"], data.profiles.map(row =>
    [row.abi, row.reader, row.version, number(row.files), number(row.sframe), percent(row.covered_bytes, row.executable_bytes), number(row.errors)]), [3, 4, 5, 6]));
  if (data.reasons.length) part.append(el("h3", {}, "What was left out"), plainTable(["ABI", "Reason", "Files", "Times", "Bytes"], data.reasons.map(row =>
    [row.abi, row.reason, number(row.files), number(row.times), number(row.bytes)]), [2, 3, 4]));
}

function failuresPart() {
  const part = section(main, "failures", "Failures");
  part.append(masterDetail({label: "Failures", noun: "failure", rows: data.failures, columns: [{title: "What", value: row => row.what, width: "9ch"}, {title: "Name", value: row => row.name, width: "minmax(0, .8fr)"},
    {title: "Reason", value: row => row.failure, width: "minmax(0, 1fr)"}]}, row => [el("h3", {}, row.name), facts([["Package", row.package]]), notice(row.failure, "bad")], "Choose a failure.").element);
}

overview();
trends();
findingsPart();
compilersPart();
sizesPart();
let grid;
packagesPart(id => { grid.input.value = grid.query = id; grid.update(); document.getElementById("files").scrollIntoView(); grid.view.focus({preventScroll: true}); });
grid = filesPart();
failuresPart();
