# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A reader's own code, compiled as a part of a program (readers/), against libsframe at every row,
and its accepts and refuses of mutated sections against the findings of sframe-verify --profile:
what scripts/readers kernel and glibc share."""

import datetime
import itertools
import json
import os
import random
import shutil
import subprocess

from common import (
    HERE,
    MACHINES,
    Elf,
    Missing,
    PF_X,
    PT_GNU_SFRAME,
    PT_LOAD,
    ROOT,
    note,
    print_table,
    run,
    table,
    write_table,
)

SYSTEM = "/usr/lib/x86_64-linux-gnu/"
FILES = [
    SYSTEM + "libc.so.6",
    SYSTEM + "libstdc++.so.6",
    SYSTEM + "libm.so.6",
    SYSTEM + "libcrypto.so.3",
    SYSTEM + "libLLVM-14.so.1",
    SYSTEM + "libLLVM.so.22.1",
    "/usr/bin/bash",
    "/usr/bin/python3",
    "/usr/bin/perl",
    "/usr/bin/git",
    "/usr/bin/gdb",
    "/usr/bin/cmake",
    *(
        "/usr/%s/lib/%s" % (triple, name)
        for triple in ("aarch64-linux-gnu", "s390x-linux-gnu")
        for name in ("libc.so.6", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1")
    ),
]


COUNTS = (
    "add",
    "removed",
    "trapped",
    "warnings",
    "lookups",
    "found",
    "outermost",
    "mismatches",
    "added",
)


def section_place(elf, path):
    """Offset, size and address of a section, as compare.cc takes them."""
    section = elf.find(PT_GNU_SFRAME)
    if not section:
        raise Missing("no PT_GNU_SFRAME in " + path)
    _, _, offset, address, size, _ = section[0]
    return "%x" % offset, "%x" % size, "%x" % address


class Reader:
    """A reader's program per ABI. What inherits from it has program(abi), which compiles it,
    profile, the ABIs that it knows, and refuses_outermost: whether an outermost row makes an answer
    useless."""

    abis = tuple(MACHINES.values())
    profile = "linux"
    refuses_outermost = False

    def compile(self, folder, source, options, libraries=()):
        """Compiles readers/SOURCE with the comparison; the program's path."""
        library = os.path.join(self.build, "libsframe", "libsframe++.a")
        if not os.path.exists(library):
            raise Missing(library + " is not there: build first")
        made, program = os.path.join(folder, "reader.o"), os.path.join(folder, "compare")
        run(
            [
                "gcc",
                "-std=gnu11",
                "-O2",
                "-w",
                *options,
                "-c",
                os.path.join(HERE, "readers", source),
                "-o",
                made,
            ]
        )
        run(
            [
                "g++",
                "-std=c++23",
                "-O2",
                "-I",
                os.path.join(ROOT, "libsframe/include"),
                "-I",
                os.path.join(HERE, "readers"),
                os.path.join(HERE, "readers/compare.cc"),
                made,
                library,
                *libraries,
                "-o",
                program,
            ]
        )
        return program

    def look_up(self, elf, paths, randoms, *options):
        """The counts of compare.cc for files that differ in bytes only."""
        text = elf.find(PT_LOAD, PF_X)
        if not text:
            raise Missing("no executable segment in " + paths[0])
        start, end = text[0][3], text[0][3] + text[0][5]
        numbers = (*section_place(elf, paths[0]), "%x" % start, "%x" % end, "%x" % randoms)
        out = run(["nice", self.program(MACHINES[elf.machine]), *options, *numbers, *paths])
        results = []
        for line in out.splitlines():
            *numbers, time, first = line.split(" ", len(COUNTS) + 1)
            results.append(dict(zip(COUNTS, map(int, numbers)), time=float(time), first=first))
        if len(results) != len(paths):
            raise Missing("the reader's program ended early")
        return results


def convert(tools, source, target, *options):
    """A converted copy; None if there is nothing to convert."""
    done = subprocess.run(
        [tools.path("sframe-gen"), source, "-o", target, "--report=none", *options],
        capture_output=True,
        text=True,
    )
    return target if done.returncode == 0 and os.path.exists(target) else None


def compare_files(tools, reader, work, randoms):
    """A row of the table per file, and the sums."""
    rows, totals, seen = (
        [],
        dict.fromkeys(("lookups", "mismatches", "found", "outermost"), 0),
        set(),
    )
    for path in FILES:
        real = os.path.realpath(path)
        if real in seen or not os.path.exists(path):
            note("skipped: no " + path)
            continue
        seen.add(real)
        abi = MACHINES.get(Elf(real).machine)
        if abi not in reader.abis:
            continue
        copy = convert(
            tools, real, os.path.join(work, "converted"), "--for=" + reader.profile, "-q"
        )
        if not copy:
            note("skipped: sframe-gen cannot convert " + path)
            continue
        counts = reader.look_up(Elf(copy), [copy], randoms)[0]
        result = (
            "refused (%d)" % -counts["add"]
            if counts["add"]
            else "removed"
            if counts["removed"]
            else "accepted"
        )
        rows.append(
            (
                os.path.basename(path),
                abi,
                result,
                "{:,}".format(counts["lookups"]),
                "{:,}".format(counts["found"]),
                counts["mismatches"],
            )
        )
        if counts["first"]:
            note("%s: %s" % (path, counts["first"]))
        for key in totals:
            totals[key] += counts[key]
        os.remove(copy)
    return rows, totals


def by_abi(rows):
    """One row for all files of an ABI with the same result: their names, and sums."""
    found = {}
    for name, abi, result, *counts in rows:
        names, sums = found.setdefault((abi, result), ([], [0] * len(counts)))
        names.append(name)
        sums[:] = [total + int(str(count).replace(",", "")) for total, count in zip(sums, counts)]
    return [
        (", ".join(names), *key, *("{:,}".format(total) for total in sums))
        for key, (names, sums) in found.items()
    ]


SOURCE = """
#include <stdlib.h>
int leaf(int a) { return a * 3; }
__attribute__((noinline)) int middle(int a, char *p) { char b[64]; for (int i = 0; i < 64; ++i) b[i] = p[i % (a + 1)]; return leaf(b[a % 64]) + a; }
__attribute__((noinline)) int dynamic(int n) { char *p = __builtin_alloca(n); for (int i = 0; i < n; ++i) p[i] = i; return middle(n, p); }
__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g, int h) { return a * b + c * d + e * f + g * h + dynamic(a + b); }
typedef int wide __attribute__((vector_size(32)));
__attribute__((noinline, target("avx2"))) int realigned(int n, void (*f)(void *)) { volatile wide w = {n}; char *p = __builtin_alloca(n); f(p); return w[0] + p[0]; }
int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void sorted(int *p, int n) { qsort(p, n, 4, compare); if (n > 3) abort(); }
"""


def mutations(elf, rng, count):
    """Copies of a file with one, sometimes two or three, damaged bytes in its section: in the
    header, the index or what follows it."""
    offset, size = elf.find(PT_GNU_SFRAME)[0][2], elf.find(PT_GNU_SFRAME)[0][4]
    index = offset + 28
    entries = int.from_bytes(
        elf.data[offset + 8 : offset + 12], "big" if elf.order == ">" else "little"
    )
    rows = index + entries * {2: 20, 3: 16}[elf.data[offset + 2]]
    for _ in range(count):
        data, what = bytearray(elf.data), []
        for _ in range(rng.choices((1, 2, 3), (8, 1, 1))[0]):
            part = rng.choices(("header", "index", "rows"), (2, 2, 6))[0]
            low, high = {
                "header": (offset, index),
                "index": (index, rows),
                "rows": (rows, offset + size),
            }[part]
            at = rng.randrange(low, high)
            old = data[at]
            data[at] = (
                old ^ 1 << rng.randrange(8),
                rng.choice((0, 1, 0x7F, 0x80, 0xFF)),
                (old + rng.choice((-1, 1))) & 0xFF,
                rng.randrange(256),
            )[rng.randrange(4)]
            what.append("%s+0x%x: %02x -> %02x" % (part, at - low, old, data[at]))
        if data != elf.data:
            yield bytes(data), ", ".join(what)


CLASSES = (
    "both accept",
    "both refuse",
    "read differently, reported",
    "against the specification, but read alike",
    "FALSE ACCEPT",
    "FALSE REFUSE",
)


def classify(reader, answer, findings, unreadable):
    """Of a mutation: what the reader did, and what sframe-verify reports about it."""
    errors = {f["id"] for f in findings if f["severity"] == "error"} | (
        {"unreadable"} if unreadable else set()
    )
    refused = (
        answer["add"] != 0
        or answer["removed"]
        or answer["trapped"]
        or reader.refuses_outermost
        and answer["outermost"]
    )
    if refused:
        return "both refuse" if errors else "FALSE ACCEPT"
    if answer["mismatches"]:
        return "read differently, reported" if findings or errors else "FALSE ACCEPT"
    if any(e.startswith("P4") for e in errors) and not any(e.startswith("S") for e in errors):
        return "FALSE REFUSE"
    return "against the specification, but read alike" if errors else "both accept"


def compare_mutations(tools, reader, work, count, show=5):
    """How many mutations are in each class; nothing if the reader refuses the section as it is."""
    if not shutil.which("gcc"):
        raise Missing("no gcc for the program that is mutated")
    source, program = os.path.join(work, "small.c"), os.path.join(work, "small.so")
    with open(source, "w") as file:
        file.write(SOURCE)
    run(["gcc", "-O2", "-fPIC", "-shared", source, "-o", program])
    converted = convert(
        tools,
        program,
        os.path.join(work, "small.converted"),
        "--for=" + reader.profile,
        "--no-share",
        "-q",
    )
    if not converted:
        raise Missing("sframe-gen cannot convert the program that is mutated")
    elf, rng = Elf(converted), random.Random(1)
    if reader.look_up(elf, [converted], 0)[0]["add"]:
        return {}, 0
    classes, examples, done = dict.fromkeys(CLASSES, 0), {}, 0
    made = mutations(elf, rng, count * 2)
    while done < count:
        batch = []
        for data, what in itertools.islice(made, min(250, count - done)):
            batch.append((os.path.join(work, "mutant%d" % len(batch)), what))
            with open(batch[-1][0], "wb") as file:
                file.write(data)
        if not batch:
            break
        paths = [path for path, _ in batch]
        answers = reader.look_up(elf, paths, 200)
        # A file that cannot be read at all ends with 2; the report has the others.
        report = subprocess.run(
            [
                "nice",
                tools.path("sframe-verify"),
                "-q",
                "--check=structure",
                "--profile=" + reader.profile,
                "--format=json",
                "--max-findings",
                "1000",
                *paths,
            ],
            capture_output=True,
            text=True,
        )
        ours = {entry["path"]: entry for entry in json.loads(report.stdout)["files"]}
        for (path, what), answer in zip(batch, answers):
            entry = ours.get(path, {})
            findings = [f for f in entry.get("findings", []) if f["severity"] != "note"]
            kind = classify(reader, answer, findings, "findings" not in entry)
            classes[kind] += 1
            if kind.startswith("FALSE"):
                why = (
                    "add %(add)d, removed %(removed)d, trapped %(trapped)d, outermost %(outermost)d, %(mismatches)d mismatches %(first)s"
                    % answer
                )
                examples.setdefault(kind, []).append(
                    "%s; reader: %s; findings: %s"
                    % (what, why, ", ".join(sorted({f["id"] for f in findings})) or "none")
                )
        done += len(batch)
    for kind, texts in examples.items():
        for text in texts[:show]:
            note("%s: %s" % (kind, text))
    return classes, done


def report(arguments, tools, reader, work, place, title):
    """Both comparisons, printed, and with --markdown written into the page. The exit code."""
    print(title)
    rows, totals = compare_files(tools, reader, work, arguments.random)
    head = ("file", "ABI", "section", "lookups", "with a row", "mismatches")
    print_table(head, rows)
    print(
        "%d files, %s lookups, %d mismatches"
        % (len(rows), "{:,}".format(totals["lookups"]), totals["mismatches"])
    )
    classes, done = compare_mutations(tools, reader, work, arguments.mutations)
    print(
        "%d mutations: " % done
        + (
            ", ".join("%s %d" % item for item in classes.items())
            or "the reader refuses the section as it is"
        )
    )
    if arguments.markdown and classes:
        lines = ["%s, on %s." % (title[0].upper() + title[1:], datetime.date.today()), ""] + table(
            ("files", *head[1:]), by_abi(rows)
        )
        lines += [
            "",
            "%s lookups, %d mismatches. Of %s mutations of a program's section:"
            % ("{:,}".format(totals["lookups"]), totals["mismatches"], "{:,}".format(done)),
            "",
        ]
        lines += table(
            ("reader and `--profile=%s`" % reader.profile, "mutations"),
            [(k.lower(), v) for k, v in classes.items()],
        )
        write_table("dev/readers.md", place, lines)
    return (
        1
        if totals["mismatches"] or classes.get("FALSE ACCEPT") or classes.get("FALSE REFUSE")
        else 0
    )
