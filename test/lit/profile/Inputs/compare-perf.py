"""Compares stacks in two texts of perf script by their addresses: compare-perf.py OURS PERF [MOST]

Inlined functions are left out. Where perf has a call chain as the kernel wrote it, it prints return
addresses; ours are those of the calls, 1 less. Prints the number of samples and of equal stacks,
and each kind of difference. Fails if samples are missing, or if more than MOST stacks (default: 0)
differ without an explanation:

- "further": ours goes on where perf's ends
- "unmapped": perf's goes on with an address in no mapping
- "fewer": all of perf's frames are in ours, in this order, and ours has others between them
"""
import re
import sys

LINE = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*)\)$")


def stacks(path):
    found, at = [], None
    for line in open(path, errors="replace"):
        line = line.rstrip("\n")
        if not line:
            at = None
        elif at is None:
            at = []
            found.append(at)
        elif (match := LINE.match(line)) and match[3] != "inlined":
            at.append((int(match[1], 16), match[3]))
    return found


SHIFTS = {}  # by path: of programs at fixed addresses, perf prints offsets in the file


def is_same(one, other):
    (address, path), (theirs, _) = one, other
    shift = theirs - address
    if shift in (0, 1):
        return True
    return shift % 4096 == 0 and SHIFTS.setdefault(path, shift) == shift


def difference(ours, perf):
    same = 0
    while same < min(len(ours), len(perf)) and is_same(ours[same], perf[same]):
        same += 1
    if same == len(ours) == len(perf):
        return "equal"
    if same == len(perf):
        return "further"
    if same == len(ours) and all(path == "[unknown]" for _, path in perf[same:]):
        return "unmapped"
    rest = iter(ours)
    mapped = [frame for frame in perf if frame[1] != "[unknown]"]
    return (
        "fewer"
        if all(any(is_same(one, frame) for one in rest) for frame in mapped)
        else "different"
    )


def main():
    ours, perf = stacks(sys.argv[1]), stacks(sys.argv[2])
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    counts = {}
    for index, (one, other) in enumerate(zip(ours, perf)):
        kind = difference(one, other)
        counts[kind] = counts.get(kind, 0) + 1
        if kind not in ("equal", "further") and counts[kind] <= 3:
            print(f"sample {index}: {kind}; {len(one)} and {len(other)} frames")
            for which, stack in (("ours", one), ("perf", other)):
                print(which, *(f"{a:x} {p}" for a, p in stack[-6:]), sep="\n  ")
    print(
        f"samples: {len(ours)} and {len(perf)}; "
        + ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))
    )
    return len(ours) != len(perf) or not ours or counts.get("different", 0) > most


sys.exit(main())
