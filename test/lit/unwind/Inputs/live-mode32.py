# live-mode32.py PROGRAM two|alone: starts mode32.c and walks it when it is in 32-bit code.
import os, subprocess, sys, tempfile

from stopped import until

program, what = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    ready = os.path.join(folder, "ready")
    target = subprocess.Popen([program, ready] + (["alone"] if what == "alone" else []))
    try:

        def in_32_bit_code():
            if not os.path.exists(ready):
                return False
            with open("/proc/%d/stat" % target.pid) as stat:
                return what != "alone" or stat.read().rsplit(")", 1)[1].split()[0] == "R"

        until(in_32_bit_code)
        result = subprocess.run(
            ["sframe-unwind", "--pid", str(target.pid)], capture_output=True, text=True
        )
        print("exit", result.returncode)
        print(result.stdout, result.stderr)
    finally:
        target.kill()
