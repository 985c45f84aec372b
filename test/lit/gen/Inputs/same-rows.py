#!/usr/bin/env python3
"""same-rows.py BEFORE AFTER [--debug-frame]: the rows that llvm-dwarfdump prints of .eh_frame are
the same at every address that BEFORE describes; with --debug-frame, those of the .debug_frame of
AFTER. Prints how many FDEs and rows were compared.

same-rows.py BEFORE AFTER --others: the instructions, as llvm-objdump prints them, at whose
addresses the rows are not the same: how many of each mnemonic and first operand."""
import bisect
import collections
import re
import subprocess
import sys


def rows(path, section):
    """(start, end, text) of each row, by address, and the number of FDEs."""
    text = subprocess.run(
        ["llvm-dwarfdump", section, path], capture_output=True, text=True, check=True
    ).stdout
    found, fdes, end, last = [], 0, None, None
    for line in text.splitlines():
        if head := re.search(r"FDE cie=\w+ pc=(\w+)\.\.\.(\w+)", line):
            fdes, last = fdes + 1, None
            end = int(head[2], 16)
        elif " CIE" in line:
            end = None
        elif end is not None and (row := re.match(r"\s+0x(\w+): (CFA=.*)", line)):
            if last is not None:
                found[-1][1] = int(row[1], 16)
            last = int(row[1], 16)
            found.append([last, end, row[2]])
    return sorted(found), fdes


def row_at(table, address):
    at = bisect.bisect_right(table, address, key=lambda row: row[0]) - 1
    return table[at][2] if at >= 0 and address < table[at][1] else None


def print_others(before, after):
    found = collections.Counter()
    text = subprocess.run(
        ["llvm-objdump", "-d", "--no-show-raw-insn", sys.argv[1]],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for line in text.splitlines():
        if one := re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(\S*)", line):
            row = row_at(before, int(one[1], 16))
            if row is not None and row_at(after, int(one[1], 16)) != row:
                found[one[2] + " " + re.sub(r"0x[0-9a-f]+.*|,$", "", one[3])] += 1
    for name, count in sorted(found.items()):
        print(count, name.strip())


others = sys.argv[3:] == ["--others"]
before, functions = rows(sys.argv[1], "--eh-frame")
after, fdes = rows(sys.argv[2], sys.argv[3] if sys.argv[3:] and not others else "--eh-frame")
if others:
    print_others(before, after)
    sys.exit()
at = 0
for start, end, text in before:
    while start < end:
        while at < len(after) and after[at][1] <= start:
            at += 1
        if at == len(after) or after[at][0] > start:
            sys.exit("0x%x: no row" % start)
        if after[at][2] != text:
            sys.exit("0x%x: %s, before: %s" % (start, after[at][2], text))
        start = min(end, after[at][1])
print("%d FDEs were %d, %d rows are equal" % (fdes, functions, len(before)))
