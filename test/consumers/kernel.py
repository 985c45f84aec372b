# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/consumers kernel: the reader of a Linux tree, compiled as a part of a program (kernel/), against
libsframe and against the findings of sframe-verify --profile=linux.

The reader's own headers are taken from the tree; every other kernel header it includes is an empty file, and
kernel/shims.h has what they would define. Nothing of the tree is copied."""

import datetime
import glob
import json
import os
import random
import re
import shutil
import subprocess
import tempfile

from common import HERE, MACHINES, Elf, Missing, PF_X, PT_GNU_SFRAME, PT_LOAD, ROOT, note, print_table, run, table, write_table

# What the trees' readers are: everything else that they include is empty.
OWN_HEADERS = ("linux/sframe.h", "linux/unwind_types.h", "linux/unwind_user_types.h", "uapi/linux/stacktrace.h", "asm/unwind_sframe.h")
ARCHITECTURES = {"amd64": ("x86", 7, 6), "aarch64": ("arm64", 31, 29), "s390x": ("s390", 15, 11)}  # folder, SP, FP

SYSTEM = "/usr/lib/x86_64-linux-gnu/"
FILES = [
    SYSTEM + "libc.so.6", SYSTEM + "libstdc++.so.6", SYSTEM + "libm.so.6", SYSTEM + "libcrypto.so.3", SYSTEM + "libLLVM-14.so.1",
    SYSTEM + "libLLVM.so.22.1", "/usr/bin/bash", "/usr/bin/python3", "/usr/bin/perl", "/usr/bin/git", "/usr/bin/gdb", "/usr/bin/cmake",
    *("/usr/%s/lib/%s" % (triple, name) for triple in ("aarch64-linux-gnu", "s390x-linux-gnu")
      for name in ("libc.so.6", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1")),
]


class Tree:
    """A Linux tree with a reader, and its programs, one per ABI."""

    def __init__(self, folder, build, work):
        self.folder, self.build, self.work = os.path.abspath(folder), build, work
        self.source = os.path.join(self.folder, "kernel/unwind/sframe.c")
        if not os.path.exists(self.source):
            raise Missing("%s has no kernel/unwind/sframe.c" % folder)
        with open(self.source, encoding="utf-8") as file:
            self.text = file.read()
        self.flexible = "sframe_find_user" in self.text
        self.programs = {}

    def name(self):
        """The commit of a git tree, or of a file COMMIT in it."""
        commit = os.path.join(self.folder, "COMMIT")
        if os.path.exists(commit):
            with open(commit, encoding="utf-8") as file:
                return file.read().strip()
        found = subprocess.run(["git", "-C", self.folder, "log", "-1", "--format=%h %s"], capture_output=True, text=True)
        return found.stdout.strip() if found.returncode == 0 and os.path.exists(os.path.join(self.folder, ".git")) else "commit not known"

    def headers(self, abi, include):
        """The tree's own headers as links, all others that they include as empty files."""
        places = {"asm/unwind_sframe.h": "arch/%s/include/asm/unwind_sframe.h" % ARCHITECTURES[abi][0]}
        wanted, seen = [self.source, *glob.glob(os.path.join(self.folder, "kernel/unwind/sframe*.h"))], set()
        while wanted:
            with open(wanted.pop(), encoding="utf-8") as file:
                names = re.findall(r"^\s*#\s*include\s*<([\w/.-]+)>", file.read(), re.M)
            for name in set(names) - seen:
                seen.add(name)
                target = os.path.join(include, name)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                real = os.path.join(self.folder, places.get(name, "include/" + name))
                if name in OWN_HEADERS and os.path.exists(real):
                    os.symlink(real, target)
                    wanted.append(real)
                else:
                    open(target, "w").close()

    def program(self, abi):
        """Compiles the reader for an ABI, with the comparison."""
        if abi in self.programs:
            return self.programs[abi]
        library = os.path.join(self.build, "libsframe", "libsframe++.a")
        if not os.path.exists(library):
            raise Missing(library + " is not there: build first")
        folder = os.path.join(self.work, abi)
        include = os.path.join(folder, "include")
        self.headers(abi, include)
        _, sp, fp = ARCHITECTURES[abi]
        defines = ["-DKERNEL_SOURCE=\"%s\"" % self.source, "-DARCH_SP=%d" % sp, "-DARCH_FP=%d" % fp] + ([] if self.flexible else ["-DKERNEL_EARLY"])
        reader, program = os.path.join(folder, "reader.o"), os.path.join(folder, "compare")
        if not re.search(r"asm/unwind_sframe.h", self.text) or not os.path.islink(os.path.join(include, "asm/unwind_sframe.h")):
            defines += ["-DSFRAME_REG_SP=%d" % sp, "-DSFRAME_REG_FP=%d" % fp]
        try:
            run(["gcc", "-std=gnu11", "-O2", "-w", "-I", include, *defines, "-c", os.path.join(HERE, "kernel/reader.c"), "-o", reader])
        except Missing as error:
            raise Missing("the reader of %s needs something that test/consumers/kernel/shims.h does not have: %s" % (self.folder, error))
        run(["g++", "-std=c++23", "-O2", "-I", os.path.join(ROOT, "libsframe/include"), "-I", os.path.join(HERE, "kernel"),
             os.path.join(HERE, "kernel/compare.cc"), reader, library, "-o", program])
        self.programs[abi] = program
        return program

    def look_up(self, elf, paths, randoms):
        """The counts of compare.cc for files that differ in bytes only."""
        section = elf.find(PT_GNU_SFRAME)
        text = elf.find(PT_LOAD, PF_X)
        if not section or not text:
            raise Missing("no PT_GNU_SFRAME or no executable segment in " + paths[0])
        _, _, offset, address, size, _ = section[0]
        start, end = text[0][3], text[0][3] + text[0][5]
        out = run(["nice", self.program(MACHINES[elf.machine]), *("%x" % n for n in (offset, size, address, start, end, randoms)), *paths])
        results = []
        for line in out.splitlines():
            numbers, first = line.split(" ", 8)[:8], line.split(" ", 8)[8]
            results.append(dict(zip(("add", "removed", "trapped", "warnings", "lookups", "found", "outermost", "mismatches"), map(int, numbers)), first=first))
        if len(results) != len(paths):
            raise Missing("the reader's program ended early")
        return results


def convert(tools, source, target, *options):
    """A converted copy; None if there is nothing to convert."""
    done = subprocess.run([tools.path("sframe-gen"), source, "-o", target, "--report=none", *options], capture_output=True, text=True)
    return target if done.returncode == 0 and os.path.exists(target) else None


def compare_files(tools, tree, work, randoms):
    rows, totals = [], dict.fromkeys(("lookups", "mismatches", "found", "outermost"), 0)
    abis, seen = {}, set()
    for path in FILES:
        if os.path.realpath(path) in seen or not os.path.exists(path):
            note("skipped: no " + path)
            continue
        seen.add(os.path.realpath(path))
        copy = convert(tools, os.path.realpath(path), os.path.join(work, "converted"), "--for=linux", "-q")
        if not copy:
            note("skipped: sframe-gen cannot convert " + path)
            continue
        elf = Elf(copy)
        counts = tree.look_up(elf, [copy], randoms)[0]
        abi = MACHINES[elf.machine]
        result = "refused (%d)" % -counts["add"] if counts["add"] else "removed" if counts["removed"] else "accepted"
        rows.append((os.path.basename(path), abi, result, "{:,}".format(counts["lookups"]), "{:,}".format(counts["found"]), counts["mismatches"]))
        if counts["first"]:
            note("%s: %s" % (path, counts["first"]))
        abis[abi] = abis.get(abi, 0) + 1
        for key in totals:
            totals[key] += counts[key]
        os.remove(copy)
    return rows, totals, abis


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
    """Copies of a file with one, sometimes two or three, damaged places in its section: bytes and numbers of
    the header, the index, attributes and rows."""
    offset, size = elf.find(PT_GNU_SFRAME)[0][2], elf.find(PT_GNU_SFRAME)[0][4]
    index = offset + 28
    entries = int.from_bytes(elf.data[offset + 8:offset + 12], "big" if elf.order == ">" else "little")
    rows = index + entries * 16
    for _ in range(count):
        data, what = bytearray(elf.data), []
        for _ in range(rng.choices((1, 2, 3), (8, 1, 1))[0]):
            part = rng.choices(("header", "index", "rows"), (2, 2, 6))[0]
            low, high = {"header": (offset, index), "index": (index, rows), "rows": (rows, offset + size)}[part]
            at = rng.randrange(low, high)
            kind = rng.randrange(4)
            old = data[at]
            data[at] = (old ^ 1 << rng.randrange(8), rng.choice((0, 1, 0x7F, 0x80, 0xFF)), (old + rng.choice((-1, 1))) & 0xFF, rng.randrange(256))[kind]
            what.append("%s+0x%x: %02x -> %02x" % (part, at - low, old, data[at]))
        if data != elf.data:
            yield bytes(data), ", ".join(what)


def compare_mutations(tools, tree, work, count, profile="linux", show=5):
    """Accepts and refuses of the reader against the findings of sframe-verify, one program."""
    compiler = shutil.which("gcc")
    if not compiler:
        raise Missing("no gcc for the program that is mutated")
    source, program = os.path.join(work, "small.c"), os.path.join(work, "small.so")
    with open(source, "w") as file:
        file.write(SOURCE)
    run([compiler, "-O2", "-fPIC", "-shared", source, "-o", program])
    converted = convert(tools, program, os.path.join(work, "small.converted"), "--for=" + profile, "--no-share")
    if not converted:
        raise Missing("sframe-gen cannot convert the program that is mutated")
    elf, rng = Elf(converted), random.Random(1)
    if tree.look_up(elf, [converted], 0)[0]["add"]:
        return {}, 0  # the reader refuses it as it is
    classes = dict.fromkeys(("both accept", "both refuse", "read differently, reported", "refused by the specification alone",
                             "FALSE ACCEPT", "FALSE REFUSE"), 0)
    examples = {}
    made = mutations(elf, rng, count * 2)
    done = 0
    while done < count:
        batch = []
        for data, what in made:
            batch.append((os.path.join(work, "mutant%d" % len(batch)), what))
            with open(batch[-1][0], "wb") as file:
                file.write(data)
            if len(batch) >= min(250, count - done):
                break
        if not batch:
            break
        paths = [path for path, _ in batch]
        theirs = tree.look_up(elf, paths, 200)
        report = subprocess.run(["nice", tools.path("sframe-verify"), "-q", "--check=structure", "--profile=" + profile, "--format=json", "--max-findings", "1000", *paths],
                                capture_output=True, text=True)
        # A file that cannot be read at all ends with 2; the report has the others.
        ours = {entry["path"]: entry for entry in json.loads(report.stdout)["files"]}
        for (path, what), answer in zip(batch, theirs):
            entry = ours.get(path, {})
            findings = [f for f in entry.get("findings", []) if f["severity"] != "note"]
            errors = {f["id"] for f in findings if f["severity"] == "error"} | ({"unreadable"} if "findings" not in entry or entry.get("error") else set())
            refused = answer["add"] != 0 or answer["removed"] or answer["trapped"]
            if refused:
                kind = "both refuse" if errors else "FALSE ACCEPT"
            elif answer["mismatches"]:
                kind = "read differently, reported" if findings or errors else "FALSE ACCEPT"
            elif any(e.startswith("P4") for e in errors):
                kind = "FALSE REFUSE"
            else:
                kind = "refused by the specification alone" if errors else "both accept"
            classes[kind] += 1
            if kind.startswith("FALSE"):
                why = "add %(add)d, removed %(removed)d, trapped %(trapped)d, %(mismatches)d mismatches %(first)s" % answer
                examples.setdefault(kind, []).append("%s; reader: %s; findings: %s" % (what, why, ", ".join(sorted({f["id"] for f in findings})) or "none"))
        done += len(batch)
    for kind, texts in examples.items():
        for text in texts[:show]:
            note("%s: %s" % (kind, text))
    return classes, done


def main(arguments, tools):
    folder = arguments.kernel or os.environ.get("KERNEL")
    if not folder:
        raise Missing("set KERNEL=DIR to a Linux tree that has kernel/unwind/sframe.c")
    with tempfile.TemporaryDirectory() as work:
        tree = Tree(folder, tools.build, work)
        print("tree: " + tree.name() + ("" if tree.flexible else " (no flexible functions)"))
        rows, totals, abis = compare_files(tools, tree, work, arguments.random)
        print_table(("file", "ABI", "section", "lookups", "with a row", "mismatches"), rows)
        print("%d files, %d ABIs, %s lookups, %d mismatches" % (len(rows), len(abis), "{:,}".format(totals["lookups"]), totals["mismatches"]))
        classes, done = compare_mutations(tools, tree, work, arguments.mutations)
        print("%d mutations: " % done + (", ".join("%s %d" % item for item in classes.items()) or "the reader refuses the section as it is"))
        if arguments.markdown and classes:
            lines = ["Tree %s, on %s." % (tree.name(), datetime.date.today()), ""]
            lines += table(("file", "ABI", "section", "lookups", "with a row", "mismatches"), rows)
            lines += ["", "%s lookups, %d mismatches. %d mutations of a program's section:" % ("{:,}".format(totals["lookups"]), totals["mismatches"], done), ""]
            lines += table(("reader and `--profile=linux`", "mutations"), [(k.lower(), v) for k, v in classes.items()])
            write_table("consumers.md", "kernel", lines)
    wrong = totals["mismatches"] if tree.flexible else 0
    return 1 if wrong or classes.get("FALSE ACCEPT") or classes.get("FALSE REFUSE") else 0
