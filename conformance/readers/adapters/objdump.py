#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""objdump as a reader to be tested: what `objdump --sframe` prints of a section in an ELF file.

    func idx [0]: pc = 0x401000, size = 64 bytes, attr = "F"
    STARTPC         CFA       FP        RA
    0000000000401000  sp+8      u         f
    0000000000401010  (fp-8)    (fp+0)    u[s]

It prints all functions and rows, but not after how many bytes a block repeats: of functions with
blocks it tells nothing.

    sframe-conformance readers --command 'python3 objdump.py [OBJDUMP [VERSION...]]'     # VERSIONs it reads; default: 2 and 3
"""
import bisect
import re
import sys

from listing import serve

COLUMN = re.compile(
    r"RA undefined|(?:\([a-z]+\d*(?:\+-|[+-])\d+\)|[a-z]+?\d*(?:\+-|[+-])\d+|r\d+|[ufU])(?:\[s\])?"
)
VERSIONS = {int(word) for word in sys.argv[2:]} or {2, 3}


def functions(text):
    """Each as start, size, attributes, whether it has blocks, and rows: a start with the columns
    after it."""
    found = []
    for line in text.split("\n"):
        if head := re.match(
            r"\s*func idx \[\d+\]: pc = 0x([0-9a-f]+), size = (-?\d+) bytes(.*)", line
        ):
            found.append(
                {
                    "start": int(head[1], 16),
                    "size": int(head[2]) % 2**32,
                    "attributes": head[3],
                    "blocks": False,
                    "rows": [],
                }
            )
        elif found and line.strip().startswith("STARTPC[m]"):
            found[-1]["blocks"] = True
        elif found and (row := re.match(r"\s*([0-9a-f]{16})\s+(\S.*)", line)):
            found[-1]["rows"].append(
                (int(row[1], 16), COLUMN.findall(row[2]))
            )  # wide columns have no space between them
    return found


def rule(text, unchanged):
    """`u` and `U` are unchanged, `f` is the header's offset, `c-16` a slot by the CFA, `(fp+8)` one
    by a register."""
    if text in ("u", "f", "U"):
        return "fixed" if text == "f" else unchanged
    text = text.replace("+-", "-")
    if text.startswith("("):
        return "[%s]" % text.strip("()")
    return "[cfa%s]" % text[1:] if re.match(r"c[+-]", text) else text


def answer(found, pc, registers):
    for function in found:
        if not function["start"] <= pc < function["start"] + function["size"]:
            continue
        if function["blocks"]:
            return "unsupported"
        at = bisect.bisect_right(function["rows"], pc, key=lambda row: row[0])
        if not at:
            return "none"
        columns = function["rows"][at - 1][1]
        if columns[:1] == ["RA undefined"]:
            return "row outermost"
        if len(columns) != 3:
            return "not understood: %s" % " ".join(columns)
        cfa, fp, ra = columns
        attributes = re.search(r'attr = "(\w*)"', function["attributes"])
        return "row cfa=%s ra=%s fp=%s signed=%d signal=%d" % (
            rule(cfa, "same"),
            rule(ra.removesuffix("[s]"), "fixed" if registers[0] == 7 else "same"),
            rule(fp, "same"),
            ra.endswith("[s]"),
            "S" in (attributes[1] if attributes else ""),
        )
    return "none"


serve(
    [sys.argv[1] if len(sys.argv) > 1 else "objdump", "--sframe=.sframe"],
    lambda version, abi: version in VERSIONS or version not in (1, 2, 3),
    functions,
    answer,
)
