"""check-dlv.py CORE PROGRAM [OPTION...]: compares the goroutines in the JSON of sframe-unwind with
those of Delve: the same ones, with the same program counters and functions in all frames. In
goroutines that run, Delve leaves out frames where it goes on by the frame pointer (from a signal's
handler, and from the system stack); then it must not have others."""
import json
import re
import subprocess
import sys

core, program, *options = sys.argv[1:]


def output(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, **more).stdout


def delve():
    """The frames of each goroutine, as pairs of pc and name. Of the inlined calls at a pc, Delve has
    the function that contains them last."""
    command = ("dlv", "core", program, core, "--allow-non-terminal-interactive=true")
    found = {}
    for line in output(*command, input="goroutines -t 400\nexit\n").splitlines():
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)  # newer versions print names in bold
        if match := re.match(r"(?:\(dlv\) )?[* ] Goroutine (\d+) - ", line):
            frames = found[int(match[1])] = []
        elif match := re.match(r"\t *\d+  (0x[0-9a-f]+) in (.*)", line):
            pc = int(match[1], 16)
            if frames and frames[-1][0] == pc and frames[-1][1] != match[2]:
                frames.pop()
            frames.append((pc, match[2]))
    return found


def ours():
    found = json.loads(output("sframe-unwind", core, program, "--format=json", *options))
    threads = {thread["tid"]: thread for thread in found["threads"]}
    for goroutine in found["goroutines"]:
        stack = goroutine if "frames" in goroutine else threads[goroutine["tid"]]
        yield goroutine["id"], "tid" in goroutine, [
            (int(frame["pc"], 16), re.sub(r"\.abi0$", "", frame.get("function", "?")))
            for frame in stack["frames"]
        ]


peer = delve()
equal = left_out = 0
for number, runs, frames in ours():
    theirs = peer.pop(number)
    if frames == theirs:
        equal += 1
        continue
    rest = iter(frames)
    missing = [frame for frame in theirs if "?" not in frame[1] and frame not in rest]
    assert runs and not missing, (number, missing, frames, theirs)
    left_out += 1
assert not peer, ("only in Delve", peer)
print(f"{equal} goroutines are equal, in {left_out} Delve leaves out frames")
