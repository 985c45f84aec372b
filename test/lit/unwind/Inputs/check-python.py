"""check-python.py TRACEBACK < JSON: compares the Python frames in the JSON of sframe-unwind with
what faulthandler printed: the same stacks in the threads, and the same one in the thread that
died."""
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
core = json.load(sys.stdin)
expected = []
for block in re.findall(r"^(?:Current thread|Thread) 0x.*\n((?:  File .*\n)+)", text, re.M):
    expected.append(re.findall(r'^  File "(.*)", line (\d+) in (.*)$', block, re.M))
current = re.search(r"^Current thread 0x.*\n((?:  File .*\n)+)", text, re.M)

found = {}
for thread in core["threads"]:
    if "python" in thread:
        assert thread["python"]["problem"] is None, thread["python"]
        # faulthandler prints the name without what it is defined in, and escapes what is not ASCII.
        found[thread["tid"]] = [
            (
                f["file"].encode("ascii", "backslashreplace").decode(),
                str(f["line"]),
                f["function"].split(".")[-1],
            )
            for f in thread["python"]["frames"]
        ]
assert sorted(found.values()) == sorted(expected), (found, expected)
assert found[core["crash"]["tid"]] == re.findall(
    r'^  File "(.*)", line (\d+) in (.*)$', current[1], re.M
)
holders = [thread["tid"] for thread in core["threads"] if thread.get("python", {}).get("holds_gil")]
assert holders == [core["crash"]["tid"]], holders
print(f"{len(found)} threads, {sum(map(len, found.values()))} frames")
