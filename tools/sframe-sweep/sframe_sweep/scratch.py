# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The folder that packages are unpacked in. A sweep that was killed leaves its folder; the next one on this machine
removes it, by a lock that the kernel releases."""
import contextlib
import fcntl
import os
import shutil
import tempfile

PREFIX = "sframe-sweep."


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
        if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False) and _is_abandoned(entry.path):
            shutil.rmtree(entry.path, ignore_errors=True)
    folder = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
    # The lock exists only once it is held.
    lock = os.open(os.path.join(folder, "lock.new"), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.rename(os.path.join(folder, "lock.new"), os.path.join(folder, "lock"))
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
