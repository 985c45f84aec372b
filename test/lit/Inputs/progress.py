# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""progress.py [--quiet] [--stdout-too] PATTERN COMMAND...

Runs the command with a terminal as standard error, an open pipe as standard input, and a pipe that
is not read as standard output (--stdout-too: the terminal). Prints the first progress line that
matches the pattern; then reads and feeds the pipes until the command ends, and prints what is left
on the terminal. --quiet: nothing may appear; the pipes move after twice the time in which a line
appears."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import threading
import time

options = [a for a in sys.argv[1:3] if a.startswith("--")]
pattern, *command = sys.argv[1 + len(options) :]
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
process = subprocess.Popen(
    command,
    stdin=subprocess.PIPE,
    stdout=slave if "--stdout-too" in options else subprocess.PIPE,
    stderr=slave,
)
os.close(slave)
seen = b""


def read_terminal():
    global seen
    try:
        more = os.read(master, 1 << 16)
    except OSError:  # the other end is closed
        return False
    seen += more
    return bool(more)


if "--quiet" in options:
    time.sleep(2)
    if select.select([master], [], [], 0)[0]:
        read_terminal()
    assert not seen, seen
else:
    while not (found := re.search(pattern.encode() + rb"[^\r\n]*", seen)):
        assert read_terminal(), "no line matches: %r" % seen
    print("shown:", found.group().decode().replace("\033[K", ""))
threading.Thread(target=process.communicate).start()  # closes standard input
while read_terminal():
    pass
process.wait()

# What a person sees: \r goes to the start of the line, and \033[K erases from there.
lines = []
for line in seen.decode().split("\n"):
    text, column = "", 0
    for piece in re.findall(r"\r|\033\[K|[^\r\033]+", line):
        if piece == "\r":
            column = 0
        elif piece == "\033[K":
            text = text[:column]
        else:
            text = text[:column] + piece + text[column + len(piece) :]
            column += len(piece)
    lines.append(text)
print("left:", "\n".join(lines).strip())
print("exit code:", process.returncode)
