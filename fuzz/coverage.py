#!/usr/bin/env python3
"""coverage.py [--lines] < LCOV: for each of our files that reads input, how many of its lines the
corpora reach, the least first; with --lines also the lines that they do not. `scripts/fuzz
--coverage` calls it. Files that no bytes of a file reach are counted separately (OTHERS). Exit code
1 if a file stays below the goal."""
import os
import sys

GOAL = 85
PARSERS = ("libsframe/src/", "lib/", "interfaces/", "tools/")
# Files, and why bytes of an input do not lead to them.
OTHERS = {
    "lib/process/src/live/": "live processes",
    "lib/remote/src/ptrace_target": "live processes",
    "interfaces/libunwind/src/ptrace": "live processes",
    "lib/process/include/sframe/process/live": "live processes",
    "interfaces/c/src/live": "live processes",
    "interfaces/c/src/local": "the calling thread",
    "interfaces/c/src/here": "the calling thread",
    "lib/here/src/here.cc": "the calling thread",
    "lib/here/src/module.cc": "the loader's data",
    "lib/here/src/snapshot": "the loader's data",
    "lib/here/src/refresh": "the loader's data",
    "lib/here/src/on_demand": "the loader's data",
    "lib/here/src/section_headers": "the program's own file",
    "lib/here/src/walk": "the calling thread",
    "lib/here/src/cache": "the calling thread",
    "lib/here/src/full_cache": "the calling thread",
    "lib/here/src/stack_memory": "the calling thread",
    "lib/here/src/amd64/host.h": "the calling thread",
    "lib/here/src/module.h": "the loader's data",
    "lib/process/src/emulated/": "an emulator's answers",
    "lib/process/include/sframe/process/step_program": "live processes",
    "lib/verify/src/against_run": "live processes",
    "lib/verify/src/code_witness": "live processes",
    "lib/verify/src/row_table": "live processes",
    "lib/verify/include/sframe/verify/row_table": "live processes",
    "lib/core/src/abi/": "tables that the compiler makes",
    "lib/elf/src/abi/a": "tables that the compiler makes",
    "lib/elf/src/abi/s390x": "tables that the compiler makes",
    "lib/unwind/src/abi/abis.h": "tables that the compiler makes",
    "libsframe/src/abi/aarch64": "tables that the compiler makes",
    "lib/code/src/s390x/opcodes": "tables that the compiler makes",
    "lib/here/src/plain_rule.h": "tables that the compiler makes",
    "interfaces/libunwind/src/debug_frame": "the program's own file",
    "interfaces/libunwind/src/dynamic.cc": "live processes",
    "tools/common/": "output, options, the sandbox",
}
here = os.getcwd() + "/"


def ranges(numbers):
    runs = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return " ".join(str(a) if a == b else "%d-%d" % (a, b) for a, b in runs)


files = {}
for line in sys.stdin:
    kind, _, rest = line.strip().partition(":")
    if kind == "SF":
        name = rest.removeprefix(here)
    elif kind == "DA":
        number, count = (int(field) for field in rest.split(",")[:2])
        counts = files.setdefault(name, {})
        counts[number] = counts.get(number, 0) + count

rows = []
for name, counts in files.items():
    if name.startswith(PARSERS):
        reached = sum(1 for count in counts.values() if count)
        rows.append(
            (
                100 * reached / len(counts),
                name,
                len(counts),
                reached,
                [n for n in sorted(counts) if not counts[n]],
            )
        )
rows.sort()
others = [row for row in rows if row[1].startswith(tuple(OTHERS))]
rows = [row for row in rows if row not in others]
print("%8s %7s %7s  %s" % ("%", "reached", "lines", "file"))
for percent, name, lines, reached, missed in rows:
    print(
        "%8.1f %7d %7d  %s" % (percent, reached, lines, name)
        + (": " + ranges(missed) if "--lines" in sys.argv and missed else "")
    )
for why in sorted(set(OTHERS.values())):
    of = [
        row
        for row in others
        if OTHERS[next(start for start in OTHERS if row[1].startswith(start))] == why
    ]
    print(
        "%8s %7d %7d  not input: %s (%d files)"
        % ("", sum(row[3] for row in of), sum(row[2] for row in of), why, len(of))
    )
lines, reached = sum(row[2] for row in rows), sum(row[3] for row in rows)
low = [row for row in rows if row[0] < GOAL]
print(
    "%8.1f %7d %7d  all; %d of %d files below %d %%"
    % (100 * reached / max(lines, 1), reached, lines, len(low), len(rows), GOAL)
)
sys.exit(1 if low else 0)
