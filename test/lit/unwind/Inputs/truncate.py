# Cuts a core at many sizes and walks what is left: exit code 1 or 2, never 0, never a signal, never
# without a message.
import os
import subprocess
import sys

core, cut = sys.argv[1:3]
with open(core, "rb") as file:
    data = file.read()
sizes = set(range(0, 8192, 409)) | {len(data) * i // 40 for i in range(40)} | {len(data) - 1}
for size in sorted(sizes):
    with open(cut, "wb") as file:
        file.write(data[:size])
    done = subprocess.run(["sframe-unwind", cut], capture_output=True)
    assert done.returncode in (1, 2), (size, done.returncode)
    assert done.stderr, size
os.remove(cut)
print("no crash, nothing complete")
