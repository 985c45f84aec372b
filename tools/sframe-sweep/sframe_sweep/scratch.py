# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The folder that packages are unpacked in. A sweep that was killed leaves its folder; the next one
on this machine removes it, by a lock that the kernel releases."""
import contextlib
import errno
import fcntl
import os
import shutil
import tempfile

PREFIX = "sframe-sweep."
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
LEAST_FREE = 64 << 10  # bytes; with fewer, what a program could not do may be due to that


class Full(Exception):
    """The scratch folder cannot be written: no package is at fault, and the sweep cannot go on."""

    def __init__(self, folder, reason):
        super().__init__(
            "scratch directory %s: %s (--scratch names another one)"
            % (folder.rpartition("/" + PREFIX)[0] or folder, reason)
        )


def raise_if_full(error, folder):
    """Full, if that is what an error means that has to do with a file below `folder`."""
    if isinstance(error, OSError) and error.errno in FULL:
        raise Full(folder, os.strerror(error.errno)) from None


def raise_if_program_met_full(message, folder):
    """Full, if a program failed for that: it says so about a file below `folder`, as a hostile
    input cannot, which does not know that name; or there is no space now."""
    for number in FULL:
        text = os.strerror(number)
        if text in message and (
            folder in message
            or message.startswith("LLVM ERROR: IO failure")
            or message.endswith(": error: cannot write the output: " + text)
        ):
            raise Full(folder, text)
    space = os.statvfs(folder)
    free = space.f_bfree if os.geteuid() == 0 else space.f_bavail
    if space.f_blocks and free * space.f_frsize < LEAST_FREE:
        raise Full(folder, os.strerror(errno.ENOSPC))


def _is_abandoned(folder):
    """Takes the lock, if nobody has it."""
    try:
        lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False  # it is being made, or somebody else's
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(lock).st_uid == os.geteuid()
    except OSError:
        return False
    finally:
        os.close(lock)


@contextlib.contextmanager
def scratch_folder(parent):
    """A new folder below `parent`, which must exist; it is removed at the end."""
    for entry in list(os.scandir(parent)):
        if (
            entry.name.startswith(PREFIX)
            and entry.is_dir(follow_symlinks=False)
            and _is_abandoned(entry.path)
        ):
            shutil.rmtree(entry.path, ignore_errors=True)
    folder = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
    # The lock exists only once it is held.
    lock = os.open(
        os.path.join(folder, "lock.new"), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600
    )
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.rename(os.path.join(folder, "lock.new"), os.path.join(folder, "lock"))
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
