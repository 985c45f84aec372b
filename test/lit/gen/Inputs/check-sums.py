# The JSON lines of a tree: the figures of the last one, the summary, are the sums of the others'.
import json
import sys


def numbers(value, path=()):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from numbers(inner, (*path, name))
    elif isinstance(value, int):
        yield path, value


SUMMED = ("functions", "pc_bytes", "executable_bytes", "reasons", "sizes", "fdes", "rows")
*files, last = (json.loads(line) for line in open(sys.argv[1]))
sums = {}
for file in files:
    for path, value in numbers({name: file[name] for name in SUMMED if name in file}):
        sums[path] = sums.get(path, 0) + value
summary = dict(numbers({name: last["summary"][name] for name in SUMMED}))
assert summary == sums, (summary, sums)
assert len(files) == last["summary"]["files"]["total"] and all(
    sums["sizes", name] > 0 for name in last["summary"]["sizes"]
), sums
