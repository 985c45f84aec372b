"""live-names.py FOLDER: a process with long names is walked, in each format, with strict limits:
the output is limited, and the limit reported."""
import json
import os
import re
import subprocess
import sys

folder = sys.argv[1]
name, frames = "f" * 60_000, 20_000
with open(os.path.join(folder, "names.c"), "w") as file:
    file.write(
        '#include <unistd.h>\nint %s(int n) { if (n == 0) { write(1, "!", 1); pause(); } return n ? %s(n - 1) + 1 : 0; }\n'
        % (name, name)
    )
    file.write("int main(void) { return %s(%d); }\n" % (name, frames))
program = os.path.join(folder, "names")
subprocess.run(
    ["gcc", "-O1", "-fno-optimize-sibling-calls", "-fno-inline", file.name, "-o", program],
    check=True,
)
with subprocess.Popen([program], stdout=subprocess.PIPE) as process:
    try:
        process.stdout.read(1)
        for option in ("text", "json", "folded", "svg", "--group"):
            form = "--group" if option == "--group" else "--format=" + option
            out = os.path.join(folder, "out")
            with open(out, "wb") as file:
                done = subprocess.run(
                    ["sframe-unwind", "--pid", str(process.pid), "--limits=strict", form],
                    stdout=file,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            limits = re.findall(
                r"limit for an input of this size reached: (\d+) bytes of output", done.stderr
            )
            assert done.returncode == 1 and len(limits) == 1, (done.returncode, done.stderr[:1000])
            size, limit = os.path.getsize(out), int(limits[0])
            # A graph has a stack twice.
            assert 3 * limit < frames * len(name) and size < 2.2 * limit + (1 << 20), (size, limit)
            if option == "json":
                with open(out, "rb") as file:
                    (thread,) = json.load(file)["threads"]
                assert 0 < len(thread["frames"]) < frames and not thread["end"]["complete"], thread[
                    "end"
                ]
            print("%s: limited" % option)
    finally:
        process.kill()
