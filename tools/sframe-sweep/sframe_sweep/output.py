# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that appear atomically, as the command line of all programs wants it."""
import os
import re
import sys
import tempfile


def printable(text):
    """A text for a terminal: names may have control characters, and such as turn the direction of what follows."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", lambda match: ascii(match[0])[1:-1], text)


def write(path, data):
    """Writes bytes to a file with the usual permissions, or to standard output if the path is -."""
    if path == "-":
        sys.stdout.buffer.write(data)
        return
    try:
        _write_file(path, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None  # not the name of the temporary file


def _write_file(path, data):
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
