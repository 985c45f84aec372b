# check-minidump.py CORE.json MINIDUMP.json: the threads of a process by its core and by a minidump
# (minidump.py) are equal, but for the folders of modules. Threads whose frames are on two stacks
# may end at the end of the first.
import json
import sys

core, dump = (json.load(open(file)) for file in sys.argv[1:])


def frames(thread):
    return [{**f, "module": f.get("module", "").split("/")[-1]} for f in thread["frames"]]


expected = {t["tid"]: t for t in core["threads"]}
assert core["threads"][0]["tid"] == dump["threads"][0]["tid"], "the thread that died is the first"
assert sorted(expected) == sorted(t["tid"] for t in dump["threads"])
equal = parts = 0
for thread in dump["threads"]:
    right, found = frames(expected[thread["tid"]]), frames(thread)
    if right == found and thread["end"] == expected[thread["tid"]]["end"]:
        equal += 1
        continue
    found[-1]["cfa"] = right[len(found) - 1]["cfa"]  # its CFI needs memory
    assert right[: len(found)] == found and "memory cannot be read" in thread["end"]["reason"], (
        right,
        found,
        thread["end"],
    )
    assert len({f["cfa"][:-5] for f in right if "cfa" in f}) > 1
    parts += 1
for key in ("pid", "signal", "signature", "signature_frames"):
    assert core[key] == dump[key], (key, core[key], dump[key])
for key in (
    "tid",
    "signal",
    "code",
    "code_name",
    "meaning",
    "guess",
    "access",
    "address",
    "sender",
    "instruction",
):
    assert core["crash"].get(key) == dump["crash"].get(key), (key, core["crash"], dump["crash"])
print(
    equal, "threads are equal" + (", %d up to the stack that is not there" % parts if parts else "")
)
