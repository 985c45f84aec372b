"""killed.py FOLDER SFRAME-SWEEP ARGUMENTS...: runs the command again and again until it ends by
itself; prints how often it was killed. The programs in FOLDER, stand-ins for those in PATH, kill
it: after a while, a few starts of a program later each time, so that every run measures at least
one file."""
import os
import shutil
import signal
import subprocess
import sys

folder, *command = sys.argv[1:]
STAND_IN = """#!%s
import os, signal
with open(%r, "r+") as file:
    left = int(file.read()) - 1
    file.seek(0)
    file.truncate()
    file.write(str(left))
if left == 0:
    os.kill(int(os.environ["SWEEP"]), signal.SIGKILL)
os.execv(%r, [%r] + __import__("sys").argv[1:])
"""
counter = os.path.join(folder, "left")
for name in ("sframe-gen", "sframe-verify", "sframe-dump"):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(STAND_IN % (sys.executable, counter, shutil.which(name), name))
    os.chmod(path, 0o755)

for kills in range(100):
    with open(counter, "w") as file:
        file.write(str(10 + kills % 5))
    # The shell's process becomes the sweep's, whose number it knows.
    done = subprocess.run(["sh", "-c", 'SWEEP=$$ exec "$@"', "-", *command, "--programs", folder])
    if done.returncode != -signal.SIGKILL:
        print("killed %d times, then exit code %d" % (kills, done.returncode))
        sys.exit()
sys.exit("killed 100 times, and never done")
