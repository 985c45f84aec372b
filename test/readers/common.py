# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the parts of scripts/readers share: messages, commands, ELF program headers and tables in
pages."""

import os
import struct
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "test", "readers")
PT_LOAD, PT_GNU_SFRAME, PF_X = 1, 0x6474E554, 1
MACHINES = {62: "amd64", 183: "aarch64", 22: "s390x"}


class Missing(Exception):
    """Something needed is not there: the part cannot run. The message names it."""


def note(text):
    print("readers: " + text, file=sys.stderr, flush=True)


def run(command, **options):
    """Runs a command; its output as text. Raises Missing with the end of its messages if it
    fails."""
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", **options)
    if result.returncode:
        end = "\n".join((result.stdout + result.stderr).strip().splitlines()[-12:])
        raise Missing(
            "%s failed with exit code %d:\n%s"
            % (" ".join(map(str, command))[:300], result.returncode, end)
        )
    return result.stdout


class Tools:
    """The programs of one build of this project."""

    def __init__(self, build):
        self.build = os.path.abspath(build)
        for name in ("sframe-gen", "sframe-verify", "sframe-dump"):
            if not os.access(self.path(name), os.X_OK):
                raise Missing(
                    "%s is not there: build first (cmake --preset release && cmake --build --preset release)"
                    % self.path(name)
                )

    def path(self, name):
        return os.path.join(self.build, "bin", name)


class Elf:
    """The program headers of a 64-bit ELF file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:5] != b"\x7fELF\x02":
            raise ValueError("not a 64-bit ELF file")
        self.order = ">" if self.data[5] == 2 else "<"
        self.type, self.machine = struct.unpack_from(self.order + "HH", self.data, 16)
        (offset,) = struct.unpack_from(self.order + "Q", self.data, 32)
        size, count = struct.unpack_from(self.order + "HH", self.data, 54)
        self.segments = []  # type, flags, offset, address, size in the file, size in memory
        for i in range(count):
            kind, flags, at, address, _, in_file, in_memory = struct.unpack_from(
                self.order + "IIQQQQQ", self.data, offset + i * size
            )[:7]
            self.segments.append((kind, flags, at, address, in_file, in_memory))

    def find(self, kind, flags=0):
        return [s for s in self.segments if s[0] == kind and s[1] & flags == flags]


def write_table(page, name, lines):
    """Replaces what is between <!-- NAME --> and <!-- end of NAME --> in a page of docs."""
    path = os.path.join(ROOT, "docs", page)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    begin, end = "<!-- %s -->\n" % name, "<!-- end of %s -->\n" % name
    if begin not in text or end not in text:
        raise Missing("docs/%s has no place marked %s" % (page, begin.strip()))
    before, rest = text.split(begin, 1)
    after = rest.split(end, 1)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + begin + "".join(line + "\n" for line in lines) + end + after)


def table(head, rows):
    """A table in Markdown."""
    return ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)] + [
        "| " + " | ".join(map(str, row)) + " |" for row in rows
    ]


def grouped(rows, column, join=", "):
    """Rows that differ in one column only are one row, in which that column has all of theirs."""
    found = {}
    for row in rows:
        found.setdefault((*row[:column], *row[column + 1 :]), []).append(str(row[column]))
    return [
        (*others[:column], join.join(cells), *others[column:]) for others, cells in found.items()
    ]


def print_table(head, rows):
    widths = [max(len(str(row[i])) for row in [head] + rows) for i in range(len(head))]
    for row in [head] + rows:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip())
