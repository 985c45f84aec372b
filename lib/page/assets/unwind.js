// The page of sframe-unwind --format=html. Its data: docs/json.md, with frames {"left_out": N} in deep stacks.

const threads = data.threads.map(thread => ({...thread, tids: thread.tids ?? [thread.tid]}));
const crashed = data.crash ? threads.find(thread => thread.tids.includes(data.crash.tid)) : null;

/** The FDE of a function without a name, which is not a symbol. */
const frameFde = frame => frame.fde ? `<FDE ${frame.fde.start}> + ${hex(frame.fde.offset)}` : null;

function frameName(frame) {
  if (frame.left_out) return `… ${count(frame.left_out, "frame")} not in this page …`;
  return frame.function ?? frameFde(frame) ?? (frame.module ? `${fileName(frame.module)} + ${hex(frame.module_offset)}` : frame.pc);
}

const stepperText = {
  context: "the thread's registers", sframe: "SFrame", cfi: "DWARF CFI", signal: "a signal frame", "frame-pointer": "the frame pointer",
  analysis: "analysis of the code", scan: "a scan of the stack", "shadow-stack": "the hardware shadow stack"};

function sourcePart(at, text) {
  if (!at.file) return [];
  const first = text?.first;
  return [facts([["Source", `${at.file}:${at.line}`]]), text ? el("div", {class: "code", tabindex: 0, role: "region", "aria-label": "Source"},
    text.lines.map((line, i) => el("div", {class: first + i === at.line ? "here" : null}, `${String(first + i).padStart(5)}  ${line}`))) : null];
}

function variables(title, list) {
  return list?.length ? [el("h3", {}, title), plainTable(["Name", "Value"], list.map(v =>
    [el("code", {}, v.name), v.value === null ? el("span", {class: "muted"}, v.missing) : el("code", {}, v.value)]))] : [];
}

function showFrame(frame, thread) {
  if (frame.left_out) return [el("h3", {}, frameName(frame)), el("p", {}, "The page has the ends of deep stacks only; --format=json has all frames.")];
  const inlined = frame.inlined ?? [];
  return [
    el("h3", {}, frameName(frame), frame.function ? el("span", {class: "muted"}, ` + ${hex(frame.offset)}`) : null),
    facts([["Thread", thread && `${thread.tid} ${thread.name ?? ""}`], ["Address", el("code", {}, frame.pc)], ["CFA", frame.cfa && el("code", {}, frame.cfa)],
      ["Found by", el("span", {}, stepperText[frame.stepper] ?? frame.stepper, frame.trust === "heuristic" ? el("span", {class: "doubtful"}, " (heuristic)") : null)],
      ["Signal frame", frame.signal_frame ? "yes" : null],
      ["Module", frame.module && el("span", {}, frame.module, frame.module_offset !== undefined ? ` + ${hex(frame.module_offset)}` : "")],
      ["Build ID", frame.build_id && el("code", {}, frame.build_id)]]),
    ...inlined.flatMap(call => [el("h3", {}, `Inlined: ${call.function ?? "unknown"}`), ...sourcePart(call, call.text), ...variables("Parameters", call.args), ...variables("Local variables", call.locals)]),
    inlined.length ? el("h3", {}, frame.function) : null,
    ...sourcePart(frame, frame.text), ...variables("Parameters", frame.args), ...variables("Local variables", frame.locals),
    ...(frame.registers ? [el("h3", {}, "Registers"), el("div", {class: "registers"}, Object.entries(frame.registers).map(([name, value]) =>
      el("div", {}, el("span", {class: "muted"}, name), " ", el("code", {}, value))))] : [])];
}

/** Where the program's own code died, or was called. */
function placeText(place) {
  if (!place) return null;
  const known = place.args.filter(argument => argument.value !== null).map(argument => `${argument.name}=${argument.value}`).join(", ");
  return el("code", {}, `#${place.frame} ${place.function}${known ? ` (${known})` : ""} at ${place.file}:${place.line}`);
}

function instructionFacts(title, instruction) {
  if (!instruction) return [];
  return [[title, el("code", {}, `${instruction.pc}  ${instruction.text}`)],
    ["Registers read", el("code", {}, Object.entries(instruction.registers).map(([name, value]) => `${name}=${value}`).join(" "))]];
}

function crashPart() {
  const part = section(main, "summary", "Summary"), crash = data.crash;
  if (data.error) part.append(notice(`${data.error.file}: ${data.error.message}`, "bad"));
  if (data.signal) {
    const what = [data.signal_name, crash?.code_name].filter(Boolean).join(", ");
    part.append(notice(`${what}${crash?.meaning ? ": " + crash.meaning : ""}${crash?.guess ? ` (${crash.guess})` : ""}`, "bad"));
  }
  const first = crash?.first_fault;
  if (first) {
    const what = [first.signal_name, first.code_name].filter(Boolean).join(", ");
    part.append(notice(`First fault, in frame #${first.frame}: ${what}${first.meaning ? ": " + first.meaning : ""}${first.guess ? ` (${first.guess})` : ""}`, "bad"));
  }
  if (crash?.thrown) {
    const {language, type, message, place} = crash.thrown;
    part.append(notice(`${language === "C++" ? "Exception" : "Panic"}: ${[type, message].filter(Boolean).join(": ")}${place ? `, at ${place}` : ""}`, "bad"));
  }
  if (crash?.message) part.append(el("pre", {class: "code"}, crash.message));
  const incomplete = threads.filter(thread => !thread.end.complete).reduce((sum, thread) => sum + thread.tids.length, 0);
  const all = threads.reduce((sum, thread) => sum + thread.tids.length, 0);
  const pack = p => p && (p.version ? `${p.name} ${p.version}` : p.name);
  part.append(facts([["Process", data.pid], ["Command", data.command?.length ? el("code", {}, commandLine(data.command) + (data.command_complete ? "" : " …")) : null],
    ["Program", data.executable], ["Package", pack(data.package)], ["Time", data.time], ["Host", data.host],
    ["Runtime", data.runtimes?.map(runtime => [runtime.name, runtime.version].filter(Boolean).join(" ") +
      (runtime.problem ? `: nothing is shown of it: ${runtime.problem}` : "")).join(", ")],
    ["Where", placeText(crash?.where)], ["Called by", placeText(crash?.called_by)], ["Goroutine", crash?.goroutine],
    ["Sender", crash?.sender && `process ${crash.sender.pid}, user ${crash.sender.user}`], ["Library's package", pack(crash?.package)],
    ...instructionFacts(first ? "Instruction" : "Faulting instruction", crash?.instruction), ...instructionFacts("Faulting instruction", first?.instruction),
    ["Signature", data.signature && el("code", {}, data.signature)],
    ["Threads", `${number(all)}` + (incomplete ? `, ${number(incomplete)} of them ended early` : "")]]));
}

/** A stack as rows, innermost frame first, each after the calls that are inlined there; equal frames in sequence are one row. */
function stackRows(thread) {
  const rows = [];
  let place = 0;
  for (const frame of thread.frames) {
    const last = rows.at(-1);
    if (last && !frame.left_out && last.frame.function !== undefined && last.frame.function === frame.function && last.frame.module === frame.module &&
        last.frame.pc === frame.pc && !last.frame.inlined?.length) ++last.times;
    else rows.push(...(frame.inlined ?? []).map(call => ({frame, thread, call, place})), {frame, thread, times: 1, place});
    place += frame.left_out ?? 1;
  }
  return rows;
}

const rowName = row => row.call ? row.call.function ?? "inlined call" : frameName(row.frame) + (row.times > 1 ? ` × ${number(row.times)}` : "");

function rowSource(row) {
  const at = row.call ?? row.frame;
  return at.file ? `${fileName(at.file)}:${at.line}` : "";
}

function rowTag(row) {
  if (row.call) return el("span", {class: "tag muted"}, "inlined");
  if (row.frame.signal_frame) return el("span", {class: "tag"}, "signal");
  return row.frame.trust === "heuristic" ? el("span", {class: "tag doubtful"}, "heuristic") : null;
}

/** As wide as the longest text, within bounds. */
const columnWidth = (rows, text) => Math.min(Math.max(8, ...rows.map(row => text(row).length)) * .9 + 2, 24) + "ch";

/** The number of the frame that a reader wants first: of the first fault, of the program's own code with debug information, or
 * of a file that is not the system's. */
function cause(thread) {
  const own = thread.frames.findIndex(frame => frame.module && !/^\/(usr\/)?lib(32|64)?\//.test(frame.module) && frame.module.startsWith("/"));
  return data.crash.first_fault?.frame ?? data.crash.where?.frame ?? Math.max(own, 0);
}

/** The interpreter's frames of a thread. */
function pythonStack(python) {
  return [el("h3", {}, `Python${python.holds_gil ? ", holds the global interpreter lock" : ""}`),
    plainTable(["#", "Function", "Source"], python.frames.map((frame, i) => [String(i), el("code", {}, frame.function), frame.file + (frame.line ? `:${frame.line}` : "")])),
    python.problem ? notice(`Ended early: ${python.problem}.`) : null].filter(Boolean);
}

function stackPart(id, title, thread) {
  const part = section(main, id, title);
  if (!thread.end.complete) part.append(notice(`Ended early: ${thread.end.reason}.`));
  if (thread.overwritten) part.append(notice(`The stack was overwritten: frame ${thread.overwritten.frame} has the return address ` +
    `${thread.overwritten.return_address}, the shadow stack ${thread.overwritten.shadow_stack}.`, "bad"));
  if (thread.python) part.append(...pythonStack(thread.python), el("h3", {}, "Native frames"));
  const all = stackRows(thread);
  const list = masterDetail({
    label: title, noun: "row", rows: all, chosen: row => state.set("frame", row.place),
    columns: [{title: "#", value: row => row.place, text: row => row.call ? "" : String(row.place), width: "6ch", right: true},
      {title: "Function", value: rowName, width: "minmax(14ch, 1fr)", cell: row => el("span", {class: row.call ? "call" : null}, rowTag(row), rowName(row))},
      {title: "Module", value: row => fileName(row.frame.module), width: columnWidth(all, row => fileName(row.frame.module)), wide: true},
      {title: "Source", value: rowSource, width: columnWidth(all, rowSource), wide: true, path: true},
      {title: "Found by", value: row => row.frame.stepper ?? "", text: row => row.call ? "" : row.frame.stepper ?? "", width: "11ch",
        cell: row => el("span", {class: row.frame.trust === "heuristic" ? "doubtful" : "muted"}, row.call ? "" : row.frame.stepper ?? "")}],
  }, row => showFrame(row.frame, row.thread), "Choose a frame to see its registers and source.");
  part.append(list.element);
  const wanted = state.get("frame") ?? (thread === crashed ? String(cause(thread)) : null);
  const at = all.find(row => !row.call && String(row.place) === wanted) ?? all.find(row => !row.call);
  if (at) list.grid.reveal(at);
}

/** All stacks as a tree of their common frames, outermost first. */
function makeTree() {
  const root = {children: new Map(), threads: [], count: 0, depth: -1};
  for (const thread of threads) {
    let at = root;
    const frames = [...thread.frames].reverse();
    if (!thread.end.complete) frames.unshift({early: `ended early: ${thread.end.reason}`});
    frames.forEach((frame, i) => {
      const key = frame.early ?? (frame.left_out ? `left out ${frame.left_out}` : `${frame.function ?? frameName(frame)}\n${frame.module ?? ""}`);
      let next = at.children.get(key);
      if (!next) at.children.set(key, next = {key, frame, thread, parent: at, children: new Map(), threads: [], ends: [], count: 0, frames: []});
      next.count += thread.tids.length;
      next.threads.push(thread);
      if (next.frames.length < 200) next.frames.push({frame, thread});
      if (i === frames.length - 1) next.ends.push(thread);
      at = next;
    });
  }
  // Only where stacks part is a line indented; those with most threads come first.
  const arrange = [[root, 0]];
  while (arrange.length) {
    const [node, level] = arrange.pop();
    node.level = level;
    node.list = [...node.children.values()].sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
    const parts = node.list.length > 1 || (node !== root && node.ends.length && node.list.length);
    node.list.forEach(child => arrange.push([child, level + (parts && node !== root ? 1 : 0)]));
    node.open = true;
  }
  return root;
}

function treePart() {
  const part = section(main, "threads", "All threads"), root = makeTree();
  const visible = () => {
    const rows = [], pending = [...root.list].reverse();
    while (pending.length) {
      const node = pending.pop();
      rows.push(node);
      if (node.open) pending.push(...[...node.list].reverse());
    }
    return rows;
  };
  const name = node => node.frame.early ?? frameName(node.frame);
  const toggle = (node, open) => {
    if (!node?.list.length || node.open === open) return false;
    node.open = open;
    const top = list.grid.view.scrollTop;
    list.grid.setRows(visible());
    list.grid.view.scrollTop = top;
    return true;
  };
  const threadName = thread => thread.tids.length > 1 ? `${thread.tids.length} threads from ${thread.tid}` : `${thread.tid}${thread.name ? " " + thread.name : ""}`;
  const list = masterDetail({
    label: "Threads, by their common frames", noun: "line", role: "treegrid", height: 26, rows: visible(),
    tools: [el("button", {type: "button", onclick: () => setAll(true)}, "Open all"), el("button", {type: "button", onclick: () => setAll(false)}, "Close all")],
    columns: [
      {title: "Threads", value: node => node.count, width: "6ch", right: true},
      {title: "Function", width: "minmax(0, 1fr)", value: node => name(node) + (node.ends.length ? "  ← " + node.ends.map(threadName).join(", ") : ""),
        cell: node => el("span", {style: {"padding-left": Math.min(node.level, 24) * 14 + "px"}},
          node.list.length ? el("button", {type: "button", class: "twist", tabindex: -1, "aria-label": node.open ? "Close" : "Open",
            onclick: event => { event.stopPropagation(); toggle(node, !node.open); }}, node.open ? "▾" : "▸") : el("span", {class: "twist"}),
          name(node), node.frame.module && node.frame.function ? el("span", {class: "muted"}, `  (${fileName(node.frame.module)})`) : null,
          node.ends.length ? el("strong", {}, "  ← " + node.ends.slice(0, 4).map(threadName).join(", ") + (node.ends.length > 4 ? ` and ${node.ends.length - 4} more` : "")) : null)}],
  }, node => {
    if (node.frame.early) return [el("h3", {}, name(node)), el("p", {}, `${count(node.count, "thread")}.`)];
    const place = el("div", {}), choice = el("select", {"aria-label": "Thread", onchange: () => place.replaceChildren(...showFrame(node.frames[choice.selectedIndex].frame, node.frames[choice.selectedIndex].thread).filter(Boolean))},
      node.frames.map(({thread}, i) => el("option", {value: i}, threadName(thread))));
    place.append(...showFrame(node.frames[0].frame, node.frames[0].thread).filter(Boolean));
    return [node.frames.length > 1 ? el("p", {}, `In ${count(node.count, "thread")}: `, choice) : null, place];
  }, "Choose a line to see its frame in each thread. Left and right arrows close and open a branch.");
  list.grid.rowAttributes = node => ({"aria-level": node.level + 1, "aria-expanded": node.list.length ? String(node.open) : null});
  list.grid.otherKey = (event, node) => {
    if (event.key === "ArrowRight") return toggle(node, true);
    if (event.key !== "ArrowLeft" || !node) return false;
    if (toggle(node, false)) return true;
    if (node.parent !== root) list.grid.reveal(node.parent);
    return true;
  };
  const setAll = open => {
    const pending = [...root.list];
    while (pending.length) { const node = pending.pop(); node.open = open; pending.push(...node.list); }
    list.grid.setRows(visible());
  };
  list.grid.render();
  part.append(list.element);
}

/** Python's frames in all threads: the crashed one has them in its part, too. */
function pythonPart() {
  const rows = threads.filter(thread => thread.python);
  if (!rows.length || threads.length === 1) return;
  section(main, "python", "Python").append(masterDetail({
    label: "Python frames, by thread", noun: "thread", rows, chosen: thread => state.set("python", thread.tid),
    columns: [{title: "Thread", value: thread => thread.tid, width: "9ch", right: true},
      {title: "Function", value: thread => thread.python.frames[0]?.function ?? "", width: "minmax(0, 1fr)"},
      {title: "Source", value: thread => { const at = thread.python.frames[0]; return at ? `${fileName(at.file)}${at.line ? ":" + at.line : ""}` : ""; }, width: "minmax(0, .7fr)"},
      {title: "Lock", value: thread => thread.python.holds_gil ? "holds it" : "", width: "9ch", wide: true}],
  }, thread => [el("h3", {}, `Thread ${thread.tid}`), ...pythonStack(thread.python)], "Choose a thread to see its frames.").element);
}

/** The innermost function outside of Go's runtime, where goroutines are parked. */
function goroutineFunction(goroutine) {
  const frames = goroutine.frames ?? threads.find(thread => thread.tids.includes(goroutine.tid))?.frames;
  const own = frames?.find(frame => frame.function && !frame.function.startsWith("runtime.")) ?? frames?.[0];
  return own ? frameName(own) : goroutine.start?.function ?? goroutine.start?.pc ?? "";
}

function goroutinesPart() {
  if (!data.goroutines?.length) return;
  const stateOf = g => g.wait_reason ?? g.status, call = at => at ? (at.function ? `${at.function} + ${hex(at.offset)}` : at.pc) : null;
  const list = masterDetail({
    label: "Goroutines", noun: "goroutine", rows: data.goroutines, chosen: g => state.set("goroutine", g.id),
    columns: [{title: "Number", value: g => g.id, width: "9ch", right: true}, {title: "State", value: stateOf, width: "minmax(0, .6fr)"},
      {title: "Function", value: goroutineFunction, width: "minmax(0, 1fr)"},
      {title: "Created by", value: g => g.created_by?.function ?? "", width: "minmax(0, .8fr)", wide: true}],
  }, g => [el("h3", {}, `Goroutine ${g.id}`),
    facts([["State", g.status], ["Waits for", g.wait_reason], ["Thread", g.tid && String(g.tid)], ["Locked to thread", g.locked_tid && String(g.locked_tid)],
      ["First function", call(g.start)], ["Created by", call(g.created_by)], ["Stack", g.frames ? null : `that of thread ${g.tid}`]]),
    ...(g.frames ? [g.end?.complete === false ? notice(`Ended early: ${g.end.reason}.`) : null,
      plainTable(["#", "Function", "Source"], stackRows(g).filter(row => !row.call).map(row => [String(row.place), el("code", {}, frameName(row.frame) + (row.times > 1 ? ` × ${number(row.times)}` : "")),
        row.frame.file ? `${fileName(row.frame.file)}:${row.frame.line}` : ""]))] : [])], "Choose a goroutine to see its stack.");
  section(main, "goroutines", "Goroutines").append(list.element);
  const at = list.grid.rows.find(g => String(g.id) === state.get("goroutine"));
  if (at) list.grid.choose(at);
}

function modulesPart() {
  const part = section(main, "modules", "Modules");
  const yes = value => value === null || value === undefined ? "–" : value ? "yes" : "no";
  part.append(masterDetail({
    label: "Modules", noun: "module", rows: data.modules,
    columns: [{title: "Name", value: m => fileName(m.path), width: "minmax(0, .8fr)"}, {title: "Path", value: m => m.path, width: "minmax(0, 1fr)", wide: true, path: true}, {title: "Start", value: m => BigInt(m.start), text: m => m.start, width: "17ch", wide: true},
      {title: "SFrame", value: m => yes(m.has_sframe), width: "9ch"}, {title: "CFI", value: m => yes(m.has_cfi), width: "6ch"},
      {title: "Problem", value: m => m.problem ?? "", width: "minmax(0, .8fr)", wide: true}],
  }, m => [el("h3", {}, m.path), facts([["Addresses", el("code", {}, `${m.start} to ${m.end}`)], ["Build ID", m.build_id && el("code", {}, m.build_id)],
    ["SFrame", yes(m.has_sframe)], ["CFI", yes(m.has_cfi)], ["Problem", m.problem]])], "Choose a module. “–”: no stack led through it, so it was not opened.").element);
}

const program = data.modules.find(module => module.path === data.executable);
aboutPage([["Core", data.core && el("code", {}, data.core)], ["Command", data.command?.length && el("code", {}, commandLine(data.command))],
  ["Build ID", program?.build_id && el("code", {}, program.build_id)]]);
crashPart();
if (crashed) stackPart("crashed", `Thread ${crashed.tid}, crashed`, crashed);
else if (threads.length === 1) stackPart("stack", `Thread ${threads[0].tid}`, threads[0]);
if (threads.length > 1) treePart();
pythonPart();
goroutinesPart();
if (data.modules.length) modulesPart();
