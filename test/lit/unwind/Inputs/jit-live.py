# Samples a program that runs until it is killed: its stacks, folded.
import subprocess
import sys

program = subprocess.Popen(sys.argv[1:])
try:
    sys.exit(
        subprocess.run(
            [
                "sframe-unwind",
                "--pid",
                str(program.pid),
                "--format=folded",
                "--count",
                "300",
                "--interval",
                "2",
            ]
        ).returncode
    )
finally:
    program.kill()
    program.wait()
