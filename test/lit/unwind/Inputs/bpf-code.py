"""bpf-code.py PROFILER TARGET: the stacks of the process of bpf-code.c by the BPF example and by
sframe-unwind, in spin: they have to be the same one."""
import subprocess
import sys

profiler, target = sys.argv[1:]
process = subprocess.Popen([target, "still"], stdout=subprocess.PIPE, text=True)
try:
    process.stdout.readline()
    assert process.stdout.readline() == "ready\n"
    pid = str(process.pid)
    by_bpf = subprocess.run(
        [profiler, pid, "100"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    by_unwind = subprocess.run(
        ["sframe-unwind", "--pid", pid, "--format=folded", "--count=20"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
finally:
    process.kill()
    process.wait()
kinds = [
    {
        line.rsplit(" ", 1)[0].split(";", 1)[1]
        for line in output.splitlines()
        if line.rsplit(" ", 1)[0].endswith(";spin")
    }
    for output in (by_bpf, by_unwind)
]
assert kinds[0] == kinds[1], kinds
print("\n".join(kinds[0]))
