# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asks readers. Each case has a process of its own with limits on time and memory, so that a reader
that crashes, hangs, answers nonsense or nothing is a result like others.

A command reads on its standard input

    section 0x400000 77 /tmp/sections/one-row.sframe
    find 0x1000
    find 0x1004

(address, size and file of the section; addresses), and prints a line for each `find`: an answer as
rules.Answer has them as text."""
import ctypes
import mmap
import os
import resource
import select
import signal
import subprocess
import tempfile
import threading
import time

from .rules import Answer, Rule, parse_answer

ENTRY = "sframe_conformance_find"
KINDS = ("same", "undefined", "fixed", "value", "stored")
RESULTS = ("row", "none", "reject", "unsupported")
OUTPUT = 16 << 20
NOT_STARTED = (126, 127)  # exit codes of a shell


class Unusable(Exception):
    """The reader, assembler or linker cannot be started."""


class Outcome:
    """What a reader did with the questions of one case: answers, as many as there were, then
    perhaps its end."""

    def __init__(self, answers, end=""):
        self.answers = answers  # Answer, or a text that is none
        self.end = end  # "", crash ..., hang ...

    def __getitem__(self, i):
        return self.answers[i] if i < len(self.answers) else None


class _Rule(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_uint8),
        ("reserved", ctypes.c_uint8),
        ("base", ctypes.c_uint16),
        ("offset", ctypes.c_int32),
    ]


class _Answer(ctypes.Structure):
    _fields_ = [
        ("cfa", _Rule),
        ("ra", _Rule),
        ("fp", _Rule),
        ("signed", ctypes.c_uint8),
        ("key", ctypes.c_uint8),
        ("signal", ctypes.c_uint8),
        ("reserved", ctypes.c_uint8),
    ]


_memory = 4 << 30


def limit_memory(size):
    """The address space of readers and writers in bytes; 0: no limit."""
    global _memory
    _memory = size


def limit(seconds):
    """For the process that calls this: one of a reader or writer."""
    if _memory:
        resource.setrlimit(resource.RLIMIT_AS, (_memory, _memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))


def _end_of(status):
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return (
            "hang: its processor time is over"
            if number in (signal.SIGXCPU, signal.SIGKILL)
            else "crash: " + signal.Signals(number).name
        )
    return "" if os.WEXITSTATUS(status) == 0 else "crash: exit code %d" % os.WEXITSTATUS(status)


def run(command, arguments, seconds, **options):
    """A command of the shell with arguments, and the options of Popen. Returns its exit code, or
    None if it has not ended in time. Then, and at its end, all that it has started is ended,
    too."""
    child = subprocess.Popen(
        ["/bin/sh", "-c", command + (' "$@"' if arguments else ""), "sh", *arguments],
        start_new_session=True,
        preexec_fn=lambda: limit(seconds),
        **options,
    )
    is_late = False
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        is_late = True
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
    return None if is_late else child.returncode


def run_with_output(command, arguments, seconds, folder):
    """run() in a folder, where temporary files are, too, without input: the exit code, and what was
    printed, errors too."""
    with tempfile.TemporaryFile() as output:
        code = run(
            command,
            arguments,
            seconds,
            cwd=folder,
            env=dict(os.environ, TMPDIR=folder),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        return code, _text_of(output)


def run_with_outputs(command, arguments, seconds, folder):
    """run() in a folder, without input: the exit code, what was printed, and the errors."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        code = run(
            command,
            arguments,
            seconds,
            cwd=folder,
            env=dict(os.environ, TMPDIR=folder),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
        )
        return code, _text_of(output), _text_of(errors)


def _text_of(file):
    file.seek(0)
    return file.read().decode(errors="replace")


def crash_of(code):
    """The signal that has ended a process or, as a shell reports that, one that it has started;
    empty if there is none."""
    number = -code if code < 0 else code - 128
    return (
        "crash: " + signal.Signals(number).name
        if number in {s.value for s in signal.Signals}
        else ""
    )


class _Errors:
    """What a process writes to `descriptor`, of which the end is kept: a reader may write much."""

    def __init__(self):
        self.read, self.descriptor = os.pipe()
        self.kept = b""
        self.thread = threading.Thread(target=self._take, daemon=True)
        self.thread.start()

    def _take(self):
        while part := os.read(self.read, 1 << 16):
            self.kept = (self.kept + part)[-4096:]
        os.close(self.read)

    def last_line(self):
        """When the process has ended."""
        os.close(self.descriptor)
        self.thread.join(1)  # what it has started may go on
        return last_line(self.kept.decode(errors="replace"))


def last_line(text):
    """Of messages: mostly the one that says what is wrong."""
    return ([line.strip() for line in text.splitlines() if line.strip()] or [""])[-1][:200]


class Library:
    """A shared library with sframe_conformance_find()."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.name = os.path.basename(path)
        try:
            read, write = os.pipe()
            child = os.fork()
            if child == 0:  # its constructors may do anything
                try:
                    getattr(ctypes.CDLL(self.path), ENTRY)
                except (OSError, AttributeError) as error:
                    os.write(write, str(error).encode()[:4000])
                finally:
                    os._exit(0)
            os.close(write)
            with os.fdopen(read, "rb") as pipe:
                message = pipe.read().decode(errors="replace")
            status = os.waitpid(child, 0)[1]
        except OSError as error:
            raise Unusable(str(error)) from None
        if message or status:
            raise Unusable(message or "loading %s ends with %s" % (path, _end_of(status)))

    def ask(self, case, data, seconds):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            try:
                self._answer_all(case, data, seconds, write)
            finally:
                os._exit(0)
        os.close(write)
        text, end = b"", time.monotonic() + seconds
        while select.select([read], [], [], max(0, end - time.monotonic()))[0]:
            part = os.read(read, 1 << 16)
            text += part
            if not part or len(text) > OUTPUT:
                break
        else:
            os.kill(child, signal.SIGKILL)
        os.close(read)
        is_late = time.monotonic() >= end
        if not is_late:
            time_left = end - time.monotonic()
            is_late = not _wait(child, time_left)
        status = os.waitpid(child, 0)[1] if is_late else _statuses.pop(child)
        lines = text.decode(errors="replace").split("\n")[:-1]
        return Outcome(
            [_parsed(line, case.abi) for line in lines],
            "hang: no end in %g s" % seconds if is_late else _end_of(status),
        )

    def _answer_all(self, case, data, seconds, pipe):
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        memory = _Guarded(data)
        find = getattr(ctypes.CDLL(self.path), ENTRY)
        find.argtypes = [
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_uint64,
            ctypes.c_uint64,
            ctypes.POINTER(_Answer),
        ]
        find.restype = ctypes.c_int
        limit(seconds)
        for question in case.questions:
            answer = _Answer()
            ctypes.memset(ctypes.byref(answer), 0xFF, ctypes.sizeof(answer))
            result = find(memory.start, len(data), case.address, question.pc, ctypes.byref(answer))
            os.write(pipe, (self._text(result, answer, case.abi) + "\n").encode())

    @staticmethod
    def _text(result, answer, abi):
        if not 0 <= result < len(RESULTS):
            return "result %d" % result
        if result:
            return RESULTS[result]
        rules = [getattr(answer, name) for name in ("cfa", "ra", "fp")]
        if any(rule.kind >= len(KINDS) for rule in rules):
            return "a rule of kind %d" % max(rule.kind for rule in rules)
        given = [
            Rule(KINDS[rule.kind], rule.base, rule.offset)
            if rule.kind > 2
            else Rule(KINDS[rule.kind])
            for rule in rules
        ]
        if any(value not in (0, 1, 0xFF) for value in (answer.signed, answer.key, answer.signal)):
            return "a mark that is neither 0 nor 1"
        told = [
            None if value == 0xFF else bool(value)
            for value in (answer.signed, answer.signal, answer.key)
        ]
        return Answer(
            "row", *given, told[0], told[1], None if told[2] is None else "ab"[told[2]]
        ).text(abi)


_statuses = {}


def _wait(child, seconds):
    """Whether the child ends in time; else it is killed."""
    end = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            _statuses[child] = status
            return True
        if time.monotonic() >= end:
            os.kill(child, signal.SIGKILL)
            return False
        time.sleep(0.001)


class _Guarded:
    """Bytes before a page that cannot be read."""

    def __init__(self, data):
        page = mmap.PAGESIZE
        size = (len(data) + page) // page * page + page
        self.pages = mmap.mmap(-1, size)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self.pages))
        place = size - page - (len(data) + 7) // 8 * 8
        self.pages[:] = b"\xa5" * size
        self.pages[place : place + len(data)] = data
        self.start = base + place
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        if protect(base + size - page, page, 0):
            raise OSError(ctypes.get_errno(), "mprotect")


def _parsed(line, abi):
    try:
        return parse_answer(line.strip(), abi)
    except ValueError as error:
        return str(error)


class Command:
    """A command that reads questions and prints answers. The shell splits it."""

    def __init__(self, command):
        self.command, self.name = command, command
        self.folder = tempfile.TemporaryDirectory(prefix="sframe-conformance-")

    def ask(self, case, data, seconds):
        place = self.folder.name
        path, questions, answers = (
            os.path.join(place, name) for name in ("section.sframe", "questions", "answers")
        )
        with open(path, "wb") as file:
            file.write(data)
        with open(questions, "w", encoding="utf-8") as file:
            file.write(
                "section 0x%x %d %s\n" % (case.address, len(data), path)
                + "".join("find 0x%x\n" % q.pc for q in case.questions)
            )
        errors = _Errors()
        with open(questions) as given, open(answers, "wb") as taken:
            code = run(
                self.command, [], seconds, stdin=given, stdout=taken, stderr=errors.descriptor
            )
        message = errors.last_line()
        if code in NOT_STARTED:
            raise Unusable(
                "%s: exit code %d%s" % (self.command, code, ": " + message if message else "")
            )
        with open(answers, encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
        lines = lines[:-1][: len(case.questions)]
        if code is None:
            end = "hang: no end in %g s" % seconds
        else:
            end = crash_of(code) or ("crash: exit code %d" % code if code else "")
        if end and message:
            end += " (%s)" % message
        return Outcome([_parsed(line, case.abi) for line in lines], end)
