"""check-go-table.py FULL BARE: two reports in JSON on one core, by the program and by its stripped
copy. All threads have the same frames, functions and innermost places in the source, and are walked
to the end. Left out: a frame that stands for the runtime's data (systemstack_switch), which needs
DWARF, and clone() after the function that the table marks as the outermost one."""
import json
import re
import sys


def frames(thread):
    return [
        frame
        for frame in thread["frames"]
        if not frame["function"].startswith(("runtime.systemstack_switch", "runtime.clone"))
    ]


def place(frame):
    at = frame["inlined"][0] if frame.get("inlined") else frame
    return at.get("file"), at.get("line")


def threads(path):
    with open(path, encoding="utf-8") as file:
        return {thread["tid"]: thread for thread in json.load(file)["threads"]}


full, bare = threads(sys.argv[1]), threads(sys.argv[2])
assert full.keys() == bare.keys()
compared = by_table = 0
for tid, thread in full.items():
    expected, found = frames(thread), frames(bare[tid])
    assert [f["pc"] for f in expected] == [f["pc"] for f in found], (tid, expected, found)
    assert thread["end"]["complete"] and bare[tid]["end"]["complete"], (
        tid,
        thread["end"],
        bare[tid]["end"],
    )
    for a, b in zip(expected, found):
        name = re.sub(r"\.abi(0|internal)$", "", a["function"])
        assert name == b["function"] and a["offset"] == b["offset"], (a, b)
        if "file" in a:
            assert place(a) == place(b), (a, b)
        compared += 1
        by_table += b["stepper"] == "go-table"
        assert b["trust"] == "exact", b
print(f"{len(full)} threads, {compared} frames, {by_table} by the table")
