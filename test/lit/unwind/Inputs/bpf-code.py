"""bpf-code.py PROFILER TARGET: the stacks of the process of bpf-code.c by the BPF example and by
sframe-unwind, in spin: they have to be the same one."""
import subprocess
import sys

import series

profiler, target = sys.argv[1:]
process = subprocess.Popen([target, "still"], stdout=subprocess.PIPE, text=True)
try:
    process.stdout.readline()
    assert process.stdout.readline() == "ready\n"
    by_bpf = subprocess.run(
        [profiler, str(process.pid), "100"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    by_unwind, _ = series.count_stacks(process.pid, "--count=20")
finally:
    process.kill()
    process.wait()
stacks = [line.rsplit(" ", 1)[0] for line in by_bpf.splitlines()]
kinds = [
    {stack.split(";", 1)[1] for stack in all_stacks if stack.endswith(";spin")}
    for all_stacks in (stacks, by_unwind)
]
assert kinds[0] == kinds[1], kinds
print("\n".join(kinds[0]))
