"""walk-live.py PROGRAM: two samples of a running process (Inputs/live.c) as JSON."""
import subprocess
import sys

process = subprocess.Popen([sys.argv[1], "threads"], stdout=subprocess.PIPE)
try:
    assert process.stdout.readline() == b"ready\n"
    subprocess.run(["sframe-unwind", "--pid", str(process.pid), "--count", "2", "--format=json"])
finally:
    process.kill()
    process.wait()
