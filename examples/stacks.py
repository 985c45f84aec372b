# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which functions are at the top of the stacks of a core's threads, and how the code at a return
address is unwound:

    PYTHONPATH=interfaces/python SFRAME_LIBRARY=build/release/lib/libsframe-c.so.0 python3 examples/stacks.py
    CORE [EXECUTABLE]
"""
import collections
import sys

import sframe


def main(path, executable=None):
    tops = collections.Counter()
    with sframe.core(path, executable=executable) as process:
        for thread in process.threads():
            frames = thread.walk()
            tops[frames[0].name or str(frames[0])] += 1
            print("thread %d: %d frames, %s" % (thread.tid, len(frames), thread.end.reason))
            for frame in frames:
                print("  #%d %#x %s" % (frame.number, frame.pc, frame))
    for name, count in tops.most_common():
        print("%d x %s" % (count, name))


if len(sys.argv) not in (2, 3):
    print("usage: stacks.py CORE [EXECUTABLE]", file=sys.stderr)
    sys.exit(2)
main(*sys.argv[1:])
