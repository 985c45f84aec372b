# Samples a program that runs until it is killed: its stacks, folded.
import subprocess
import sys

import series

program = subprocess.Popen(sys.argv[1:])
try:
    counts, code = series.count_stacks(program.pid, "--count", "300", "--interval", "2")
    print(*(f"{stack} {count}" for stack, count in counts.items()), sep="\n")
    sys.exit(code)
finally:
    program.kill()
    program.wait()
