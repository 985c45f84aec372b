#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make-wheel.py SOURCE LIBRARY DIRECTORY: the Python package in SOURCE with LIBRARY
(libsframe-c.so.0.x) inside, as a wheel in DIRECTORY. Its platform is the oldest C library that has
the functions that LIBRARY uses (PEP 600). Uses pip, setuptools and wheel of this Python or of the
system's, and no network."""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def platform_of(library):
    versions = subprocess.run(
        ["objdump", "-T", library], capture_output=True, text=True, check=True
    ).stdout
    newest = max((int(a), int(b)) for a, b in re.findall(r"\bGLIBC_(\d+)\.(\d+)", versions))
    return "manylinux_%d_%d_%s" % (*newest, os.uname().machine)


def needed_by(library):
    dynamic = subprocess.run(
        ["readelf", "-d", library], capture_output=True, text=True, check=True
    ).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)


def python_with_wheel():
    for python in (sys.executable, "/usr/bin/python3"):
        if not subprocess.run(
            [python, "-c", "import setuptools, wheel, pip"], cwd="/", stderr=subprocess.DEVNULL
        ).returncode:
            return python
    sys.exit(
        "make-wheel: error: pip, setuptools or wheel is missing (Debian: python3-pip, python3-setuptools, python3-wheel)"
    )


def main(source, library, directory):
    # What PEP 600 lets a wheel expect of every system.
    strange = [
        name
        for name in needed_by(library)
        if not re.match(r"lib(c|m|z|dl|rt|pthread)\.so\.\d+$|ld-linux", name)
    ]
    if strange:
        sys.exit(
            "make-wheel: error: %s needs %s, which systems need not have"
            % (library, ", ".join(strange))
        )
    with tempfile.TemporaryDirectory() as work:
        copy = os.path.join(work, "python")
        shutil.copytree(
            source,
            copy,
            ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "make-wheel.py"),
        )
        inside = os.path.join(copy, "sframe", "libsframe-c.so.0")
        shutil.copyfile(library, inside)
        # What is linked in has licences of its own. setuptools takes files of these names.
        project = os.path.join(source, os.pardir, os.pardir)
        shutil.copy(os.path.join(project, "LICENSE"), copy)
        with open(
            os.path.join(project, "packaging", "static", "linked-packages"), encoding="utf-8"
        ) as packages:
            for package in packages.read().split():
                text = os.path.join("/usr/share/doc", package, "copyright")
                if os.path.exists(text):
                    shutil.copyfile(text, os.path.join(copy, "LICENSE." + package))
        subprocess.run(["strip", "--strip-unneeded", inside], check=True)
        subprocess.run(
            [
                python_with_wheel(),
                "-m",
                "pip",
                "wheel",
                "--quiet",
                "--disable-pip-version-check",
                "--no-build-isolation",
                "--no-index",
                "--no-deps",
                "--wheel-dir",
                directory,
                "--config-settings=--build-option=--plat-name=" + platform_of(library),
                copy,
            ],
            check=True,
        )


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
