"""check-alternate.py CORE PROGRAM: gdb names the same function at the same place, if gdb is
installed."""
import shutil, subprocess, sys

core, program = sys.argv[1:]
if not shutil.which("gdb"):
    sys.exit(0)
trace = subprocess.run(
    ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "bt", program, core],
    capture_output=True,
    text=True,
).stdout
assert " in stop (n=" in trace or " stop (n=" in trace, trace
assert "common.h:62" in trace, trace
