# live-exec.py PROGRAM TIMES: samples PROGRAM (executes.c), which executes itself TIMES times, in
# several series. The program must come to its end, and each series of samples, too.
import subprocess, sys

for series in range(4):
    target = subprocess.Popen(sys.argv[1:])
    try:
        result = subprocess.run(
            [
                "sframe-unwind",
                "--pid",
                str(target.pid),
                "--count",
                "100",
                "--interval",
                "1",
                "--no-names",
            ],
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert target.wait(timeout=300) == 0, target.returncode
    finally:
        target.kill()
    assert "no permission" not in result.stderr, result.stderr
    assert result.returncode in (0, 1), (result.returncode, result.stderr)
print("all right")
