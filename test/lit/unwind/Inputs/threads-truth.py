# Compares the frames of threads.c, as sframe-unwind --format=json gives them, with what the program
# did.
#   threads-truth.py THREADS DEPTH [STEPPER...] < json     every frame but the innermost must be by one of the steppers, if given
import collections
import json
import sys

threads, depth, steppers = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
again = depth + 1
chains = [
    "wait_here" + " plain" * again + " start",
    "wait_here" + " with_alloca" * again + " start",
    "wait_here" + " large" * (again if depth <= 20 else 22) + " start",
    "wait_here compare callback start",
    "wait_here handler" + " raising" * again + " start",
    "wait_here handler faulting on_other_stack start",
    "wait_here never_returns no_return_tail start",
    "wait_here" + " realigned" * again + " start",
]
ours = set(" ".join(chains).split()) | {"main"}
expected = collections.Counter(chains[i % 8] for i in range(threads))
expected["main"] += 1

data = json.load(sys.stdin)
found = collections.Counter()
for thread in data["threads"]:
    frames = thread["frames"]
    names = [f.get("function", "?") for f in frames]
    found[" ".join(n for n in names if n in ours)] += 1
    assert thread["end"]["complete"], (thread["tid"], thread["end"], names)
    assert frames[0]["stepper"] == "context"
    # A C library without its own symbol table has no name for where threads start.
    nameless = names[-1] == "?" and frames[-1]["module"].endswith("libc.so.6")
    assert nameless or names[-1] in (
        "_start",
        "clone3",
        "__clone3",
        "clone",
        "__clone",
        "thread_start",
    ), names
    for frame in frames[1:]:
        assert frame["trust"] == "exact", frame
        assert not steppers or frame["stepper"] in steppers, frame
    # The stack of one thread: CFAs grow, but for signals, which may switch to another one. _start
    # needs no frame where calls push nothing.
    for inner, outer in zip(frames, frames[1:]):
        if not inner["signal_frame"] and not outer["signal_frame"]:
            grown = int(outer.get("cfa", "0xffffffffffffffff"), 16) - int(inner["cfa"], 16)
            assert grown > 0 or (grown == 0 and outer is frames[-1]), (inner, outer)
    assert sum(f["signal_frame"] for f in frames) == ("handler" in names)
assert found == expected, (found - expected, expected - found)
print("all right:", sum(len(t["frames"]) for t in data["threads"]), "frames")
