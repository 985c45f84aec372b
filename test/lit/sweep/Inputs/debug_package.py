"""debug_package.py FOLDER: a library in C without debug information in a package, and its debug
file in another one."""
import os
import subprocess
import sys

import packages

folder = sys.argv[1]
os.makedirs(folder)
library, debug = os.path.join(folder, "split.so"), os.path.join(folder, "split.debug")
subprocess.run(
    ["gcc", "-g", "-O2", "-shared", "-fPIC", "-Wl,--build-id", "-x", "c", "-", "-o", library],
    check=True,
    input=b"int g(int); int f(int a) { return g(a) + 1; }\n",
)
subprocess.run(["objcopy", "--only-keep-debug", library, debug], check=True)
subprocess.run(["strip", "-R", ".comment", library], check=True)


def contents(path):
    with open(path, "rb") as file:
        return file.read()


packages.deb(
    os.path.join(folder, "split_1_amd64.deb"),
    "split",
    "1",
    "amd64",
    [("./usr/lib/split.so", contents(library))],
)
packages.deb(
    os.path.join(folder, "split-dbgsym_1_amd64.deb"),
    "split-dbgsym",
    "1",
    "amd64",
    [("./usr/lib/debug/.build-id/00/00.debug", contents(debug))],
)
os.unlink(library)
os.unlink(debug)
