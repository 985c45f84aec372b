# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that appear atomically, as the command line of all programs wants it."""
import os
import re
import sys
import tempfile


def printable(text):
    """A text for a terminal: names may have control characters, and such as turn the direction of
    what follows."""
    return re.sub(
        r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", lambda match: ascii(match[0])[1:-1], text
    )


def write(path, data):
    """Writes bytes to a file with the usual permissions, or to what is open: standard output if the
    path is -, a pipe, a device, or what a name in /dev/fd leads to."""
    if path == "-":
        sys.stdout.buffer.write(data)
        return
    try:
        if (opened := _descriptor(path)) is not None:
            with open(opened, "wb", closefd=False) as file:
                file.write(data)
        elif os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                file.write(data)
        else:
            _write_file(os.path.realpath(path), data)
    except OSError as error:
        raise OSError(
            error.errno, error.strerror, path
        ) from None  # not the name of the temporary file


def _descriptor(path):
    """The descriptor of this process that a path like /dev/stdout leads to, or None."""
    at = os.path.abspath(path)
    for _ in range(40):
        folder, name = os.path.split(at)
        if os.path.realpath(folder) == os.path.realpath("/proc/self/fd"):
            return int(name) if name.isdecimal() else None
        if not os.path.islink(at):
            return None
        at = os.path.join(folder, os.readlink(at))
    return None


def _write_file(path, data):
    descriptor, temporary = tempfile.mkstemp(
        dir=os.path.dirname(os.path.abspath(path)), prefix=".sframe-sweep."
    )
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
