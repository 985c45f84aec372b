// The page of sframe-verify --format=html. Its data: docs/json.md, with what HtmlFormat adds (checks, causes,
// instructions, version, command_line).

const severityKind = {error: "bad", warning: "doubtful", note: "muted"};
const severityRank = {error: 0, warning: 1, note: 2};
const files = data.files;
const findings = files.flatMap((file, number) => file.findings.map(finding => ({...finding, at: number, path: file.path})));
findings.forEach((finding, number) => { finding.number = number; });

const titleOf = id => data.checks[id]?.title ?? "";

/** "FAILED: 7 errors in bash", "PASSED: 3 files, 12 warnings". */
function heading() {
  const result = data.result, what = [];
  if (result.errors) what.push(count(result.errors, "error"));
  if (result.not_verified) what.push(`${count(result.not_verified, "file")} not verified`);
  if (!what.length && result.warnings) what.push(count(result.warnings, "warning"));
  const where = files.length === 1 ? fileName(files[0].path) : count(files.length, "file");
  setTitle(result.passed ? "PASSED" : "FAILED", what.length ? `${what.join(", ")} in ${where}` : where, result.passed ? "good" : "bad");
  aboutPage([["Version", data.version], ["Command", data.command_line && el("code", {}, data.command_line)],
    ["File", files.length === 1 && el("code", {}, files[0].path)], ["Build ID", files.length === 1 && files[0].build_id && el("code", {}, files[0].build_id)]]);
}

const total = key => files.reduce((sum, file) => sum + file.summary[key], 0);

function coverageText(key) {
  const bytes = files.map(file => file.summary[key]);
  const all = bytes.reduce((sum, b) => sum + b.total, 0), covered = bytes.reduce((sum, b) => sum + b.covered, 0);
  return [percent(covered, all), `${number(covered)} of ${number(all)} bytes`];
}

function overview() {
  const part = section(main, "overview", "Overview");
  for (const file of files.filter(file => file.error))
    part.append(notice(`${file.path}: ${file.error.message}` + (file.error.section ? ` (section ${file.error.section}` +
      (file.error.offset !== undefined ? `, offset ${hex(file.error.offset)})` : ")") : ""), "bad"));
  if (data.result.missing.length)
    part.append(notice(`${count(data.result.missing.length, "file")} with code and CFI ${data.result.missing.length === 1 ? "has" : "have"} no section: ` +
      data.result.missing.slice(0, 20).join(", ") + (data.result.missing.length > 20 ? ", …" : "")));
  part.append(bar("Functions by verdict", [
    {label: "agree", value: total("agree"), color: "var(--good)"},
    {label: "contradiction", value: total("contradiction") - total("contradiction_in_cfi"), color: "var(--bad)"},
    {label: "contradiction, also in the CFI", value: total("contradiction_in_cfi"), color: "var(--s3)"},
    {label: "undecided", value: total("undecided"), color: "var(--s7)"},
    {label: "unreached", value: total("unreached"), color: "var(--line)"}]));
  part.append(figures([
    ["Functions", number(total("functions")), `${number(total("addresses"))} addresses compared`],
    ["Errors", number(total("errors")), null, total("errors") ? "bad" : ""],
    ["Warnings", number(total("warnings")), null, total("warnings") ? "doubtful" : ""],
    ["Notes", number(total("notes"))],
    total("baseline") ? ["In the baseline", number(total("baseline")), "not reported again"] : null,
    ["Executable bytes covered", ...coverageText("executable_bytes")],
    ["Bytes with CFI covered", ...coverageText("pc_bytes")]]));
  if (data.run) {
    const run = data.run;
    part.append(el("h3", {}, "The program that was run"), facts([["Command", el("code", {}, commandLine(run.command))], ["End", run.end],
      ["Steps", `${number(run.steps)}: ${number(run.steps_compared)} compared, ${number(run.steps_elsewhere)} in other code, ` +
        `${number(run.steps_without_row)} without a row`]]));
  }
}

function filesPart(show) {
  if (files.length < 2) return;
  const part = section(main, "files", "Files");
  const column = (title, key) => ({title, width: "9ch", right: true, wide: key !== "errors", value: file => file.summary[key], text: file => number(file.summary[key])});
  part.append(new Grid({label: "Files", noun: "file", rows: files, sort: {column: 1, down: true}, select: file => show(file),
    columns: [{title: "File", value: file => file.path, width: "minmax(0, 1fr)", path: true}, {...column("Errors", "errors"), wide: false},
      column("Warnings", "warnings"), column("Notes", "notes"), {...column("Functions", "functions"), width: "11ch"}, {...column("Agree", "agree"), width: "10ch"},
      {...column("Contradict", "contradiction"), width: "12ch"}]}).element,
  el("p", {class: "muted"}, "Select a file to see its findings."));
}

/** "cfa=sp+16 ra=[cfa-8] fp=same" as its parts; null if the text has another form. */
function rules(text) {
  const parts = Object.fromEntries((text ?? "").split(" ").map(part => { const at = part.indexOf("="); return [part.slice(0, at), part.slice(at + 1)]; }));
  return parts.cfa !== undefined ? parts : null;
}

/** What each source states, one beside the other; what differs from SFrame is marked. */
function evidence(finding) {
  const sources = [["SFrame", finding.sframe], ["CFI", finding.cfi], ["Machine code", finding.code], ["ORC", finding.orc]].filter(([, text]) => text);
  if (!sources.length) return null;
  const parsed = sources.map(([, text]) => rules(text));
  if (parsed.some(rule => !rule))
    return [el("h3", {}, "Evidence"), facts(sources.map(([name, text]) => [name, el("code", {}, text)]))];
  const keys = [...new Set(parsed.flatMap(Object.keys))], own = finding.sframe ? parsed[0] : null;
  return [el("h3", {}, "Evidence"), plainTable(["", ...sources.map(([name]) => name)], keys.map(key => [key.toUpperCase(),
    ...parsed.map(rule => el("td", {class: own && rule[key] !== undefined && rule[key] !== own[key] ? "differs" : null}, el("code", {}, rule[key] ?? "–")))]))];
}

function instructions(finding) {
  const lines = finding.instructions;
  if (!lines?.length && !finding.instruction) return null;
  if (!lines?.length) return [el("h3", {}, "Instruction"), el("div", {class: "code"}, el("div", {class: "here"}, finding.instruction))];
  return [el("h3", {}, "Instructions, and the rows of SFrame"), el("div", {class: "code", tabindex: 0, role: "region", "aria-label": "Instructions"},
    lines.flatMap(line => [
      line.row ? el("div", {class: "row-text"}, `  ${line.row}`) : null,
      el("div", {class: line.here ? "here" : null}, `${line.here ? "▸" : " "} ${line.pc}  ${line.text ?? ""}`)]).filter(Boolean))];
}

function showFinding(finding) {
  const check = data.checks[finding.id];
  const range = finding.end && BigInt(finding.end) > BigInt(finding.pc ?? 0) + 1n ? `${finding.pc} to ${hex(BigInt(finding.end) - 1n)}` : finding.pc;
  return [
    el("h3", {}, el("span", {class: "tag " + severityKind[finding.severity]}, finding.severity), ` ${finding.id} ${titleOf(finding.id)}`),
    el("p", {}, finding.message),
    facts([["Function", finding.function && el("code", {}, finding.function)], ["Address", range && el("code", {}, range)],
      ["Source", finding.file && `${finding.file}:${finding.line}`], ["File", finding.path], ["Build ID", files.length > 1 && files[finding.at].build_id ? el("code", {}, files[finding.at].build_id) : null],
      ["Code section", finding.code_section],
      ["Wrong bytes", finding.section && `section ${finding.section}` + (finding.offset !== null ? `, offset ${hex(finding.offset)}` : "")]]),
    ...(finding.in_cfi ? [el("p", {class: "muted"}, "The CFI has the same rule: its producer, not the SFrame section, is the cause.")] : []),
    ...(evidence(finding) ?? []), ...(instructions(finding) ?? []),
    ...(check ? [el("h3", {}, "Meaning"), el("p", {}, check.text)] : [])];
}

function causeList() {
  const causes = new Map();
  files.forEach(file => (file.causes ?? []).forEach(cause => {
    const key = `${cause.id} ${cause.severity} ${cause.in_cfi}`;
    const known = causes.get(key);
    if (known) known.count += cause.count, known.shown += cause.shown;
    else causes.set(key, {...cause});
  }));
  return [...causes.values()].sort((a, b) => severityRank[a.severity] - severityRank[b.severity] || b.count - a.count || (a.id < b.id ? -1 : 1));
}

heading();
overview();
const causes = causeList();
let fileShown = null, causeShown = null, severityShown = null;
const severityButtons = ["error", "warning", "note"].map(severity => el("button", {type: "button", "aria-pressed": "false", "data-severity": severity, onclick() {
  severityShown = severityShown === severity ? null : severity;
  applyFilter();
}}, `${severity}s ${number(causes.filter(cause => cause.severity === severity).reduce((sum, cause) => sum + cause.count, 0))}`));
const list = masterDetail({
  label: "Findings", noun: "finding", rows: findings, sort: {column: 0, down: false}, tools: [el("div", {class: "filters", role: "group", "aria-label": "Severities"}, severityButtons)], chosen: finding => state.set("finding", finding.number),
  columns: [
    {title: "Severity", value: f => severityRank[f.severity], text: f => f.severity, width: "10ch",
      cell: f => el("span", {class: severityKind[f.severity]}, f.severity)},
    {title: "ID", value: f => f.id, width: "7ch"},
    {title: "Function", value: f => f.function ?? "", width: "minmax(0, 1.2fr)"},
    // The message can be searched, too.
    {title: "Finding", value: f => titleOf(f.id), text: f => `${titleOf(f.id)}: ${f.message}`, cell: f => titleOf(f.id), width: "minmax(0, 1.8fr)", wide: true},
    {title: "Address", value: f => f.pc ? BigInt(f.pc) : -1n, text: f => f.pc ?? "", width: "13ch", wide: true},
    ...(files.length > 1 ? [{title: "File", value: f => f.path, width: "minmax(0, .8fr)", wide: true, path: true}] : [])],
}, showFinding, findings.length ? "Select a finding to see its evidence." : "There is nothing to report.");

const everything = el("button", {type: "button", hidden: ""}, "Show all findings");
function applyFilter() {
  const filters = [fileShown && (finding => finding.path === fileShown.path), severityShown && (finding => finding.severity === severityShown),
    causeShown && (finding => finding.id === causeShown.id && finding.severity === causeShown.severity && Boolean(finding.in_cfi) === causeShown.in_cfi)].filter(Boolean);
  list.grid.setFilter(filters.length ? finding => filters.every(filter => filter(finding)) : null);
  everything.hidden = !fileShown && !causeShown;
  everything.textContent = `Show all findings (now: ${[fileShown && fileName(fileShown.path), causeShown?.id].filter(Boolean).join(", ")})`;
  for (const button of document.querySelectorAll(".causes button")) button.setAttribute("aria-pressed", String(causes[button.dataset.number] === causeShown));
  for (const button of severityButtons) button.setAttribute("aria-pressed", String(button.dataset.severity === severityShown));
}
everything.addEventListener("click", () => { fileShown = causeShown = severityShown = null; applyFilter(); });
filesPart(file => { fileShown = file; applyFilter(); });

const part = section(main, "causes", "Causes");
if (!causes.length) part.append(el("p", {class: "good"}, "No findings."));
part.append(el("ul", {class: "causes"}, causes.map((cause, number) => el("li", {}, el("button", {type: "button", "aria-pressed": "false", "data-number": number, onclick() {
  causeShown = causeShown === cause ? null : cause;
  applyFilter();
  if (causeShown) document.getElementById("findings").scrollIntoView();
}}, el("span", {class: "mono"}, cause.id), el("span", {class: severityKind[cause.severity]}, cause.severity),
el("span", {}, titleOf(cause.id) + (cause.in_cfi ? " (also in the CFI)" : "")), el("b", {}, count(cause.count, "finding")))))));

const findingsPart = section(main, "findings", "Findings");
const left = causes.reduce((sum, cause) => sum + cause.count - cause.shown, 0);
if (left) findingsPart.append(notice(`${count(left, "finding")} not in this page: it has at most ${number(data.most_of_a_kind)} of a kind for each file. ` +
  "They are counted above; --format=json has them."));
findingsPart.append(everything, list.element);
if (findings.length) {
  list.grid.reveal(findings[Number(state.get("finding") ?? -1)] ?? list.grid.shown[0]);
}
