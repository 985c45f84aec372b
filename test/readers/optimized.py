# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/readers optimized: readers look up the same addresses in sections that --optimize=size
(20, 40 and 80 rows) and =smallest made, and must find what libsframe finds in the section of one
FDE per function. Also times lookups."""

import glob
import os
import shutil
import tempfile

import glibc
import kernel
from common import MACHINES, ROOT, Elf, Missing, note, print_table, write_table, table
from lookups import FILES, Reader, convert, section_place

VARIANTS = (
    ("one FDE per function", ()),
    *(("%d rows" % n, ("--optimize=size", "--max-rows=%d" % n)) for n in (20, 40, 80)),
    ("smallest", ("--optimize=smallest",)),
)


class Gnu(Reader):
    """GNU binutils' libsframe. Its decoder does not swap shared rows, so files of the host's byte
    order."""

    abis, profile = ("amd64", "aarch64"), None

    def __init__(self, path, build, work):
        self.path, self.build, self.work, self.made = os.path.abspath(path), build, work, {}

    def program(self, abi):
        if abi not in self.made:
            folder = os.path.join(self.work, "gnu-" + abi)
            os.makedirs(folder, exist_ok=True)
            sp, fp = {"amd64": (7, 6), "aarch64": (31, 29)}[abi]
            options = [
                "-I",
                os.path.join(ROOT, "interfaces/libsframe/include/gnu"),
                "-DGNU_SP=%d" % sp,
                "-DGNU_FP=%d" % fp,
            ]
            # Not in its own folder, which may have another C library.
            library = shutil.copy(self.path, os.path.join(folder, "libsframe.so.3"))
            self.made[abi] = self.compile(
                folder, "gnu.c", options, [library, "-Wl,-rpath," + folder]
            )
        return self.made[abi]


def readers(arguments, tools, work):
    """Those that are at hand."""
    tree = arguments.kernel or os.environ.get("KERNEL")
    if tree:
        yield "kernel", kernel.Tree(tree, tools.build, work)
    sources = glob.glob(os.path.join(arguments.cache, "*/src/glibc-*/"))
    if sources:
        yield "glibc", glibc.Library(sources[0].rstrip("/"), tools.build, work)
    if arguments.gnu:
        yield "GNU libsframe", Gnu(arguments.gnu, tools.build, work)


def main(arguments, tools):
    rows, lookups, mismatches = [], 0, 0
    with tempfile.TemporaryDirectory() as work:
        found = list(readers(arguments, tools, work))
        if not found:
            raise Missing(
                "no reader: set KERNEL, or --cache with glibc's source (scripts/readers glibc), or --gnu"
            )
        for path in dict.fromkeys(os.path.realpath(path) for path in FILES if os.path.exists(path)):
            abi = MACHINES.get(Elf(path).machine)
            for name, reader in found:
                if abi not in reader.abis:
                    continue
                options = ("-q", *(["--for=" + reader.profile] if reader.profile else []))
                copies = [
                    convert(tools, path, os.path.join(work, "copy%d" % i), *options, *more)
                    for i, (_, more) in enumerate(VARIANTS)
                ]
                if not all(copies):
                    note("skipped: sframe-gen cannot convert " + path)
                    break
                reference = ("-r", copies[0], *section_place(Elf(copies[0]), copies[0]))
                results = [
                    reader.look_up(Elf(copy), [copy], arguments.random, *reference, "-t")[0]
                    for copy in copies
                ]
                lookups += sum(r["lookups"] for r in results)
                wrong = sum(r["mismatches"] or r["add"] != 0 or r["removed"] for r in results)
                mismatches += wrong
                for (variant, _), result in zip(VARIANTS, results):
                    if result["first"] or result["add"]:
                        note(
                            "%s, %s, %s: add %d, %s"
                            % (path, name, variant, result["add"], result["first"])
                        )
                sizes = [int(section_place(Elf(copy), copy)[1], 16) for copy in copies]
                rows.append(
                    (
                        os.path.basename(path),
                        abi,
                        name,
                        "{:,}".format(sum(r["lookups"] for r in results)),
                        wrong,
                        "{:,}".format(results[2]["added"]),
                        *(
                            "%.0f ns (%.0f %%)" % (r["time"], 100 * size / sizes[0])
                            for r, size in zip(results, sizes)
                        ),
                    )
                )
                for copy in copies:
                    os.remove(copy)
    head = (
        "file",
        "ABI",
        "reader",
        "lookups",
        "mismatches",
        "in padding",
        *(name for name, _ in VARIANTS),
    )
    print_table(head, rows)
    print("%s lookups, %d files with mismatches" % ("{:,}".format(lookups), mismatches))
    if arguments.markdown:
        write_table("dev/size.md", "lookups", table(head, rows))
    return 1 if mismatches else 0
