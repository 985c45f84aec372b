"""remote.py OURS THEIRS WAYS TARGET [ARGUMENT]: walks a process that TARGET makes by one program
(examples/libunwind_remote.c), built with our library and with libunwind. In each of WAYS (upt: the
ready accessors; own: its own) both have to find equal frames: ip, sp, signal frames; names, too,
where libunwind does not guess. With our library, both ways have to come to the same."""
import os
import re
import subprocess
import sys

from stopped import wait_until_stopped

ours, theirs, ways = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
target = subprocess.Popen(sys.argv[4:], stdout=subprocess.PIPE)
assert target.stdout.readline() == b"ready\n"
with open("/proc/%d/maps" % target.pid) as maps:
    own = [
        line.split()[0].split("-")
        for line in maps
        if line.rstrip().endswith(os.path.realpath(sys.argv[4]))
    ]
program = range(min(int(start, 16) for start, _ in own), max(int(end, 16) for _, end in own))
differences = 0


def threads(program, way):
    """Lists of (ip, sp, signal, name). The threads reported that they were ready just before they
    were; and one that was walked is at its system call, no longer in it, until it has made it
    again."""
    wait_until_stopped(target.pid)
    text = subprocess.run(
        [program, way, str(target.pid)], capture_output=True, text=True, check=True
    ).stdout
    found = []
    for line in text.splitlines():
        if line == "thread":
            found.append([])
        else:
            frame = re.fullmatch(r"  (0x\w+) (0x\w+)( signal)?(?: (.*))?", line)
            assert frame, line
            found[-1].append(frame.groups())
    return found


def compare(some, others, what):
    """Of stripped libraries libunwind gives the next dynamic symbol before the ip, however far
    away: names of programs only."""

    def known(frames):
        return [frame if int(frame[0], 16) in program else frame[:3] for frame in frames]

    for mine, other in zip(some, others, strict=True):
        if known(mine) != known(other):
            print("%s differs:" % what, *mine, "and", *other, sep="\n")
            return 1
    return 0


try:
    found = {way: threads(ours, way) for way in ("upt", "own")}
    for way in ways:
        differences += compare(found[way], threads(theirs, way), way)
    nameless = [
        [[frame[:3] for frame in thread] for thread in found[way]] for way in ("upt", "own")
    ]
    assert nameless[0] == nameless[1], nameless
    print("%d threads" % len(found["upt"]))
    for thread in found["upt"]:
        print(
            *[
                ("[signal] " if frame[2] else "") + (frame[3] or "?").split("+")[0]
                for frame in thread
            ]
        )
finally:
    target.kill()
    target.wait()
sys.exit(differences)
