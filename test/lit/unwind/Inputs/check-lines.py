# Compares the lines in sframe-unwind's JSON with addr2line -i, for the frames of one module.
import json
import os
import subprocess
import sys

data = json.load(open(sys.argv[1]))
program = os.path.realpath(sys.argv[2])
count = 0
for thread in data["threads"]:
    for number, frame in enumerate(thread["frames"]):
        if "file" not in frame or frame.get("module") != program:
            continue
        address = frame["module_offset"] - (number != 0)  # the program starts at link address 0
        lines = subprocess.run(
            ["addr2line", "-i", "-e", program, hex(address)], capture_output=True, text=True
        ).stdout.split("\n")[:-1]
        theirs = [line.split(" (")[0].rsplit("/", 1)[-1] for line in lines]
        ours = [
            f"{at['file']}:{at['line']}".rsplit("/", 1)[-1] for at in frame["inlined"] + [frame]
        ]
        assert ours == theirs, (frame, theirs)
        count += 1
print(count, "frames agree")
