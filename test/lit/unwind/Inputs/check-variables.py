"""check-variables.py JSON PROGRAM CORE [--strict] [--all] [--verbose] [--rust]: compares the
variables that sframe-unwind
--source --args --locals --format=json found with gdb's, in the program's frames (--all: in all), inlined calls
included. Prints how many are equal. Fails if a scalar (number, enumerator, pointer, string) has
another value, or a variable is missing; --strict: also if only gdb has a value of it, or if a
structure or array differs. gdb takes registers that a callee may have overwritten for intact.
--rust: gdb prints as for C, since Rust's syntax differs."""
import collections
import json
import os
import re
import subprocess
import sys

KINDS = ("args", "locals")
options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
document, program, core = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
verbose, everywhere, strict, rust = (
    "--" + name in options for name in ("verbose", "all", "strict", "rust")
)


def ours():
    """By thread, the frames: each its pc, its module and its scopes, innermost first."""
    with open(document, encoding="utf-8") as file:
        threads = json.load(file)["threads"]
    read = lambda one: (
        one["name"],
        one["value"] if one["value"] is not None else "<%s>" % one["missing"],
    )
    return {
        thread["tid"]: [
            (
                int(frame["pc"], 16),
                frame.get("module", ""),
                frame.get("function"),
                [
                    {
                        kind: [read(one) for one in scope[kind]] if kind in scope else None
                        for kind in KINDS
                    }
                    for scope in frame.get("inlined", []) + [frame]
                ],
            )
            for frame in thread["frames"]
        ]
        for thread in threads
    }


def gdb():
    """By thread, the scopes of each pc, in the order of the stack."""
    settings = [
        "debuginfod enabled off",
        "width 0",
        "height 0",
        "print entry-values no",
        "print frame-info location-and-address",
        "backtrace past-main on",
        "print max-depth 6",
        "max-value-size 1048576",
    ]
    command = ["gdb", "-nx", "-batch"]
    for setting in settings:
        command += ["-iex", "set " + setting]
    if rust:
        command += ["-ex", "set language c"]
    for kind in KINDS:
        command += [
            "-ex",
            "echo KIND %s\\n" % kind,
            "-ex",
            "thread apply all -s frame apply all -s info %s" % kind,
        ]
    text = subprocess.run(
        command + [program, core], capture_output=True, text=True, errors="replace"
    ).stdout
    lists = {kind: collections.defaultdict(list) for kind in KINDS}
    kind = tid = None
    for line in text.split("\n"):
        if match := re.match(r"KIND (\w+)$", line):
            kind, tid = match[1], None
        elif kind is None:
            continue
        elif match := re.match(r"Thread .*LWP (\d+)\)", line):
            tid = int(match[1])
        elif match := re.match(r"#\d+ +0x([0-9a-f]+) in", line):
            lists[kind][tid].append((int(match[1], 16), []))
        elif match := re.match(r"#\d+ ", line):
            lists[kind][tid].append((0, []))
        elif (match := re.match(r"([A-Za-z_.$][\w.$:<>]*) = (.*)$", line)) and lists[kind][tid]:
            lists[kind][tid][-1][1].append((match[1], match[2]))
    result = {}
    for tid in lists["args"]:
        frames = result[tid] = []
        for (pc, arguments), (_, variables) in zip(lists["args"][tid], lists["locals"][tid]):
            if not frames or frames[-1][0] != pc:
                frames.append((pc, []))
            frames[-1][1].append({"args": arguments, "locals": variables})
    return result


def variants(value):
    """gdb has a number, perhaps part of the variant, before the variant of an enumeration."""
    while match := re.search(r"\{-?\d+, (\w+) = \{", value):
        depth, at = 1, match.end()
        while depth and at < len(value):
            depth += {"{": 1, "}": -1}.get(value[at], 0)
            at += 1
        fields = value[match.end() - 1 : at]
        value = (
            value[: match.start()]
            + match[1]
            + ("" if fields == "{<no data fields>}" else " " + fields)
            + value[at + 1 :]
        )
    return value


def plain(value):
    """What both write differently, alike."""
    value = re.sub(
        r"<error: Cannot access memory at address (0x[0-9a-f]+)>",
        r"<cannot read memory at \1>",
        value,
    )
    value = re.sub(r"^\((?:[^()]|\([^()]*\))*\) (?=0x|@|<syn)", "", value)  # a pointer's type
    value = re.sub(r"((?:\\000)+)\"", '"', value)  # zeros at the end of an array
    value = re.sub(
        r"(0x[0-9a-f]+) <(?!cannot)[^<>]*>(?!\")", r"\1", value
    )  # the symbol of an address
    value = re.sub(
        r"\b(?:[A-Za-z_]\w*::)+(?=[A-Za-z_])", "", value
    )  # the scopes of enumerators and bases
    value = value.replace("<No data", "<no data")
    if rust:
        value = re.sub(
            r"(-?\b\d+) U?'(?:\\.[^']*|[^'\\])'", r"\1", variants(value)
        )  # C takes u8 for characters
    return re.sub(r"static \w+ = [^,{}]*, ", "", value)


def is_scalar(value):
    return (
        not value.startswith(("{", "@"))
        and "..." not in value
        and "<repeats" not in value
        and "\\000" not in value
    )


counts = collections.Counter()
differences = []


def compare(place, mine, peer):
    """The variables of one scope. Shadowed ones have the same name: the innermost comes first."""
    left = collections.defaultdict(list)
    for name, value in mine:
        left[name].append(value)
    for name, value in peer:
        found = left[name].pop(0) if left[name] else "nothing"
        shape = "scalar" if is_scalar(value) and is_scalar(found) else "other"
        if plain(found) == plain(value):
            counts[shape + " equal"] += 1
            counts["without a value"] += value.startswith("<")
            continue
        if value.startswith("<error reading"):
            kind = "not readable by gdb"
        elif found == "nothing":
            # gdb names those of blocks that the program does not have any more.
            kind = "not named" if value == "<optimized out>" else "not found"
        elif found == "<not available>":
            kind = "not available"
        elif value == "<optimized out>":
            kind = shape + " only here"
        elif found == "<optimized out>":
            kind = shape + " only in gdb"
        else:
            kind = shape + " different"
        counts[kind] += 1
        differences.append((kind, *place, name, found, value))
    counts["additional"] += sum(len(values) for values in left.values())


theirs = gdb()
for tid, frames in ours().items():
    others = theirs.get(tid) or theirs.get(None, [])
    at = 0
    for number, (pc, module, function, scopes) in enumerate(frames):
        # gdb has frames of its own for tail calls.
        match = next((i for i in range(at, len(others)) if others[i][0] == pc), None)
        if match is None:
            continue
        at = match + 1
        if not everywhere and os.path.basename(module) != os.path.basename(program):
            continue
        if len(others[match][1]) != len(scopes):
            counts["frames with other inlined calls"] += 1
            continue
        for scope, other in zip(scopes, others[match][1]):
            for kind in KINDS:
                if scope[kind] is None:
                    counts["without debug information here"] += len(other[kind])
                else:
                    compare((number, function), scope[kind], other[kind])
for difference in differences:
    if verbose or difference[0] == "scalar different":
        print("%s: #%d %s: %s: %s, gdb has %s" % difference)
print(", ".join("%s: %d" % pair for pair in sorted(counts.items()) if pair[1]))
faults = (
    counts["scalar different"]
    + counts["not found"]
    + (counts["scalar only in gdb"] + counts["other different"] if strict else 0)
)
sys.exit(1 if faults or not counts["scalar equal"] else 0)
