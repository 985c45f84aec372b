"""check-go-own-stack.py CALLERS REPORT.json [STEPPER...]: the frames of the thread that died, found
by these steppers alone (SFrame's), against what go-own-stack.go wrote: the return addresses by Go's
runtime. That leaves out wrappers and runtime.call*, gives functions that are inlined into
runtime.sigpanic an entry of their own, and for the place of the fault the address after it."""
import json
import sys

callers = [line.split() for line in open(sys.argv[1], encoding="utf-8")]
with open(sys.argv[2], encoding="utf-8") as file:
    threads = json.load(file)["threads"]
thread = next(t for t in threads if any(f.get("function") == "main.die" for f in t["frames"]))
frames = thread["frames"]
steppers = sys.argv[3:] or ["sframe"]
assert all(f["stepper"] in steppers for f in frames[1:]), [
    (f.get("function"), f["stepper"]) for f in frames
]
assert thread["end"]["complete"], thread["end"]
names = [f.get("function") for f in frames]
frames = frames[names.index("main.die") + 1 :]
fault = [name for _, name in callers].index("runtime.sigpanic") + 1
expected = [
    (int(pc, 16) - (number == fault), name)
    for number, (pc, name) in enumerate(callers)
    if name not in ("runtime.panicmem", "runtime.sigpanic")
]
assert len(expected) == len(callers) - 2 and len(expected) >= 12, callers
found = [(int(str(f["pc"]), 0), f["function"]) for f in frames]
left = iter(found)
for pc, name in expected:
    for at, function in left:
        if at == pc:
            break
        assert function.startswith(("runtime.", "main.")), (function, name)
    else:
        raise AssertionError((hex(pc), name, [(hex(p), f) for p, f in found]))
assert not list(left)
assert "runtime.sigpanic" in [f["function"] for f in frames]
print(f"{len(expected)} callers, {len(found)} frames")
