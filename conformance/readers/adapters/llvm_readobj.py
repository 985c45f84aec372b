#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llvm-readobj as a reader to be tested: what `llvm-readobj --sframe` prints of a section in an ELF
file. It prints all functions and rows; the lookup of an address among them is this file's.

    sframe-conformance readers --command 'python3 llvm_readobj.py [LLVM-READOBJ]'
"""
import sys

from listing import serve


def number(text):
    return int(text.split()[0], 0)


def functions(text):
    """Each as its fields, with a list of its rows' under "rows"."""
    found, row = [], None
    for line in text.split("\n"):
        key, _, value = line.strip().partition(": ")
        if line.strip().startswith("FuncDescEntry ["):
            found.append({"rows": []})
            row = None
        elif line.strip().startswith("Frame Row Entry"):
            row = {}
            found[-1]["rows"].append(row)
        elif value and found:
            (found[-1] if row is None else row)[key] = value
    return found


def answer(found, pc, registers):
    sp, fp = registers
    for function in found:
        start = number(function["PC"] if "PC" in function else function["Start Address"]) % 2**64
        if not start <= pc < start + number(function["Size"]):
            continue
        offset, block = pc - start, next(
            (
                number(value)
                for key, value in function.items()
                if key.startswith("Repetitive block size")
            ),
            0,
        )
        if "PCMask" in function["FDE Type"]:
            if not block:
                return "reject"
            offset %= block
        rows = [
            row
            for row in function["rows"]
            if (number(row["Start Address"]) - (0 if "PCMask" in function["FDE Type"] else start))
            % 2**64
            <= offset
        ]
        if not rows:
            return "none"
        row = rows[-1]
        if "CFA Offset" not in row:
            return "row outermost"
        base = sp if row["Base Register"].startswith("SP") else fp
        rules = [
            ("[cfa%+d]" % number(row[name + " Offset"])) if name + " Offset" in row else "same"
            for name in ("RA", "FP")
        ]
        return "row cfa=r%d%+d ra=%s fp=%s signed=%d" % (
            base,
            number(row["CFA Offset"]),
            *rules,
            row["Return Address Signed"] == "Yes",
        )
    return "none"


serve(
    [sys.argv[1] if len(sys.argv) > 1 else "llvm-readobj", "--sframe"],
    lambda version, abi: version not in (1, 3) and abi != 4,
    functions,
    answer,
)
