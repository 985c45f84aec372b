"""check-go-rows.py ROWS.json NAMES PROGRAM: rows of main.main at each address against a reading of its prologue by
llvm-objdump: FP is in the frame's top word from the instruction after the one that stores it there."""
import json
import re
import subprocess
import sys

functions = json.load(open(sys.argv[1]))["files"][0]["sections"][0]["functions"]
names = {line.split()[2]: int(line.split()[0], 16) for line in open(sys.argv[2]) if len(line.split()) == 3}


def rows_of(name):
    start = names[name]
    for function in functions:
        first = int(str(function["start"]), 0)
        if first <= start < first + function["size"]:
            return start, first, function["rows"]
    raise AssertionError(name)


_, _, rows = rows_of("runtime.goexit.abi0")
assert rows[-1]["ra"] == "undefined", rows

start, first, rows = rows_of("main.main")
text = subprocess.run(["llvm-objdump", "-d", "--no-show-raw-insn", f"--start-address={start}", f"--stop-address={start + 64}", sys.argv[3]],
                      capture_output=True, text=True, check=True).stdout
code = [(int(at, 16), what) for at, what in re.findall(r"^\s*([0-9a-f]+):\s+(.*)$", text, re.M)]


def row_at(address):
    return [row for row in rows if first + row["offset"] <= address][-1]


pushed = 8
stored = None
checked = 0
for (at, what), (after, _) in zip(code, code[1:]):
    row = row_at(at)
    assert row["cfa"] == f"sp+{pushed}", (hex(at), what, row)
    assert row["fp"] == ("same" if stored is None else "[cfa-16]"), (hex(at), what, row)
    checked += 1
    if match := re.match(r"subq\s+\$(-?(?:0x)?[0-9a-f]+), %rsp", what):
        pushed += int(match.group(1), 0)
    elif match := re.match(r"addq\s+\$-(\d+|0x[0-9a-f]+), %rsp", what):
        pushed += int(match.group(1), 0)
    elif re.match(r"pushq\s+%rbp", what):
        pushed += 8
        stored = after
    elif re.match(r"movq\s+%rbp, .*\(%rsp\)", what):
        stored = after
    elif stored:
        break
assert stored and checked >= 3, text
