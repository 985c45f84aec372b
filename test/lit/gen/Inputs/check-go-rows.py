"""check-go-rows.py ROWS.json NAMES PROGRAM MACHINE: rows of main.main at each address against a
reading of its prologue by llvm-objdump: how far SP has moved, and the words that hold the return
address and FP after the instructions that store them. On s390x there is no FP."""
import json
import re
import subprocess
import sys

functions = json.load(open(sys.argv[1]))["files"][0]["sections"][0]["functions"]
names = {
    line.split()[2]: int(line.split()[0], 16)
    for line in open(sys.argv[2])
    if len(line.split()) == 3
}
# Each instruction: what it does with its number, or that in the instruction before.
PATTERNS = {
    "amd64": (
        (r"subq\s+\$(0x[0-9a-f]+|\d+), %rsp", "push"),
        (r"addq\s+\$-(\d+|0x[0-9a-f]+), %rsp", "push"),
        (r"pushq\s+%rb(p)", "push fp"),
        (r"movq\s+%rbp, .*\(%rsp\)()", "fp"),
    ),
    "arm64": (
        (r"str\s+x30, \[sp, #-(0x[0-9a-f]+|\d+)\]!", "push"),
        (r"stur\s+x29, \[sp, #-(?:0x)?8\]()", "fp"),
        (r"sub\s+x20, sp, #(0x[0-9a-f]+|\d+)", "later"),
        (r"mov\s+sp, x20()", "push fp"),
    ),
    "s390x": ((r"lay\s+%r15, -(0x[0-9a-f]+|\d+)\(%r15(?:,0)?\)", "push"),),
}
machine = sys.argv[4]
# SFrame's CFA is so far above SP at the entry.
bias = {"amd64": 8, "arm64": 0, "s390x": 160}[machine]


def rows_of(name):
    start = names[name]
    for function in functions:
        first = int(str(function["start"]), 0)
        if first <= start < first + function["size"]:
            return start, first, function["rows"]
    raise AssertionError(name)


_, _, rows = rows_of("runtime.goexit" if machine == "s390x" else "runtime.goexit.abi0")
assert rows[-1]["ra"] == "undefined", rows

# The function where programs start jumps there on s390x, and calls it on AArch64.
if machine != "amd64":
    _, _, rows = rows_of("main")
    assert (rows[0]["ra"] == "undefined") == (machine == "s390x"), rows

start, first, rows = rows_of("main.main")
text = subprocess.run(
    [
        "llvm-objdump",
        "-d",
        "--no-show-raw-insn",
        f"--start-address={start}",
        f"--stop-address={start + 80}",
        sys.argv[3],
    ],
    capture_output=True,
    text=True,
    check=True,
).stdout
code = [(int(at, 16), what) for at, what in re.findall(r"^\s*([0-9a-f]+):\s+(.*)$", text, re.M)]


def row_at(address):
    return [row for row in rows if first + row["offset"] <= address][-1]


pushed = later = checked = 0
stores_fp = False
for at, what in code:
    row = row_at(at)
    ra = "fixed" if machine == "amd64" else f"[cfa-{bias + pushed}]" if pushed else "same"
    fp = "same" if not stores_fp else "[cfa-16]" if machine == "amd64" else f"[cfa-{pushed + 8}]"
    assert (row["cfa"], row["ra"], row["fp"]) == (f"sp+{bias + pushed}", ra, fp), (
        hex(at),
        what,
        row,
        ra,
        fp,
    )
    checked += 1
    for pattern, does in PATTERNS[machine]:
        if match := re.match(pattern, what):
            number = 8 if match.group(1) == "p" else int(match.group(1) or "0", 0)
            if does == "later":
                later = number
            if "push" in does:
                pushed += number or later
            stores_fp |= "fp" in does
    if (
        pushed
        and (stores_fp or machine == "s390x")
        and not any(re.match(pattern, what) for pattern, _ in PATTERNS[machine])
    ):
        break
assert pushed and checked >= 4, text
