# check-shadow.py SHADOW-CORE.PY FOLDER CORE [OPTION...]: walks CORE as if the machine had a
# hardware shadow stack. Whatever is overwritten on the stack, the walk is that of CORE as it is,
# and says where the damage begins.
import json
import os
import subprocess
import sys

script, folder, core, *options = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
truth, copy = os.path.join(folder, "walk.json"), os.path.join(folder, "core")


def walk(core, *more):
    done = subprocess.run(
        ["sframe-unwind", core, *options, "--format=json", *more], stdout=subprocess.PIPE
    )
    assert done.returncode in (0, 1), done.returncode
    return json.loads(done.stdout)


def make(*damage):
    """Nothing if the return address is in a register, else the innermost frame whose address is
    overwritten."""
    done = subprocess.run(
        [sys.executable, script, core, truth, copy, *damage],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if b"KeyError" in done.stderr and damage:
        return None
    assert done.returncode == 0, done.stderr
    return int(done.stdout) if damage else None


def check(found, first, what):
    thread = found["threads"][0]
    expected = [frame["pc"] for frame in frames]
    pcs = [frame["pc"] for frame in thread["frames"]]
    if not thread["end"]["complete"]:
        # If the kernel's signal frame was overwritten, the interrupted frame is not known.
        pcs[len(expected) :] = []
        for i, frame in enumerate(frames):
            if i and frames[i - 1]["signal_frame"] and pcs[i : i + 1] != expected[i : i + 1]:
                pcs.insert(i, frame["pc"])
    assert pcs == expected, (what, pcs, expected)
    if first is not None and frames[first + 1]["trust"] == "heuristic":
        assert (
            "overwritten" not in thread or thread["overwritten"]["frame"] != first
        ), what  # no table has another address
        return thread
    assert thread.get("overwritten", {}).get("frame") == first, (what, thread.get("overwritten"))
    if first is not None:
        assert thread["overwritten"]["shadow_stack"] == expected[first + 1], what
    return thread


with open(truth, "w") as file:
    json.dump(walk(core, "--registers"), file)
frames = json.load(open(truth))["threads"][0]["frames"]
make()
thread = check(walk(copy), None, "as it is")
assert all(
    frame["stepper"] != "shadow-stack" or before["trust"] == "heuristic"
    for frame, before in zip(thread["frames"], frames)
)
for frame in thread["frames"]:
    assert frame["trust"] == "exact" or frame["stepper"] != "shadow-stack"

# Without tables and without analysis by other steppers: only the addresses, and the kernel's signal
# frames.
found = walk(copy, "--steppers=shadow-stack,signal")
check(found, None, "shadow stack alone")

count = 0


def damage(number, how, what):
    global count
    first = make("%d=%s" % (number, how))
    if first is not None:
        check(walk(copy), first, "frame %d: %s" % (number, what))
        count += 1


for number in range(len(frames) - 1):
    if frames[number]["signal_frame"]:
        continue  # its return address is among the saved registers
    damage(number, "0x4141414141414141", "text")
    damage(number, "0x0", "zero")
    damage(number, frames[0]["pc"], "another function")
    if number + 2 < len(frames) and not frames[number + 1]["signal_frame"]:
        damage(number, "0x4141414141414141,all", "all")
print(len(frames), "frames,", count, "damaged stacks")
