"""walk-waiting.py PROGRAM ARGUMENTS...: the stacks of a program that has printed "ready", as
JSON."""
import subprocess
import sys

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
try:
    assert process.stdout.readline() == b"ready\n"
    subprocess.run(["sframe-unwind", "--pid", str(process.pid), "--format=json"])
finally:
    process.kill()
    process.wait()
