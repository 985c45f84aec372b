# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unpacks the ELF files of an archive in a process of its own, with limits of memory and processor time: whatever an
archive does to that process, the sweep goes on. The two talk in lines of JSON; the process waits after each file until
it is asked for the next one."""
import contextlib
import json
import os
import resource
import signal
import stat
import subprocess
import sys

from . import archives, programs, scratch

MEMORY = 1 << 30        # bytes of address space
SECONDS = 10            # of processor time, to begin with and for each
BYTES = 64 << 20        # that are unpacked
MAX_LINE = 128 << 20    # of the process: a name may be 24 KiB of JSON, and there are MAX_LINKS of them
COPY = 1 << 20


def open_regular(path, inside=""):
    """A file to read. Damaged if it is not a regular file, or if it is not in the folder `inside`, wherever links lead."""
    try:
        if inside:
            path, root = os.path.realpath(path), os.path.realpath(inside)
            if os.path.commonpath((path, root)) != root:
                raise archives.Damaged("outside of the folder that it is named in")
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise archives.Damaged("not a regular file")
        # It may be another one by now.
        file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | (os.O_NOFOLLOW if inside else 0)))
    except ValueError as error:  # a name with a zero
        raise archives.Damaged("not a file name: %s" % error) from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise archives.Damaged("not a regular file")
    return file


# The process.

def _limit(kind, value):
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _more_time(_=None):
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(usage.ru_utime + usage.ru_stime) + SECONDS)


def _copied(member, path):
    """Whether it is an ELF file, which is then written to `path`."""
    head = member.read(4)
    if head != b"\x7fELF":
        return False
    with open(path, "xb") as file:
        file.write(head)
        while data := member.read(COPY):
            file.write(data)
    return True


def _unpack(file, name, folder, limit, send):
    elf_files, counts = set(), {"members": 0, "unpacked_bytes": 0}
    try:
        with archives.open_archive(file, name, archives.Meter(limit, BYTES, _more_time)) as (about, members):
            send({"name": about.name, "version": about.version, "architecture": about.architecture})
            for member in members:
                counts["members"] += 1
                if member.link_to:
                    if member.link_to in elf_files:
                        elf_files.add(member.path)
                        send({"path": member.path, "link_to": member.link_to})
                    continue
                if member.size > limit:  # a claim, which may be of any size
                    raise archives.Damaged("more than %d bytes when unpacked" % limit)
                counts["unpacked_bytes"] += member.size
                copy = "f%d" % counts["members"]
                if _copied(member, os.path.join(folder, copy)):
                    elf_files.update((member.path, *member.other_paths))
                    send({"path": member.path, "copy": copy, "other_paths": member.other_paths, **counts})
                    if not sys.stdin.buffer.read(1):  # the sweep has ended
                        os._exit(1)
        return counts
    except archives.Damaged as error:
        return {**counts, "failure": str(error)}
    except OSError as error:
        return {**counts, "failure": error.strerror, "full": error.errno if error.errno in scratch.FULL else None}
    except MemoryError:
        return {**counts, "failure": "needs more than %d bytes of memory" % MEMORY}


def process(descriptor, name, folder, limit):
    """All that the process does."""
    for kind, value in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_FSIZE, limit), (resource.RLIMIT_CORE, 0)):
        _limit(kind, value)
    _more_time()

    def send(values):
        sys.stdout.write(json.dumps(values) + "\n")
        sys.stdout.flush()

    with open(descriptor, "rb") as file:
        send(_unpack(file, name, folder, limit, send))


# The sweep.

_START = "import sys; sys.path.insert(0, sys.argv[1]); from sframe_sweep import unpacking; unpacking.process(int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))"


class Unpacking:
    """The ELF files of an archive, as they come out of it, when iterated over. `about` has what the archive says about
    itself, `members` and `unpacked_bytes` how much was unpacked until now."""

    def __init__(self, process, folder):
        self._process, self._folder = process, folder
        self.members, self.unpacked_bytes, self.about = 0, 0, {"name": "", "version": "", "architecture": ""}

    def _line(self):
        line = self._process.stdout.readline(MAX_LINE)
        if not line.endswith(b"\n"):
            code = self._process.wait()
            raise archives.Damaged("the process that unpacks it %s" % (
                "took more than its processor time" if code == -signal.SIGXCPU else "was ended by %s" % signal.Signals(-code).name if code < 0 else
                "ended with exit code %d" % code))
        return json.loads(line)

    def __iter__(self):
        """(path, copy, other paths) of a file, or (path, path of an earlier file) of a hard link to it."""
        values = self._line()
        if "name" in values:
            self.about = values
            values = self._line()
        while "path" in values:
            if "link_to" in values:
                yield values["path"], None, values["link_to"]
            else:
                self.members, self.unpacked_bytes = values["members"], values["unpacked_bytes"]
                yield values["path"], os.path.join(self._folder, values["copy"]), values["other_paths"]
                with contextlib.suppress(BrokenPipeError):  # _line() has why
                    self._process.stdin.write(b"\n")
                    self._process.stdin.flush()
            values = self._line()
        self.members, self.unpacked_bytes = values["members"], values["unpacked_bytes"]
        if values.get("full"):
            raise OSError(values["full"], values["failure"])
        if "failure" in values:
            raise archives.Damaged(values["failure"])


@contextlib.contextmanager
def unpacked(path, inside, folder, limit):
    """The Unpacking of an archive, whose files are written to `folder`, under names that do not depend on it. At most
    `limit` bytes are unpacked. What is wrong with the archive is Damaged, from here or while it is iterated over."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open_regular(path, inside) as file:
        command = [sys.executable, "-I", "-S", "-B", "-c", _START, package, str(file.fileno()), os.path.basename(path), folder, str(limit)]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=0, pass_fds=(file.fileno(),))
    with programs.ended_with_the_sweep(child):
        try:
            yield Unpacking(child, folder)
        finally:
            child.kill()
            child.wait()
            child.stdout.close()
            with contextlib.suppress(BrokenPipeError):
                child.stdin.close()
