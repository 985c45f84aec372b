"""abis.py PROJECT: no code outside the folders of ABIs compares an ABI with a named one: what
differs is data. Registers, which are made from abis.def, say Abi::name. EXCEPTIONS says why a file
may name ABIs."""
import os
import re
import sys

EXCEPTIONS = {
    "libsframe/include/sframe/builder.h": "the ABI of a builder for which none is chosen",
    "lib/readers/src/readers.cc": "which ABIs glibc's reader supports: data of the reader",
    "interfaces/libunwind/src/registers.cc": "libunwind's own numbers, compiled once per target",
}
FOLDERS = {"abi", "amd64", "aarch64", "s390x"}

project = sys.argv[1]
found = {}
files = 0
for top in ("libsframe", "lib", "interfaces", "tools"):
    for root, folders, names in os.walk(os.path.join(project, top)):
        folders[:] = sorted(set(folders) - FOLDERS)
        for name in sorted(names):
            if not name.endswith((".cc", ".h")):
                continue
            files += 1
            path = os.path.relpath(os.path.join(root, name), project)
            with open(os.path.join(root, name), encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    if re.search(r"\bAbi::(?!name\b)[a-z]\w*", line.split("//")[0]):
                        found.setdefault(path, []).append(number)

faults = [
    "%s:%d names an ABI" % (path, number)
    for path in sorted(found.keys() - EXCEPTIONS.keys())
    for number in found[path]
]
faults += [
    "%s names no ABI: no exception is needed" % path
    for path in sorted(EXCEPTIONS.keys() - found.keys())
]
print("\n".join(faults) or "%d files, ABIs are data" % files)
