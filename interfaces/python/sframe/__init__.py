# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SFrame sections, and stack traces of cores and processes.

    with sframe.File("libfoo.so") as file:
        for section in file:
            for function in section:
                for row in function.rows():
                    print(hex(function.start + row.offset), row.cfa, row.ra, row.fp)

    with sframe.core("core") as process:
        for thread in process.threads():
            for frame in thread.walk():
                print(hex(frame.pc), frame.name, frame.module)

The package needs libsframe-c.so.0: the file that SFRAME_LIBRARY names, or one in the package's
directory or in the prefix that it was installed to, or the one that the dynamic loader finds.
Addresses are integers. A Process is for one thread at a time.
"""
import ctypes
import os
from dataclasses import dataclass, field
from typing import Dict, Iterator, List, NoReturn, Optional, Tuple, Union

from . import _library as _c
from ._library import lib as _lib

__all__ = [
    "Crash",
    "End",
    "Error",
    "Fault",
    "File",
    "Frame",
    "Function",
    "Match",
    "Module",
    "Process",
    "Row",
    "Rule",
    "Section",
    "SourceLine",
    "Thread",
    "attach",
    "core",
    "library_version",
    "register_name",
]
__version__ = "0.1.0"


class Error(Exception):
    """An error of the library. `status` is a name such as "bad-table"; `offset`, `function` and
    `row` are the place in a malformed section, or None."""

    def __init__(
        self,
        message: str,
        status: str = "unspecified",
        offset: Optional[int] = None,
        function: Optional[int] = None,
        row: Optional[int] = None,
    ):
        super().__init__(message)
        self.status, self.offset, self.function, self.row = status, offset, function, row


def _fail(error: "_c.Error") -> NoReturn:
    if error.status == _c.NO_MEMORY:
        raise MemoryError(_text(error.message))
    status = _c.STATUSES[error.status]
    raise Error(
        _text(error.message),
        status,
        error.offset if status == "bad-table" else None,
        _known(error.function),
        _known(error.row),
    )


def _check(status: int, error: "_c.Error") -> None:
    if status != _c.OK:
        _fail(error)


def _is_found(status: int, error: "_c.Error") -> bool:
    if status != _c.NO_INFO:
        _check(status, error)
    return status == _c.OK


def _address(number: int) -> int:
    """ctypes would take it modulo 2**64."""
    if not 0 <= number < 1 << 64:
        raise ValueError("not an address: %r" % number)
    return number


def _path(path: Union[str, "os.PathLike[str]"]) -> bytes:
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError("a path with a zero byte: %r" % path)
    return encoded


def _known(number: int) -> Optional[int]:
    return None if number == _c.UNKNOWN else number


def _text(given: Optional[bytes]) -> str:
    return os.fsdecode(given or b"")


def _optional(given: Optional[bytes]) -> Optional[str]:
    return None if given is None else _text(given)


def library_version() -> str:
    """The release of libsframe-c.so."""
    return _text(_lib.sframe_version_text())


def register_name(abi: str, number: int) -> Optional[str]:
    """The name of a register by its DWARF number: "rbp" is 6 of "amd64"."""
    name = _lib.sframe_register_name(abi.encode(), number) if 0 <= number <= 0xFFFF else None
    return _text(name) if name else None


class _Handle:
    """Something of the library that is closed once: by close(), at the end of a `with`, or with the
    object."""

    _close = staticmethod(lambda handle: None)
    _handle: Optional[int] = None

    def _open(self, handle: Optional[int], error: "_c.Error") -> None:
        if not handle:
            _fail(error)
        self._handle = handle

    @property
    def _open_handle(self) -> int:
        if self._handle is None:
            raise ValueError("%s is closed" % type(self).__name__)
        return self._handle

    def close(self) -> None:
        """Frees what the object has. It cannot be used afterwards."""
        handle, self._handle = self._handle, None
        if handle is not None:
            self._close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()


class _Collector:
    """A callback that keeps a copy of each struct, and the exceptions that ctypes would drop."""

    def __init__(self, kind, make):
        self.items: list = []
        self.problem: Optional[BaseException] = None

        def take(pointer, _):
            try:
                self.items.append(make(pointer.contents))
                return 0
            except BaseException as problem:  # also KeyboardInterrupt
                self.problem = problem
                return 1

        self.callback = kind(take)

    def result(self) -> list:
        if self.problem:
            raise self.problem
        return self.items


# --- Sections ---


@dataclass(frozen=True)
class Rule:
    """How one value of the caller is found. str() is the notation of sframe-dump: "sp+16",
    "[cfa-8]"."""

    kind: str  # "same", "undefined", "fixed", "value", "stored"
    base: Union[int, str, None]  # a DWARF register number or "cfa", for value and stored
    offset: int  # bytes, for value and stored
    text: str = field(compare=False)

    _kinds = ("same", "undefined", "fixed", "value", "stored")

    @classmethod
    def _make(cls, rule: "_c.Rule", abi: bytes, is_cfa: bool) -> "Rule":
        text = ctypes.create_string_buffer(32)
        _lib.sframe_rule_text(abi, rule, is_cfa, text, len(text))
        kind = cls._kinds[rule.kind]
        base = (
            None
            if kind not in ("value", "stored")
            else "cfa"
            if rule.base == _c.BASE_CFA
            else rule.base
        )
        return cls(kind, base, rule.offset, text.value.decode())

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Row:
    """The rules from `offset` to the next row; in a PCMASK function, offset in the block."""

    offset: int
    cfa: Rule
    ra: Rule
    fp: Rule
    ra_signed: bool

    @classmethod
    def _make(cls, row: "_c.Row", abi: bytes) -> "Row":
        return cls(
            row.offset,
            Rule._make(row.cfa, abi, True),
            Rule._make(row.ra, abi, False),
            Rule._make(row.fp, abi, False),
            bool(row.ra_signed),
        )


@dataclass(frozen=True)
class Function:
    """A function of a section: the range of addresses of an FDE."""

    section: "Section" = field(repr=False, compare=False)
    index: int
    start: int
    size: int
    num_rows: int
    block_size: int  # PCMASK: bytes of the repeating block; else 0
    offset_size: int  # bytes of a row's offset
    flexible: bool
    signal: bool
    pauth_key: str  # "a" or "b"
    outermost: bool  # has no rows, which means that it has no caller

    @classmethod
    def _make(cls, section: "Section", function: "_c.Function") -> "Function":
        return cls(
            section,
            function.number,
            function.start,
            function.length,
            function.num_rows,
            function.block_size,
            function.offset_size,
            bool(function.flexible),
            bool(function.signal_frame),
            "b" if function.pauth_key_b else "a",
            bool(function.outermost),
        )

    def rows(self) -> Iterator[Row]:
        """The rows by offset. Raises Error after those before a malformed one."""
        section = self.section
        abi = section.abi.encode()
        rows = _Collector(_c.RowCallback, lambda row: Row._make(row, abi))
        error = _c.Error()
        status = _lib.sframe_section_rows(section._pointer, self.index, rows.callback, None, error)
        yield from rows.result()
        _check(status, error)

    def __contains__(self, pc: int) -> bool:
        return 0 <= pc - self.start < self.size


@dataclass(frozen=True)
class Match:
    """The result of Section.find()."""

    function: Function
    row: Row


class Section(_Handle):
    """A section, from bytes at an address. Iterates over its functions."""

    _close = staticmethod(_lib.sframe_section_close)

    def __init__(self, data: Union[bytes, bytearray, memoryview], address: int = 0):
        self._bytes = bytes(data)
        self._file: Optional["File"] = None
        error = _c.Error()
        self._open(_lib.sframe_section_open(self._bytes, len(self._bytes), address, error), error)
        self._read_info()

    @classmethod
    def _of_file(cls, file: "File", pointer: int) -> "Section":
        section = cls.__new__(cls)
        section._file, section._file_pointer = file, pointer
        section._read_info()
        return section

    @property
    def _pointer(self) -> int:
        if self._file is None:
            return self._open_handle
        self._file._open_handle  # raises if it is closed
        return self._file_pointer

    def _read_info(self) -> None:
        info = _c.SectionInfo()
        _lib.sframe_section_get_info(self._pointer, info)
        self.address: int = info.address
        self.size: int = info.length
        self.abi: str = info.abi.decode()
        self.byte_order: str = "little" if info.byte_order == 1 else "big"
        self.version: int = info.version
        self.flags: int = info.flags
        self.fixed_fp_offset: int = info.fixed_fp_offset
        self.fixed_ra_offset: int = info.fixed_ra_offset
        self.aux_header: bytes = (
            ctypes.string_at(info.aux_header, info.aux_header_size) if info.aux_header_size else b""
        )
        self.num_rows: int = info.num_rows
        self._num_functions: int = info.num_functions

    def __len__(self) -> int:
        return self._num_functions

    def __getitem__(self, number: int) -> Function:
        if not -len(self) <= number < len(self):
            raise IndexError("no function %d" % number)
        function, error = _c.Function(), _c.Error()
        status = _lib.sframe_section_function(self._pointer, number % len(self), function, error)
        _check(status, error)
        return Function._make(self, function)

    def __iter__(self) -> Iterator[Function]:
        return (self[number] for number in range(len(self)))

    def find(self, pc: int) -> Optional[Match]:
        """The function and row for a pc, or None. For a return address pass the pc minus 1."""
        function, row, error = _c.Function(), _c.Row(), _c.Error()
        status = _lib.sframe_section_find(self._pointer, _address(pc), function, row, error)
        if not _is_found(status, error):
            return None
        return Match(Function._make(self, function), Row._make(row, self.abi.encode()))

    def __repr__(self) -> str:
        return "<sframe.Section: version %d, %s, %d functions at 0x%x>" % (
            self.version,
            self.abi,
            len(self),
            self.address,
        )


class File(_Handle):
    """The SFrame sections of an ELF file, or of a raw section's file. Iterates over them."""

    _close = staticmethod(_lib.sframe_file_close)

    def __init__(self, path: Union[str, "os.PathLike[str]"]):
        self.path = os.fspath(path)
        error = _c.Error()
        self._open(_lib.sframe_file_open(_path(self.path), error), error)

    @property
    def sections(self) -> List[Section]:
        count = _lib.sframe_file_num_sections(self._open_handle)
        return [
            Section._of_file(self, _lib.sframe_file_section(self._open_handle, number))
            for number in range(count)
        ]

    def __iter__(self) -> Iterator[Section]:
        return iter(self.sections)

    def find(self, pc: int) -> Optional[Match]:
        """The first match of a section."""
        return next((match for match in (section.find(pc) for section in self) if match), None)

    def find_cfi(self, pc: int) -> Optional[range]:
        """The addresses of the function that the file's DWARF call frame information has for a pc,
        or None."""
        start, length, error = ctypes.c_uint64(), ctypes.c_uint64(), _c.Error()
        status = _lib.sframe_file_find_cfi(self._open_handle, _address(pc), start, length, error)
        if not _is_found(status, error):
            return None
        return range(start.value, start.value + length.value)


# --- Processes ---


@dataclass(frozen=True)
class SourceLine:
    file: str
    line: int
    function: Optional[str] = None  # of an inlined call: the function called, "" if unknown


@dataclass(frozen=True)
class Module:
    """An ELF image mapped into a process, or code that the process generated."""

    path: str
    start: int
    end: int
    bias: int  # to subtract to get addresses of the file
    build_id: bytes
    problem: Optional[str]
    is_main: bool
    is_generated: bool

    @classmethod
    def _make(cls, module: "_c.Module") -> "Module":
        build_id = bytes(module.build_id[: module.build_id_size]) if module.build_id_size else b""
        return cls(
            _text(module.path),
            module.start,
            module.end,
            module.bias,
            build_id,
            _text(module.problem) if module.problem else None,
            bool(module.is_main),
            bool(module.is_generated),
        )

    def __contains__(self, address: int) -> bool:
        return self.start <= address < self.end


@dataclass(frozen=True)
class End:
    """How a walk ended."""

    complete: bool  # the last frame is the outermost one, and this is certain
    reason: str


class Frame:
    """A frame. Its name, module and source are looked up when they are asked for."""

    def __init__(self, process: "Process", frame: "_c.Frame"):
        self._process, self._frame = process, frame
        self.number: int = frame.number
        self.pc: int = frame.pc
        self.pc_exact: bool = bool(frame.pc_exact)
        self.lookup_pc: int = frame.lookup_pc
        self.cfa: Optional[int] = frame.cfa if frame.has_cfa else None
        self.found_by: str = frame.found_by.decode()
        self.heuristic: bool = bool(frame.heuristic)
        self.signal_frame: bool = bool(frame.signal_frame)

    @property
    def function(self) -> Optional[Tuple[str, int]]:
        """The function's name, demangled, and the offset of the pc; None if unknown."""
        offset, size = ctypes.c_uint64(), 256
        while True:
            name = ctypes.create_string_buffer(size)
            status = _lib.sframe_function_name(
                self._process._open_handle, self._frame, name, size, offset
            )
            if status != _c.NO_MEMORY or size > 1 << 20:
                return (
                    (_text(name.value), offset.value) if status in (_c.OK, _c.NO_MEMORY) else None
                )
            size *= 4

    @property
    def name(self) -> Optional[str]:
        function = self.function
        return function[0] if function else None

    @property
    def module(self) -> Optional[Module]:
        return self._process.find_module(self.lookup_pc)

    @property
    def source(self) -> List[SourceLine]:
        """Inlined calls, innermost first, then the line in the frame's function. Empty if
        unknown."""
        lines = _Collector(
            _c.SourceCallback,
            lambda line: SourceLine(
                _text(line.file), line.line, None if line.function is None else _text(line.function)
            ),
        )
        _lib.sframe_source_lines(self._process._open_handle, self._frame, lines.callback, None)
        return lines.result()

    @property
    def registers(self) -> Dict[str, int]:
        """The known registers, by name."""
        abi = self._process.abi.encode()
        found = {}
        for number, value in enumerate(self._frame.registers):
            name = (
                _lib.sframe_register_name(abi, number)
                if self._frame.known_registers >> number & 1
                else None
            )
            if name:
                found[name.decode()] = value
        found["pc"] = self.pc
        return found

    def __str__(self) -> str:
        """As far as they are known, function, module and line: "work + 0x2a  (server)  server.c:23"; without a name
        "(libc.so.6 + 0x2724a)", which a symbolizer needs."""
        function, module, source = self.function, self.module, self.source
        name = os.path.basename(module.path) or "unknown" if module else ""
        parts = ["%s + 0x%x" % function] if function else []
        if module:
            parts.append(
                "(%s)" % name if function else "(%s + 0x%x)" % (name, self.pc - module.start)
            )
        if source and parts and source[-1].file:
            parts.append("%s:%d" % (source[-1].file, source[-1].line))
        return "  ".join(parts) or "0x%x" % self.pc

    def __repr__(self) -> str:
        return "<sframe.Frame %d: pc 0x%x, %s>" % (self.number, self.pc, self.found_by)


class Thread:
    def __init__(self, process: "Process", number: int, thread: "_c.Thread"):
        self._process, self._number = process, number
        self.tid: int = thread.tid
        self.signal: int = thread.signal
        self.name: str = _text(thread.name)
        self.end: Optional[End] = None  # of the last walk

    def walk(self) -> List[Frame]:
        """The frames, innermost first; `end` then has how the walk ended."""
        process = self._process

        def copy(frame):
            made = _c.Frame()
            ctypes.pointer(made)[0] = frame
            made.size = ctypes.sizeof(made)
            return Frame(process, made)

        frames = _Collector(_c.FrameCallback, copy)
        end, error = _c.End(), _c.Error()
        status = _lib.sframe_walk(
            process._open_handle, self._number, frames.callback, None, end, error
        )
        result = frames.result()
        _check(status, error)
        self.end = End(bool(end.complete), _text(end.reason))
        return result

    def __repr__(self) -> str:
        return "<sframe.Thread %d: %s>" % (self.tid, self.name)


@dataclass(frozen=True)
class Fault:
    """What a signal says of the instruction that it interrupted. What is not known is None."""

    signal: int
    signal_name: str  # "SIGSEGV"
    frame: int  # the number of the frame with the fault
    code: Optional[int]
    code_name: Optional[str]  # "SEGV_MAPERR"
    meaning: Optional[str]  # "write to 0x8, not mapped"
    guess: Optional[str]  # "a null pointer + 0x8"
    access: str  # "unknown", "read", "write", "read_write", "execute"
    address: Optional[int]  # that was accessed
    pc: Optional[int]  # of the instruction
    instruction: Optional[str]
    registers: Dict[str, int]  # that the instruction reads, by name

    @classmethod
    def _of(cls, crash: "_CrashHandle", kind: int) -> Optional["Fault"]:
        fault = _c.Fault()
        if _lib.sframe_crash_get_fault(crash._open_handle, kind, fault) != _c.OK:
            return None
        registers = {}
        name, value = ctypes.c_char_p(), ctypes.c_uint64()
        for number in range(fault.num_registers):
            _lib.sframe_crash_get_register(crash._open_handle, kind, number, name, value)
            registers[_text(name.value)] = value.value
        return cls(
            fault.signal,
            _text(fault.signal_name),
            fault.frame,
            fault.code if fault.has_code else None,
            _optional(fault.code_name),
            _optional(fault.meaning),
            _optional(fault.guess),
            _c.ACCESSES[fault.access],
            fault.address if fault.has_address else None,
            fault.pc if fault.instruction else None,
            _optional(fault.instruction),
            registers,
        )


@dataclass(frozen=True)
class Crash:
    """Why the process of a core died."""

    tid: int  # of the thread that died; 0: no signal has ended the process
    fault: Optional[Fault]  # of the signal that ended it
    first_fault: Optional[Fault]  # before it, if a handler has ended the process
    sender: Optional[Tuple[int, int]]  # the process that sent the signal, and its user ID
    message: Optional[str]  # of the C library when it aborted
    signature: Optional[str]  # equal for crashes at the same place
    signature_frames: List[str]
    arguments: List[str]
    command_line: str  # the arguments, quoted for a shell
    arguments_cut: bool  # there may be more

    @classmethod
    def _make(cls, crash: "_CrashHandle") -> "Crash":
        info = _c.CrashInfo()
        _lib.sframe_crash_get_info(crash._open_handle, info)
        return cls(
            info.tid,
            Fault._of(crash, _c.FAULT_LAST),
            Fault._of(crash, _c.FAULT_FIRST),
            (info.sender, info.sender_user) if info.has_sender else None,
            _optional(info.message),
            _optional(info.signature),
            [_text(info.signature_frames[number]) for number in range(info.num_signature_frames)],
            [_text(info.arguments[number]) for number in range(info.num_arguments)],
            _text(info.command_line),
            bool(info.arguments_cut),
        )


class _CrashHandle(_Handle):
    _close = staticmethod(_lib.sframe_crash_close)

    def __init__(self, process: "Process"):
        error = _c.Error()
        self._open(_lib.sframe_crash_explain(process._open_handle, error), error)


class Process(_Handle):
    """A core or a live process: made by core(), attach() or own()."""

    _close = staticmethod(_lib.sframe_close)

    def __init__(self, handle: Optional[int], error: "_c.Error"):
        self._open(handle, error)
        self.abi: str = _lib.sframe_abi(self._open_handle).decode()
        info = _c.ProcessInfo()
        _lib.sframe_get_process_info(self._open_handle, info)
        self.pid: int = info.pid
        self.signal: int = info.signal
        self.name: str = _text(info.name)

    def stop(self) -> "Process":
        """Stops a live process. As a context manager: for the length of the `with`."""
        error = _c.Error()
        _check(_lib.sframe_stop(self._open_handle, error), error)
        return self

    def resume(self) -> None:
        _lib.sframe_resume(self._open_handle)

    def threads(self) -> List[Thread]:
        """Of a core, the first is the one that died; of a live process, none unless it is
        stopped."""
        handle, threads = self._open_handle, []
        for number in range(_lib.sframe_num_threads(handle)):
            thread = _c.Thread()
            _lib.sframe_get_thread(handle, number, thread)
            threads.append(Thread(self, number, thread))
        return threads

    def modules(self) -> List[Module]:
        handle, modules = self._open_handle, []
        for number in range(_lib.sframe_num_modules(handle)):
            module = _c.Module()
            _lib.sframe_get_module(handle, number, module)
            modules.append(Module._make(module))
        return modules

    def find_module(self, address: int) -> Optional[Module]:
        module = _c.Module()
        status = _lib.sframe_find_module(self._open_handle, _address(address), module)
        return Module._make(module) if status == _c.OK else None

    def at(self, address: int, return_address: bool = True) -> Frame:
        """A frame of an address, to name it: its function, module and source. A return address is
        after its call."""
        frame = _c.Frame()
        _lib.sframe_frame_at(_address(address), return_address, frame)
        return Frame(self, frame)

    def crash(self) -> Crash:
        """Why the process of a core died. Raises Error for a live process."""
        with _CrashHandle(self) as crash:
            return Crash._make(crash)

    def read(self, address: int, size: int) -> bytes:
        """Memory of the process: fewer bytes if not all can be read."""
        buffer, count = ctypes.create_string_buffer(size), ctypes.c_size_t()
        status = _lib.sframe_read_memory(self._open_handle, _address(address), buffer, size, count)
        if status not in (_c.OK, _c.UNREADABLE):
            raise Error("memory cannot be read: the process is not stopped", _c.STATUSES[status])
        return buffer.raw[: count.value]

    def __repr__(self) -> str:
        return "<sframe.Process %d: %s, %s>" % (self.pid, self.name, self.abi)


def _options(executable, sysroot, sframe_dir, debug_dir, open_files, trust_all, limits):
    paths = [
        None if path is None else _path(path)
        for path in (executable, sysroot, sframe_dir, debug_dir)
    ]
    return _c.Options(*paths, not open_files, trust_all, not limits)


def core(
    path,
    *,
    executable=None,
    sysroot=None,
    sframe_dir=None,
    debug_dir=None,
    open_files: bool = True,
    trust_all: bool = False,
    limits: bool = True
) -> Process:
    """Opens a core file, plain or compressed. The options are those of sframe_options
    (sframe/c/walk.h)."""
    error = _c.Error()
    options = _options(executable, sysroot, sframe_dir, debug_dir, open_files, trust_all, limits)
    return Process(_lib.sframe_open_core(_path(path), options, error), error)


def attach(
    pid: int,
    *,
    executable=None,
    sysroot=None,
    sframe_dir=None,
    debug_dir=None,
    open_files: bool = True,
    trust_all: bool = False,
    limits: bool = True
) -> Process:
    """Attaches to a live process of this machine. stop() stops it for walks; close() resumes it."""
    if not 0 < pid < 1 << 31:
        raise ValueError("not a process ID: %r" % pid)
    error = _c.Error()
    options = _options(executable, sysroot, sframe_dir, debug_dir, open_files, trust_all, limits)
    return Process(_lib.sframe_attach(pid, options, error), error)


def own(*, sysroot=None, sframe_dir=None, debug_dir=None, open_files: bool = True) -> Process:
    """The process that runs this code, to name its addresses with at(). It has modules and memory,
    and no threads; stop() reads its list of mappings again."""
    error = _c.Error()
    options = _options(None, sysroot, sframe_dir, debug_dir, open_files, False, True)
    return Process(_lib.sframe_open_own(options, error), error)
