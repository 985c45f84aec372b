# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""disassemble.py FILE...: what sframe-dump --disassemble shows of a function are the addresses of
instructions that objdump finds there, and the rows of the format json, each before the instruction
at its address. Of functions whose rows repeat (PCMASK), the instructions only."""
import json
import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


counts = [0, 0, 0]
for path in sys.argv[1:]:
    known = {
        int(address, 16)
        for address in re.findall(
            r"^ +([0-9a-f]+):\t", run("objdump", "-d", "--no-show-raw-insn", path), re.M
        )
    }
    functions = json.loads(run("sframe-dump", "--format=json", path))["files"][0]["sections"][0][
        "functions"
    ]
    shown = re.split(r"^  \[\d+\] ", run("sframe-dump", "--disassemble", path), flags=re.M)[1:]
    assert len(shown) == len(functions), path
    for function, text in zip(functions, shown):
        start, end = (
            int(address, 16) for address in re.match(r"(0x[0-9a-f]+)-(0x[0-9a-f]+)", text).groups()
        )
        lines = re.findall(r"^    (row|CFI|   )   (0x[0-9a-f]+) ", text, re.M)
        found = [int(address, 16) for kind, address in lines if kind == "   "]
        expected = sorted(address for address in known if start <= address < end)
        assert found == expected, (path, hex(start), found, expected)
        counts[0] += 1
        counts[1] += len(found)
        if function["pc_type"] == "mask":
            continue
        rows = [int(address, 16) - start for kind, address in lines if kind == "row"]
        assert rows == [row["offset"] for row in function["rows"]], (path, hex(start), rows)
        counts[2] += len(rows)
        addresses = [int(address, 16) for _, address in lines]
        assert addresses == sorted(addresses), path
        for (kind, address), (_, following) in zip(lines, lines[1:]):
            assert kind != "row" or address == following, (path, address)
print("%d files, %d functions, %d instructions, %d rows" % (len(sys.argv) - 1, *counts))
