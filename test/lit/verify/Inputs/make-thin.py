# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make-thin.py NAME: a thin archive with one member, the file NAME, on standard output."""
import sys


def header(name, size):
    return b"%-48s%-10d`\n" % (name, size)


name = sys.argv[1].encode() + b"/\n"
names = name + b"\n" * (len(name) % 2)
sys.stdout.buffer.write(b"!<thin>\n" + header(b"//", len(names)) + names + header(b"/0", 10))
