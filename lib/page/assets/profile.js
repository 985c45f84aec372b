// The page of sframe-profile --format=html: lib/profile/src/html.cc makes its data.

const weight = value => data.unit === "microsecond" ? (value / 1e9).toLocaleString("en-US", {maximumFractionDigits: 3}) + " s" : count(value, data.unit);
const allWeight = data.threads.reduce((sum, thread) => sum + thread.weight, 0);
const cutSamples = data.samples - data.complete, lostSamples = data.lost.reduce((sum, cause) => sum + cause.count, 0);

function summaryPart() {
  const part = section(main, "summary", "Summary");
  part.append(figures([["Samples", number(data.samples), `${data.event}${data.period_ns ? `, every ${(data.period_ns / 1e6).toFixed(2)} ms` : ""}`],
    ["Complete stacks", percent(data.complete, data.samples), cutSamples ? `${number(cutSamples)} cut` : null, cutSamples ? "doubtful" : ""],
    ["Guessed", number(data.guessed), "with a frame that no table proves", data.guessed ? "doubtful" : ""],
    ["Lost samples", number(lostSamples), null, lostSamples ? "bad" : ""]]),
    facts([["Recorded", data.start_ns ? new Date(data.start_ns / 1e6).toISOString() : null], ["Duration", data.duration_ns ? (data.duration_ns / 1e9).toFixed(3) + " s" : null],
      ["Own cost", data.own_time_ns ? `${(data.own_time_ns / 1e6).toFixed(1)} ms of processor time` : null], ["Own memory", data.own_memory ? megabytes(data.own_memory) : null]]));
  const causes = [...data.cut.map(cut => ["cut", cut.cause, number(cut.count)]), ...data.lost.map(lost => ["lost", lost.cause, number(lost.count)])];
  if (causes.length) part.append(plainTable(["Stacks", "Cause", "Samples"], causes, [2]));
}

function graphPart() {
  if (!data.stacks.length) return;
  const text = data.stacks.map(([stack, all]) => `${stack} ${all} 0`).join("\n");
  const heading = svg("text", {class: "heading", "data-name": data.title, "data-samples": "0", "data-unit": data.unit});
  const stacks = svg("desc", {id: "stacks"}), picture = svg("g", {id: "picture"}), root = svg("svg", {"font-family": "monospace", "font-size": "12"}, heading, stacks, picture);
  stacks.textContent = text;
  section(main, "graph", "Flame graph").append(el("div", {}, root));
  drawFlameGraph(root);
}

function functionsPart() {
  const part = section(main, "functions", "Functions"), shareOf = value => percent(value, allWeight);
  if (data.all_functions > data.functions.length) part.append(el("p", {class: "muted"}, `The ${number(data.functions.length)} with the most own samples, of ${number(data.all_functions)}.`));
  part.append(masterDetail({
    label: "Functions", noun: "function", rows: data.functions,
    columns: [{title: "Function", value: row => row.name, width: "minmax(0, 1fr)"},
      {title: "Self", value: row => row.self, text: row => shareOf(row.self), width: "9ch", right: true},
      {title: "Total", value: row => row.total, text: row => shareOf(row.total), width: "9ch", right: true},
      {title: "Source", value: row => fileName(row.file), width: "minmax(0, .5fr)", wide: true}],
  }, row => [el("h3", {}, row.name), facts([["Self", weight(row.self)], ["Total", weight(row.total)], ["Source", row.file || null]])],
    "Choose a function. Self: it was running itself; total: it, or what it called.").element);
}

function threadsPart() {
  section(main, "threads", "Threads").append(plainTable(["Thread", "Process", "Samples", "Share"],
    data.threads.slice(0, 200).map(thread => [thread.name, String(thread.pid), number(thread.samples), percent(thread.weight, allWeight)]), [1, 2, 3]));
}

function filesPart() {
  const wrong = data.files.filter(file => file.problem);
  if (wrong.length) section(main, "files", "Files without names").append(plainTable(["File", "Problem"], wrong.map(file => [file.path, file.problem])));
}

summaryPart();
graphPart();
functionsPart();
threadsPart();
filesPart();
