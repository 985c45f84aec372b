# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program with limits of time and memory, and measures both."""
import contextlib
import dataclasses
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import threading

MAX_OUTPUT = 4 << 30  # bytes that a program may write into one file
MAX_MESSAGE = 2000  # bytes that are kept of what it writes to standard error


@dataclasses.dataclass
class Limits:
    seconds: int = 600
    memory: int = 8 << 30  # bytes of address space


@dataclasses.dataclass
class Outcome:
    code: int  # exit code; negative: the signal
    message: str  # last line of standard error
    seconds: float  # processor time
    memory: int  # bytes; at least what sframe-sweep itself has, since the kernel starts counting there
    timed_out: bool = False

    def failure(self):
        """How it ended, if not by an exit code of the contract (0, 1, 2)."""
        if self.timed_out:
            return "exceeded its time"
        if self.code < 0:
            return "ended by %s" % signal.Signals(-self.code).name
        return "" if self.code in (0, 1, 2) else "ended with exit code %d" % self.code


def _last_line(path):
    with open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - MAX_MESSAGE))
        lines = file.read().decode("utf-8", "replace").strip().split("\n")
    return lines[-1]


_running = set()  # process IDs, of all threads
_is_ending = threading.Event()


def end_all():
    """Ends all programs that run, and those that are started later: sframe-sweep is to end."""
    _is_ending.set()
    for process in list(_running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)


@contextlib.contextmanager
def ended_with_the_sweep(process):
    """Around the use of a Popen that leads a process group: end_all() ends it."""
    _running.add(process.pid)
    try:
        if _is_ending.is_set():
            os.killpg(process.pid, signal.SIGKILL)
        yield
    finally:
        _running.discard(process.pid)


def run(command, folder, limits, stdout=None):
    """Waits for the command. `folder` has its standard error, and its standard output if that has a
    name."""
    errors = os.path.join(folder, "stderr")
    with open(errors, "wb") as error_file, (
        open(os.path.join(folder, stdout), "wb") if stdout else open(os.devnull, "wb")
    ) as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=error_file,
            process_group=0,
            env=dict(os.environ, LC_ALL="C"),
        )
    with contextlib.suppress(ProcessLookupError):
        # Processor time, too: it ends even if sframe-sweep is killed.
        for kind, value in (
            (resource.RLIMIT_AS, limits.memory),
            (resource.RLIMIT_CPU, limits.seconds),
            (resource.RLIMIT_FSIZE, MAX_OUTPUT),
            (resource.RLIMIT_CORE, 0),
        ):
            _, hard = resource.prlimit(process.pid, kind)
            if value and (hard == resource.RLIM_INFINITY or value < hard):
                resource.prlimit(process.pid, kind, (value, value))
    handle = os.pidfd_open(process.pid)
    _running.add(process.pid)
    try:
        if _is_ending.is_set():
            os.killpg(process.pid, signal.SIGKILL)
        ended, _, _ = select.select([handle], [], [], limits.seconds)
        if not ended:
            os.killpg(process.pid, signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        _running.discard(process.pid)
        os.close(handle)
    process.returncode = os.waitstatus_to_exitcode(status)  # or Popen would wait for it again
    timed_out = (
        not ended
        or process.returncode in (-signal.SIGXCPU,)
        or (
            process.returncode == -signal.SIGKILL
            and usage.ru_utime + usage.ru_stime >= limits.seconds
        )
    )
    return Outcome(
        process.returncode,
        _last_line(errors),
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss * 1024,
        timed_out,
    )


class Programs:
    """Where the project's programs are: in `folder`, else in that of sframe-sweep, else in PATH."""

    def __init__(self, folder=None):
        self._paths = {}
        for name in ("sframe-gen", "sframe-verify", "sframe-dump"):
            beside = os.path.dirname(os.path.abspath(sys.argv[0]))
            found = next(
                (
                    path
                    for path in (
                        os.path.join(where, name) for where in ([folder] if folder else [beside])
                    )
                    if os.access(path, os.X_OK)
                ),
                None,
            )
            found = found or (None if folder else shutil.which(name))
            if not found:
                raise FileNotFoundError(
                    "%s: not found" % (os.path.join(folder, name) if folder else name)
                )
            self._paths[name] = found

    def __getitem__(self, name):
        return self._paths[name]

    def version(self):
        """As sframe-gen prints it."""
        return subprocess.run(
            [self["sframe-gen"], "--version"], capture_output=True, text=True
        ).stdout.strip()
