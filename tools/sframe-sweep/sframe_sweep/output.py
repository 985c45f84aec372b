# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that appear atomically, as the command line of all programs wants it."""
import os
import sys
import tempfile


def write(path, data):
    """Writes bytes to a file with the usual permissions, or to standard output if the path is -."""
    if path == "-":
        sys.stdout.buffer.write(data)
        return
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)), prefix=".sframe-sweep.")
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
