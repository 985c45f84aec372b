# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/readers kernel: the reader of a Linux tree against libsframe and sframe-verify
--profile=linux.

The reader's own headers are taken from the tree; every other kernel header it includes is an empty
file, and readers/linux_shims.h has what they would define. Nothing of the tree is copied."""

import glob
import os
import re
import subprocess
import tempfile

from common import Missing
from lookups import Reader, report

# What the trees' readers are: everything else that they include is empty.
OWN_HEADERS = (
    "linux/sframe.h",
    "linux/unwind_types.h",
    "linux/unwind_user_types.h",
    "uapi/linux/stacktrace.h",
    "asm/unwind_sframe.h",
)
ARCHITECTURES = {
    "amd64": ("x86", 7, 6),
    "aarch64": ("arm64", 31, 29),
    "s390x": ("s390", 15, 11),
}  # folder, SP, FP


class Tree(Reader):
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
        found = subprocess.run(
            ["git", "-C", self.folder, "log", "-1", "--format=%h %s"],
            capture_output=True,
            text=True,
        )
        return (
            found.stdout.strip()
            if found.returncode == 0 and os.path.exists(os.path.join(self.folder, ".git"))
            else "commit not known"
        )

    def headers(self, abi, include):
        """The tree's own headers as links, all others that they include as empty files."""
        places = {
            "asm/unwind_sframe.h": "arch/%s/include/asm/unwind_sframe.h" % ARCHITECTURES[abi][0]
        }
        wanted, seen = [
            self.source,
            *glob.glob(os.path.join(self.folder, "kernel/unwind/sframe*.h")),
        ], set()
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
        folder = os.path.join(self.work, abi)
        include = os.path.join(folder, "include")
        self.headers(abi, include)
        _, sp, fp = ARCHITECTURES[abi]
        defines = ['-DKERNEL_SOURCE="%s"' % self.source] + (
            [] if self.flexible else ["-DKERNEL_EARLY"]
        )
        if not re.search(r"asm/unwind_sframe.h", self.text) or not os.path.islink(
            os.path.join(include, "asm/unwind_sframe.h")
        ):
            defines += ["-DSFRAME_REG_SP=%d" % sp, "-DSFRAME_REG_FP=%d" % fp]
        try:
            self.programs[abi] = self.compile(folder, "linux.c", ["-I", include, *defines])
        except Missing as error:
            raise Missing(
                "the reader of %s may need something that test/readers/readers/linux_shims.h does not have: %s"
                % (self.folder, error)
            )
        return self.programs[abi]


def main(arguments, tools):
    folder = arguments.kernel or os.environ.get("KERNEL")
    if not folder:
        raise Missing("set KERNEL=DIR to a Linux tree that has kernel/unwind/sframe.c")
    with tempfile.TemporaryDirectory() as work:
        tree = Tree(folder, tools.build, work)
        return report(
            arguments,
            tools,
            tree,
            work,
            "kernel",
            "tree " + tree.name() + ("" if tree.flexible else " (without flexible functions)"),
        )
