# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a hostile file in a process of its own, with limits of memory and processor time: whatever
the file does to that process, the sweep goes on. The process gets the open file, and answers in
lines of JSON."""
import contextlib
import importlib
import json
import os
import resource
import signal
import stat
import subprocess
import sys

from . import archives, programs, scratch

MEMORY = 1 << 30  # bytes of address space
SECONDS = 10  # of processor time, to begin with and for each
BYTES = 64 << 20  # that are unpacked
MAX_LINE = (
    128 << 20
)  # of the process: a name may be 24 KiB of JSON, and there are archives.MAX_LINKS of them


def open_regular(path, inside=""):
    """A file to read. Damaged if it is not a regular file, or if it is not in the folder `inside`,
    wherever links lead."""
    try:
        if inside:
            path, root = os.path.realpath(path), os.path.realpath(inside)
            if os.path.commonpath((path, root)) != root:
                raise archives.Damaged("outside of the directory that it is named in")
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise archives.Damaged("not a regular file")
        # It may be another one by now.
        file = open(
            path,
            "rb",
            opener=lambda name, flags: os.open(
                name, flags | os.O_NONBLOCK | (os.O_NOFOLLOW if inside else 0)
            ),
        )
    except ValueError as error:  # a name with a zero
        raise archives.Damaged("not a file name: %s" % error) from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise archives.Damaged("not a regular file")
    return file


# The process.

FAILURES = (archives.Damaged, OSError, MemoryError)


def failure_of(error):
    """One of FAILURES, for a line."""
    if isinstance(error, MemoryError):
        return {"failure": "needs more than %d bytes of memory" % MEMORY}
    if isinstance(error, OSError):
        return {
            "failure": error.strerror,
            "full": error.errno if error.errno in scratch.FULL else None,
        }
    return {"failure": str(error)}


def _limit(kind, value):
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _more_time():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(usage.ru_utime + usage.ru_stime) + SECONDS)


def meter(limit):
    """A Meter of what is unpacked in this process, which gets more time for it."""
    return archives.Meter(limit, BYTES, _more_time)


def send(values):
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def wait():
    """Until the sweep asks for more."""
    if not sys.stdin.buffer.read(1):  # it has ended
        os._exit(1)


def main(_, module, descriptor, written, arguments):
    """All that the process does: read(file, ...) of a module of this package, which returns the
    last line."""
    for kind, value in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, int(written)),
        (resource.RLIMIT_CORE, 0),
    ):
        _limit(kind, value)
    _more_time()
    with open(int(descriptor), "rb") as file:
        send(importlib.import_module(module).read(file, *json.loads(arguments)))


# The sweep.

_START = "import sys; sys.path.insert(0, sys.argv[1]); from sframe_sweep import apart; apart.main(*sys.argv[1:])"


class Process:
    """What it has read."""

    def __init__(self, child):
        self._child = child

    def line(self):
        """The next line."""
        line = self._child.stdout.readline(MAX_LINE)
        if not line.endswith(b"\n"):
            code = self._child.wait()
            raise archives.Damaged(
                "the process that reads it %s"
                % (
                    "took more than its processor time"
                    if code == -signal.SIGXCPU
                    else "was ended by %s" % signal.Signals(-code).name
                    if code < 0
                    else "ended with exit code %d" % code
                )
            )
        return json.loads(line)

    def go_on(self):
        with contextlib.suppress(BrokenPipeError):  # line() has why
            self._child.stdin.write(b"\n")
            self._child.stdin.flush()


def raise_failure(values):
    """What failure_of() put into a line, if anything."""
    if values.get("full"):
        raise OSError(values["full"], values["failure"])
    if "failure" in values:
        raise archives.Damaged(values["failure"])


@contextlib.contextmanager
def started(module, path, inside, *arguments, written=0):
    """The Process in which the module reads the regular file at `path` (open_regular), and writes
    at most that many bytes into a file. What is wrong with the file is Damaged."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open_regular(path, inside) as file:
        command = [
            sys.executable,
            "-I",
            "-S",
            "-B",
            "-c",
            _START,
            package,
            module,
            str(file.fileno()),
            str(written),
            json.dumps(arguments),
        ]
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,
            pass_fds=(file.fileno(),),
        )
    with programs.ended_with_the_sweep(child):
        try:
            yield Process(child)
        finally:
            child.kill()
            child.wait()
            child.stdout.close()
            with contextlib.suppress(BrokenPipeError):
                child.stdin.close()
