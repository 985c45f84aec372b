# with_target.py TARGET ARGUMENTS... -- COMMAND...: runs COMMAND --pid PID, where PID is that of the
# target, which is ended afterwards.
import subprocess, sys

cut = sys.argv.index("--")
target = subprocess.Popen(sys.argv[1:cut])
try:
    command = sys.argv[cut + 1 :]
    code = subprocess.run([command[0], "--pid", str(target.pid), *command[1:]]).returncode
finally:
    target.kill()
    target.wait()
assert code in (0, 1), code
