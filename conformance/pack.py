#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs the kits for release: the program, the cases, the sections and questions made of them, the
page and the licence.

    pack.py PROJECT VERSION OUTPUT.tar.xz      two runs give the same bytes
"""
import io
import os
import sys
import tarfile
import tempfile

project, version, output = sys.argv[1:]
sys.dont_write_bytecode = True
source = os.path.join(project, "conformance")
sys.path.insert(0, source)
from sframe_conformance import readers  # noqa: E402

ROOT = "sframe-conformance-" + version
SECONDS = 1767225600  # of all files: the first of January 2026


def add(tar, name, data, mode=0o644):
    entry = tarfile.TarInfo(os.path.join(ROOT, name))
    entry.size, entry.mode, entry.mtime = len(data), mode, SECONDS
    tar.addfile(entry, io.BytesIO(data))


def content(path):
    with open(path, "rb") as file:
        return file.read()


def files(folder):
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            path = os.path.join(parent, name)
            yield os.path.relpath(path, folder), path


with tempfile.TemporaryDirectory() as made:
    readers.make(readers.load(os.path.join(source, "readers", "cases")), made)
    temporary = output + ".new"
    with tarfile.open(temporary, "w:xz", format=tarfile.GNU_FORMAT) as tar:
        add(tar, "LICENSE", content(os.path.join(project, "LICENSE")))
        add(tar, "README.md", content(os.path.join(project, "docs", "conformance.md")))
        starter = content(os.path.join(source, "sframe-conformance.in")).decode()
        for name, value in (
            ("SFRAME_CONFORMANCE_FOLDER", "."),
            ("SFRAME_OPTIONS_FOLDER", "."),
            ("PROJECT_VERSION", version),
        ):
            starter = starter.replace("@%s@" % name, value)
        add(tar, "sframe-conformance", starter.encode(), 0o755)
        add(
            tar,
            "sframe_options.py",
            content(os.path.join(project, "tools", "common", "python", "sframe_options.py")),
        )
        for name, path in files(source):
            if name not in ("CMakeLists.txt", "pack.py", "sframe-conformance.in"):
                add(tar, name, content(path))
        for name, path in files(made):
            add(tar, os.path.join("readers", "sections", name), content(path))
os.replace(temporary, output)
