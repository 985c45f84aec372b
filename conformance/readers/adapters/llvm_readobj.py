#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llvm-readobj as a reader to be tested: what `llvm-readobj --sframe` prints of a section in an ELF file. It prints all functions and
rows; the lookup of an address among them is this file's.

    sframe-conformance readers --command 'python3 llvm_readobj.py [LLVM-READOBJ]'
"""
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile

MACHINES = {1: (183, 31, 29), 2: (183, 31, 29), 3: (62, 7, 6), 4: (22, 15, 11)}  # by sfh_abi_arch: e_machine, SP, FP
NAMES = b"\0.sframe\0.shstrtab\0"


def elf_file(data, address):
    """An ELF file with the section, of its ABI and byte order."""
    order = ">" if data[:2] == b"\xde\xe2" else "<"
    machine = MACHINES.get(data[4] if len(data) > 4 else 3, MACHINES[3])[0]
    at = 64 + (-64 % 8)
    names_at = at + len(data)
    headers_at = (names_at + len(NAMES) + 7) // 8 * 8
    header = b"\x7fELF" + bytes((2, 2 if order == ">" else 1, 1)) + bytes(9) + struct.pack(
        order + "HHIQQQIHHHHHH", 3, machine, 1, 0, 0, headers_at, 0, 64, 56, 0, 64, 3, 2)
    sections = bytes(64)
    sections += struct.pack(order + "IIQQQQIIQQ", 1, 0x6FFFFFF4, 2, address, at, len(data), 0, 0, 8, 0)
    sections += struct.pack(order + "IIQQQQIIQQ", 9, 3, 0, 0, names_at, len(NAMES), 0, 0, 1, 0)
    return (header + data + NAMES).ljust(headers_at, b"\0") + sections


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
        offset, block = pc - start, next((number(value) for key, value in function.items() if key.startswith("Repetitive block size")), 0)
        if "PCMask" in function["FDE Type"]:
            if not block:
                return "reject"
            offset %= block
        rows = [row for row in function["rows"] if (number(row["Start Address"]) - (0 if "PCMask" in function["FDE Type"] else start)) % 2**64 <= offset]
        if not rows:
            return "none"
        row = rows[-1]
        if "CFA Offset" not in row:
            return "row outermost"
        base = sp if row["Base Register"].startswith("SP") else fp
        rules = [("[cfa%+d]" % number(row[name + " Offset"])) if name + " Offset" in row else "same" for name in ("RA", "FP")]
        return "row cfa=r%d%+d ra=%s fp=%s signed=%d" % (base, number(row["CFA Offset"]), *rules, row["Return Address Signed"] == "Yes")
    return "none"


def listing(program, data, address):
    """What it prints; None where it reports an error. If it crashes, this process does."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "section")
        with open(path, "wb") as file:
            file.write(elf_file(data, address))
        done = subprocess.run([program, "--sframe", path], capture_output=True, text=True, errors="replace")
    if done.returncode < 0:
        signal.signal(-done.returncode, signal.SIG_DFL)
        os.kill(os.getpid(), -done.returncode)
    return None if done.returncode or re.search("error|warning", done.stderr) else done.stdout


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "llvm-readobj"
    how, found, registers = "reject", [], (0, 0)
    for line in sys.stdin:
        keyword, first, *rest = line.rstrip("\n").split(" ", 3)
        if keyword == "section":
            with open(rest[1], "rb") as file:
                data = file.read()
            # It knows version 2 without s390x.
            if len(data) > 4 and data[:2] in (b"\xe2\xde", b"\xde\xe2") and (data[2] in (1, 3) or data[4] == 4):
                how = "unsupported"
            elif (text := listing(program, data, int(first, 16))) is not None and len(data) > 4 and data[4] in MACHINES:
                how, found, registers = "", functions(text), MACHINES[data[4]][1:]
        else:
            print(how or answer(found, int(first, 16), registers), flush=True)


main()
