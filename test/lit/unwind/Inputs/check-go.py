"""check-go.py TRACEBACK < JSON: compares the goroutines in the JSON of sframe-unwind with the
traceback that Go's runtime printed when it died (GOTRACEBACK=crash): all are there, in the same
state, with the same program counters in all frames, started by the same function; and the panic has
the same text."""
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
    text = file.read().split("\n-----\n")[0]  # what follows is of other threads
core = json.load(sys.stdin)
threads = {thread["tid"]: thread for thread in core["threads"]}
found = {goroutine["id"]: goroutine for goroutine in core["goroutines"]}

compared = frames = 0
for block in re.findall(r"^goroutine (\d+) (?:gp=.*? )?\[([^\]\n]*)\]:\n((?:.+\n)+)", text, re.M):
    number, state, body = int(block[0]), block[1].split(",")[0], block[2]
    if number == 0:
        continue
    pcs = [int(pc, 16) for pc in re.findall(r" pc=(0x[0-9a-f]+)", body)]
    goroutine = found[number]
    status = goroutine.get("wait_reason", goroutine["status"])
    assert status == {"syscall": "system call"}.get(state, state), (number, status, state)
    if state == "syscall":
        del pcs[0]  # where the function called the runtime before; the thread is at its system call
    ours = [
        int(frame["pc"], 16)
        for frame in (goroutine if "frames" in goroutine else threads[goroutine["tid"]])["frames"]
    ]
    if "frames" in goroutine:
        assert goroutine["end"]["complete"], (number, goroutine["end"])
    assert pcs and ours[-len(pcs) :] == pcs, (
        number,
        [hex(pc) for pc in pcs],
        [hex(pc) for pc in ours],
    )
    creator = re.search(r"^created by (\S+)", body, re.M)
    assert not creator or goroutine["created_by"]["function"] == creator[1], (number, goroutine)
    compared += 1
    frames += len(pcs)

panics = re.findall(r"^\t?panic: (.*)", text.split("\ngoroutine ")[0], re.M)
thrown = core["crash"].get("thrown", {}).get("message")
assert "; panic: ".join(panics) == (thrown or "").split(" [signal ")[0], (panics, thrown)
print(f"{compared} goroutines, {frames} frames, {len(panics)} panics")
