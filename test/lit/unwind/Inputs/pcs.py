# Thread IDs with their pcs, one thread per line, sorted: from the output of eu-stack or of
# sframe-unwind's format text.
import re
import sys

threads = {}
for line in sys.stdin:
    if m := re.match(r"TID (\d+):", line):
        current = threads.setdefault(int(m[1]), [])
    elif m := re.match(r"#\d+\s+0x([0-9a-f]+)", line):
        current.append(m[1].lstrip("0"))
for tid in sorted(threads):
    print(tid, *threads[tid])
