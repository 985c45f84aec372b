"""bpf.py PROFILER TARGET FOLDER: profiles the process of bpf.c by the BPF example, and compares its
stacks with the calls in the source and with those of sframe-unwind for the same process."""
import os
import re
import subprocess
import sys

profiler, target, folder = sys.argv[1:]
sidecars, folded = os.path.join(folder, "sidecars", ""), os.path.join(folder, "folded")


def read_folded(lines):
    stacks = {}
    for line in lines:
        text, count = line.rsplit(" ", 1)
        stacks[text] = stacks.get(text, 0) + int(count)
    return stacks


def share(stacks, pattern):
    return sum(count for text, count in stacks.items() if re.search(pattern, text)) / sum(
        stacks.values()
    )


process = subprocess.Popen([target], stdout=subprocess.PIPE, text=True)
try:
    assert process.stdout.readline() == "ready\n"
    with open("/proc/%d/maps" % process.pid) as maps:
        libraries = sorted(
            {line.split(None, 5)[5].strip() for line in maps if " r-xp " in line and ".so" in line}
        )
    for library in libraries:
        subprocess.run(
            ["sframe-gen", library, "-o", sidecars, "--emit=sidecar", "--report=none"], check=True
        )
    with open(folded, "w") as file:
        done = subprocess.run(
            [profiler, str(process.pid), "300"],
            stdout=file,
            stderr=subprocess.PIPE,
            text=True,
            check=True,
        )
    by_unwind = subprocess.run(
        [
            "sframe-unwind",
            "--pid",
            str(process.pid),
            "--sframe-dir",
            sidecars,
            "--format=folded",
            "--count=60",
        ],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.splitlines()
finally:
    process.kill()
    process.wait()

sys.stderr.write(done.stderr)
with open(folded) as file:
    by_bpf = {
        text.replace("[outermost frame];", "", 1): count
        for text, count in read_folded(file).items()
    }
for text, count in by_bpf.items():
    sys.stderr.write("%s %d\n" % (text, count))

stacks = int(re.search(r"^stacks: (\d+);", done.stderr, re.M)[1])
complete = sum(count for text, count in by_bpf.items() if not text.startswith("["))
assert stacks >= 300 and sum(by_bpf.values()) == stacks
assert complete >= 0.95 * stacks, "too few are complete"

# The calls in the source. A sample outside spin is rare.
in_thread = r"^[^\[].*;thread;a;b;c;spin$"
in_main = r"^_start;.*;main;a;b;c;spin$"
in_handler = r"^_start;.*;main;.*;handler;a;b;c;spin$|^_start;.*;main;(?!a;|qsort).*;a;b;c;spin$"
in_compare = r"^_start;.*;main;qsort.*;compare;c;spin$"
for pattern in (in_thread, in_main, in_handler, in_compare):
    assert share(by_bpf, pattern) > 0.02, "no stack like " + pattern
assert share(by_bpf, "|".join((in_thread, in_main, in_handler, in_compare))) >= 0.9
# No frame is lost: the callers of each function are those of the source.
callers = {"spin": {"c"}, "c": {"b", "compare"}, "b": {"a"}}
for text in by_bpf:
    names = text.split(";")
    for caller, name in zip(names, names[1:]):
        assert name not in callers or caller in callers[name] or caller.startswith("["), text

# What sframe-unwind finds often, the BPF program finds, too. Its first frame is the program's name.
# System calls are left out: a process that is stopped from outside is in one more often than its
# CPU time shows.
found = 0
for text, count in read_folded(by_unwind).items():
    name, stack = text.split(";", 1)
    if count >= 3 and stack.endswith(";spin"):
        assert stack in by_bpf, "only sframe-unwind has " + stack
        found += 1
assert found >= 3
print("%d kinds of stacks are the same" % found)
