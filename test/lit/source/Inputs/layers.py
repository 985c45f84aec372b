"""layers.py PROJECT: the include graph. Between libraries every arrow goes down: to one that
lib/CMakeLists.txt has before (libsframe is below all of them, interfaces/ above). Within the
libraries of CIRCLE_FREE the units (NAME.h with NAME.cc) make no circle."""
import os
import re
import sys

CIRCLE_FREE = {
    "base",
    "listing",
    "unwind",
    "modules",
    "steppers",
    "process",
    "languages",
    "remote",
    "interfaces/libunwind",
    "interfaces/libsframe",
}
INTERFACES = [
    "interfaces/bpf",
    "interfaces/c",
    "interfaces/libunwind",
    "interfaces/libsframe",
    "interfaces/orc",
]

project = sys.argv[1]
with open(os.path.join(project, "lib/CMakeLists.txt"), encoding="utf-8") as lists:
    order = ["libsframe"] + re.findall(r"add_subdirectory\((\w+)\)", lists.read()) + INTERFACES
top = {"lib", "interfaces", "libsframe"}

files = {}
for folder in sorted(top):
    for root, _, names in os.walk(os.path.join(project, folder)):
        for name in names:
            if name.endswith((".cc", ".h")):
                path = os.path.relpath(os.path.join(root, name), project)
                with open(os.path.join(project, path), encoding="utf-8") as file:
                    files[path] = re.findall(r'^\s*#\s*include ["<]([^">]+)[">]', file.read(), re.M)


def folder(path):
    """The folder of the library that has the file."""
    return "libsframe" if path.startswith("libsframe/") else "/".join(path.split("/")[:2])


def library(path):
    return folder(path).removeprefix("lib/")


def unit(path):
    """A header and what implements it count as one."""
    inside = re.sub(r"^(libsframe|\w+/\w+)/(include/(sframe/)?(\w+/)?|src/)", "", path)
    return library(path), os.path.splitext(inside)[0]


def find(included, path):
    """The file of ours that an include leads to."""
    candidates = [
        os.path.join(folder(path), "src", included),
        os.path.normpath(os.path.join(os.path.dirname(path), included)),
    ]
    for root in ["libsframe"] + ["lib/" + name for name in order] + INTERFACES:
        candidates.append(os.path.join(root, "include", included))
    candidates.append(os.path.join("interfaces/libsframe/include/gnu", included))
    return next((candidate for candidate in candidates if candidate in files), None)


faults = []
edges = {}
for path, includes in files.items():
    for included in includes:
        target = find(included, path)
        if not target:
            continue
        if order.index(library(target)) > order.index(library(path)):
            faults.append(f"{path} includes {target}, which is in a library above it")
        if library(target) == library(path) in CIRCLE_FREE and unit(target) != unit(path):
            edges.setdefault(unit(path), set()).add(unit(target))

state = {}


def visit(node, way):
    if state.get(node) == "done":
        return
    if node in way:
        circle = way[way.index(node) :] + [node]
        faults.append("a circle: " + " -> ".join("/".join(part) for part in circle))
        return
    for target in sorted(edges.get(node, ())):
        visit(target, way + [node])
    state[node] = "done"


for start in sorted(edges):
    visit(start, [])
print("\n".join(faults) or f"{len(files)} files, no arrow up, no circle")
sys.exit(1 if faults else 0)
