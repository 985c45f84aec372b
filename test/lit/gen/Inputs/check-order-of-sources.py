"""check-order-of-sources.py GO ALL CFI: dumps with origins of sections from Go's function table,
from all sources, and from CFI. Each function by Go's table is in ALL, with the same rows; nothing
else is where these are; and what ALL has from CFI is in CFI, with the same rows."""
import json
import sys


def functions(path):
    found = {}
    for function in json.load(open(path))["files"][0]["sections"][0]["functions"]:
        rows = [
            tuple(row[key] for key in ("offset", "cfa", "ra", "fp")) for row in function["rows"]
        ]
        origins = {origin for row in function["rows"] for origin in row["origin"]}
        found[int(function["start"], 16)] = (
            function["size"],
            function.get("signal"),
            rows,
            origins,
        )
    return found


go, everything, cfi = map(functions, sys.argv[1:])
by_table = {start: value for start, value in go.items() if value[3] == {"go"}}
for start, value in by_table.items():
    assert everything[start] == value, (hex(start), value, everything.get(start))
assert by_table.keys() == {start for start, value in everything.items() if "go" in value[3]}
others = {start: value for start, value in everything.items() if value[3] == {"cfi"}}
for start, value in others.items():
    assert cfi[start] == value, (hex(start), value, cfi.get(start))
ends = sorted((start, start + value[0]) for start, value in everything.items())
assert all(end <= start for (_, end), (start, _) in zip(ends, ends[1:]))
assert by_table and others
print(
    f"{len(by_table)} functions by Go's table, the same with all sources; {len(others)} others as "
    "in the CFI"
)
