# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What readers have in common that print all functions and rows of a section in an ELF file: the
file, and the program's call. The lookup of an address among what they print is this folder's."""
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile

MACHINES = {
    1: (183, 31, 29),
    2: (183, 31, 29),
    3: (62, 7, 6),
    4: (22, 15, 11),
}  # by sfh_abi_arch: e_machine, SP, FP
NAMES = b"\0.sframe\0.shstrtab\0"


def elf_file(data, address):
    """An ELF file with the section, of its ABI and byte order."""
    order = ">" if data[:2] == b"\xde\xe2" else "<"
    machine = MACHINES.get(data[4] if len(data) > 4 else 3, MACHINES[3])[0]
    at = 64 + (-64 % 8)
    names_at = at + len(data)
    headers_at = (names_at + len(NAMES) + 7) // 8 * 8
    header = (
        b"\x7fELF"
        + bytes((2, 2 if order == ">" else 1, 1))
        + bytes(9)
        + struct.pack(
            order + "HHIQQQIHHHHHH", 3, machine, 1, 0, 0, headers_at, 0, 64, 56, 0, 64, 3, 2
        )
    )
    sections = bytes(64)
    sections += struct.pack(
        order + "IIQQQQIIQQ", 1, 0x6FFFFFF4, 2, address, at, len(data), 0, 0, 8, 0
    )
    sections += struct.pack(order + "IIQQQQIIQQ", 9, 3, 0, 0, names_at, len(NAMES), 0, 0, 1, 0)
    return (header + data + NAMES).ljust(headers_at, b"\0") + sections


def listing(command, data, address):
    """What a command prints of a file with the section; None where it reports an error. If it
    crashes, this process does."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "section")
        with open(path, "wb") as file:
            file.write(elf_file(data, address))
        done = subprocess.run(
            [*command, path], capture_output=True, text=True, errors="replace", check=False
        )
    if done.returncode < 0:
        signal.signal(-done.returncode, signal.SIG_DFL)
        os.kill(os.getpid(), -done.returncode)
    return (
        None
        if done.returncode or re.search("error|warning", done.stderr, re.IGNORECASE)
        else done.stdout
    )


def serve(command, knows, functions, answer):
    """Answers the questions on standard input: `functions(text)` are those that the command has
    printed, `answer(functions, pc, (SP, FP))` the row of an address; `knows(version, abi)`: whether
    it can read such a section."""
    how, found, registers = "reject", [], (0, 0)
    for line in sys.stdin:
        keyword, first, *rest = line.rstrip("\n").split(" ", 3)
        if keyword == "section":
            with open(rest[1], "rb") as file:
                data = file.read()
            if (
                len(data) > 4
                and data[:2] in (b"\xe2\xde", b"\xde\xe2")
                and not knows(data[2], data[4])
            ):
                how = "unsupported"
            elif (
                (text := listing(command, data, int(first, 16))) is not None
                and len(data) > 4
                and data[4] in MACHINES
            ):
                how, found, registers = "", functions(text), MACHINES[data[4]][1:]
        else:
            print(how or answer(found, int(first, 16), registers), flush=True)
