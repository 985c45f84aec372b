# ended-leader.py PROGRAM: the thread that has ended is asked for, then all.
import subprocess, sys

target = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
try:
    assert target.stdout.readline() == b"ready\n"
    pid = str(target.pid)
    for options in (["--thread", pid], []):
        result = subprocess.run(
            ["sframe-unwind", "--pid", pid] + options, capture_output=True, text=True
        )
        print(result.stdout, result.stderr.replace(pid, "LEADER"))
        print("exit", result.returncode)
finally:
    target.kill()
    target.wait()
