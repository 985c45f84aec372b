# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gdb's unwinder for SFrame, and its commands; loaded in gdb by interfaces/gdb/sframe-gdb.py
(docs/gdb.md).

While gdb asks an unwinder for a frame, a command must not be executed (gdb.execute runs the
commands of a breakpoint, too), nor a frame be looked at. So load addresses come from the memory of
the process, not from what gdb's commands print."""
import mmap
import os
import re
import stat
import struct
from dataclasses import dataclass
from typing import Callable, Dict, List, Optional, Set, Tuple

import gdb
import gdb.unwinder

import sframe

NAME = "sframe"
MODES = ("auto", "on", "off")
PAGE = 4096
MASK = (1 << 64) - 1


# --- Messages ---


def harmless(text: str) -> str:
    """Names come from files and processes."""
    return "".join(c if c.isprintable() else "\\x%02x" % (ord(c) & 0xFF) for c in text)


class Warnings:
    """Each text once."""

    def __init__(self):
        self.seen: Set[str] = set()

    def __call__(self, text: str) -> None:
        if text not in self.seen:
            self.seen.add(text)
            gdb.write("warning: SFrame: %s\n" % harmless(text), gdb.STDERR)


warn = Warnings()


# --- ABIs ---


@dataclass(frozen=True)
class Abi:
    """What the rows of an ABI leave to the reader."""

    names: Tuple[str, ...]  # of the section's ABI
    pc: str  # gdb's names
    sp_name: str
    sp: int  # DWARF numbers
    fp: int
    ra: int
    sp_from_cfa: int = 0  # the caller's SP
    trampolines: Tuple[bytes, ...] = ()  # the code to which signal handlers return
    trampoline_by_name: bool = False  # gdb looks at the name of the function, too
    signs: bool = False

    @property
    def ra_is_pc(self) -> bool:
        """In rules the RA column stands for the pc."""
        return self.fp == 6


ABIS = {
    "i386:x86-64": Abi(
        ("amd64",),
        "rip",
        "rsp",
        7,
        6,
        16,
        trampoline_by_name=True,  # mov $15, %rax; syscall
        trampolines=(b"\x48\xc7\xc0\x0f\0\0\0\x0f\x05", b"\xb8\x0f\0\0\0\x0f\x05"),
    ),
    "aarch64": Abi(
        ("aarch64", "aarch64_be"),
        "pc",
        "sp",
        31,
        29,
        30,
        trampolines=(b"\x68\x11\x80\xd2\x01\0\0\xd4",),
        signs=True,
    ),
    "s390:64-bit": Abi(
        ("s390x",), "pc", "r15", 15, 11, 14, -160, trampolines=(b"\x0a\xad", b"\x0a\x77")
    ),
}


def abi_of(architecture: "gdb.Architecture") -> Optional[Abi]:
    name = architecture.name()
    return ABIS.get(name[:-6] if name.endswith(":intel") else name)


# --- ELF images ---


class NotElf(Exception):
    pass


@dataclass
class Segment:
    kind: int
    flags: int
    offset: int
    address: int
    file_size: int
    size: int


class Image:
    """The headers of an ELF file, or of an image in memory. `read(offset, size)` returns fewer
    bytes at the end."""

    DYN, LOAD, NOTE, EH_FRAME, SFRAME, SECTION_NOTE = 3, 1, 4, 0x6474E550, 0x6474E554, 7

    def __init__(self, read: Callable[[int, int], bytes]):
        header = read(0, 64)
        if len(header) < 64 or header[:5] != b"\x7fELF\x02" or header[5] not in (1, 2):
            raise NotElf()
        self.order = "<" if header[5] == 1 else ">"
        self.type, self.machine = struct.unpack_from(self.order + "HH", header, 16)
        (offset,) = struct.unpack_from(self.order + "Q", header, 32)
        size, count = struct.unpack_from(self.order + "HH", header, 54)
        table = read(offset, size * count) if size >= 56 else b""
        self.segments: List[Segment] = []
        for at in range(0, len(table) - 55, size or 1):
            kind, flags, file_offset, address, _, file_size, memory_size, _ = struct.unpack_from(
                self.order + "IIQQQQQQ", table, at
            )
            self.segments.append(Segment(kind, flags, file_offset, address, file_size, memory_size))
        if not self.segments:  # a sidecar: its note is a section
            (offset,) = struct.unpack_from(self.order + "Q", header, 40)
            size, count = struct.unpack_from(self.order + "HH", header, 58)
            table = read(offset, size * count) if size >= 64 else b""
            for at in range(0, len(table) - 63, size or 1):
                _, kind, _, address, file_offset, length = struct.unpack_from(
                    self.order + "IIQQQQ", table, at
                )
                if kind == self.SECTION_NOTE:
                    self.segments.append(
                        Segment(self.NOTE, 0, file_offset, address, length, length)
                    )

    def all(self, kind: int) -> List[Segment]:
        return [segment for segment in self.segments if segment.kind == kind]

    @property
    def code(self) -> List[Segment]:
        return [segment for segment in self.all(self.LOAD) if segment.flags & 1]

    def has_code_at(self, address: int) -> bool:
        return any(0 <= address - part.address < part.size for part in self.code)

    def notes(self) -> List[Segment]:
        return [note for note in self.all(self.NOTE) if note.file_size <= 1 << 16][:64]

    def build_id_in(self, note: bytes) -> bytes:
        """NT_GNU_BUILD_ID in the notes of a segment (or section, with 4 byte alignment); b"" if
        there is none."""
        at = 0
        while at + 12 <= len(note):
            name_size, size, kind = struct.unpack_from(self.order + "III", note, at)
            start = at + 12 + (name_size + 3) // 4 * 4
            if kind == 3 and note[at + 12 : at + 12 + name_size] == b"GNU\0":
                return note[start : start + size]
            at = start + (size + 3) // 4 * 4
        return b""

    def build_id(self, read_note: Callable[[Segment], bytes]) -> bytes:
        return next(filter(None, (self.build_id_in(read_note(note)) for note in self.notes())), b"")


class FileImage:
    """An ELF file of a module."""

    def __init__(self, path: str):
        # A FIFO would block, and a device has no end.
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise NotElf()
            try:
                self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError:  # an empty file
                raise NotElf() from None
        self.image = Image(lambda offset, size: self.data[offset : offset + size])
        self.build_id = self.image.build_id(
            lambda note: self.data[note.offset : note.offset + note.file_size]
        )

    def bias(self, pc: int) -> Optional[int]:
        """What is added to the file's addresses if `pc` is in its code; None if it is not."""
        if self.image.type == Image.DYN:
            found = self.places_of_code_at(pc)
        else:
            found = [0] if self.image.has_code_at(pc) else []
        if len(found) > 1:
            found = [bias for bias in found if self.has_headers_at(bias)]
        return found[0] if len(found) == 1 and self.is_same_build(found[0]) else None

    def places_of_code_at(self, pc: int) -> List[int]:
        """The biases with which the file's code is what the memory has near the pc."""
        page = pc & -PAGE
        for start, end in (
            (page, page + PAGE),
            (max(page, pc - 64), min(page + PAGE, pc + 64)),
            (pc, min(page + PAGE, pc + 16)),
        ):
            code = read_memory(start, end - start)
            if not code:
                continue
            found = []
            for part in self.image.code:
                # The mapping has whole pages, and biases are a number of pages.
                first = (part.offset & -PAGE) + (start - part.address + part.offset) % PAGE
                for at in range(first, min(part.offset + part.file_size, len(self.data)), PAGE):
                    if (
                        self.data[at : at + 16] == code[:16]
                        and self.data[at : at + len(code)] == code
                    ):
                        bias = start - (part.address + at - part.offset) & MASK
                        if 0 <= (pc - bias & MASK) - part.address < part.size:
                            found.append(bias)
            if found:
                return found
        return []

    def has_headers_at(self, bias: int) -> bool:
        first = (part for part in self.image.all(Image.LOAD) if part.offset == 0)
        return any(read_memory(part.address + bias & MASK, 64) == self.data[:64] for part in first)

    def is_same_build(self, bias: int) -> bool:
        """The build ID in memory is the file's, as far as it can be read."""
        mapped = self.image.build_id(
            lambda note: read_memory(note.address + bias & MASK, note.file_size)
        )
        return not mapped or mapped == self.build_id


def read_memory(address: int, size: int) -> bytes:
    """b"" if not all can be read."""
    try:
        return bytes(gdb.selected_inferior().read_memory(address, size))
    except (gdb.error, OverflowError):
        return b""


# --- Modules ---


@dataclass
class Found:
    """What a module has for an address of its file."""

    match: Optional[sframe.Match] = None
    section: Optional[sframe.Section] = None
    has_cfi: bool = False


class Module:
    """A file as it is mapped, with its SFrame sections."""

    def __init__(self, path: str, image: Image, bias: int):
        self.path, self.image, self.bias = path, image, bias
        self.source = path  # where the sections are
        self.sections: List[sframe.Section] = []
        self.cfi_files: List[sframe.File] = []
        self.all_has_cfi = False
        self.cache: Dict[int, Found] = {}

    def __contains__(self, pc: int) -> bool:
        return self.image.has_code_at(pc - self.bias & MASK)

    def open_file(self, path: str) -> Optional[sframe.File]:
        try:
            return sframe.File(path)
        except sframe.Error as error:
            warn(str(error))
            return None

    def use_file(self, file: FileImage, folders: List[str], debug_files: List[str]) -> None:
        own = self.open_file(self.path)
        for sidecar in self.sidecars(file, folders):
            self.sections, self.source = sidecar.sections, sidecar.path
        if own and not self.sections:
            self.sections = own.sections
        if own and self.sections:
            self.cfi_files.append(own)
        for path in debug_files if self.sections else ():
            try:
                self.cfi_files.append(sframe.File(path))
            except sframe.Error:
                pass  # gdb has read it, and reports what is wrong

    def sidecars(self, file: FileImage, folders: List[str]):
        """The first one, as sframe-unwind finds it (docs/sframe-unwind-reference.md)."""
        name = file.build_id.hex()
        for folder in folders if len(name) > 2 else ():
            path = os.path.join(folder, ".build-id", name[:2], name[2:] + ".sframe")
            if not os.path.exists(path):
                continue
            problem = self.sidecar_problem(path, file)
            if problem:
                warn("%s: %s" % (path, problem))
            elif sidecar := self.open_file(path):
                if not sidecar.sections:
                    warn("%s: no SFrame section" % path)
                yield sidecar
            return

    def sidecar_problem(self, path: str, file: FileImage) -> Optional[str]:
        try:
            sidecar = FileImage(path)
        except OSError as error:
            return error.strerror
        except NotElf:
            return "not a 64-bit ELF file"
        if sidecar.image.machine != file.image.machine:
            return "wrong machine"
        if not sidecar.build_id:
            return "no build ID"
        return None if sidecar.build_id == file.build_id else "build ID mismatch"

    def find(self, pc: int) -> Found:
        address = pc - self.bias & MASK
        found = self.cache.get(address)
        if found is None:
            if len(self.cache) > 100000:
                self.cache.clear()
            found = self.cache[address] = self.look_up(address)
        return found

    def look_up(self, address: int) -> Found:
        for section in self.sections:
            try:
                match = section.find(address)
            except sframe.Error as error:
                warn("%s: %s" % (self.source, error))
                continue
            if match:
                return Found(
                    match,
                    section,
                    self.all_has_cfi or any(file.find_cfi(address) for file in self.cfi_files),
                )
        return Found()


def memory_module(name: str, start: int) -> Optional[Module]:
    """An image that gdb read from memory: the vdso."""
    try:
        image = Image(lambda offset, size: read_memory(start + offset & MASK, min(size, 1 << 20)))
    except NotElf:
        return None
    first = next((part for part in image.all(Image.LOAD) if part.offset == 0), None)
    if not first:
        return None
    module = Module(name, image, start - first.address & MASK)
    module.all_has_cfi = bool(image.all(Image.EH_FRAME))
    for part in image.all(Image.SFRAME):
        data = (
            read_memory(part.address + module.bias & MASK, part.size)
            if part.size <= 1 << 24
            else b""
        )
        try:
            if data:
                module.sections.append(sframe.Section(data, part.address))
        except sframe.Error as error:
            warn("%s: %s" % (name, error))
    return module


class Program:
    """The modules of a program space, found when a frame leads there."""

    def __init__(self, space: "gdb.Progspace", folders: List[str]):
        self.space, self.folders = space, folders
        self.modules: List[Module] = []
        self.files: Dict[str, Optional[FileImage]] = {}
        self.unknown: Set[Tuple[str, int]] = set()  # files, and pages that are not their code

    def module_at(self, pc: int) -> Optional[Module]:
        for number, module in enumerate(self.modules):
            if pc in module:
                if number:
                    self.modules.insert(0, self.modules.pop(number))
                return module
        path = self.space.solib_name(pc) or self.space.filename or ""
        if (path, pc & -PAGE) in self.unknown:
            return None
        module = (path and self.map_file(path, pc)) or self.map_memory(pc)
        if module:
            self.modules.insert(0, module)
        else:
            if len(self.unknown) > 100000:
                self.unknown.clear()
            self.unknown.add((path, pc & -PAGE))
        return module

    def map_file(self, path: str, pc: int) -> Optional[Module]:
        if path not in self.files:
            try:
                self.files[path] = FileImage(path)
            except (OSError, NotElf):
                self.files[path] = None  # gdb reports missing files
        file = self.files[path]
        bias = file.bias(pc) if file else None
        if bias is None:
            return None
        module = Module(path, file.image, bias)
        module.use_file(file, self.folders, self.debug_files(path))
        return module

    def debug_files(self, path: str) -> List[str]:
        real = os.path.realpath(path)
        return [
            objfile.filename
            for objfile in self.space.objfiles()
            if objfile.owner is not None and os.path.realpath(objfile.owner.filename or "") == real
        ]

    def map_memory(self, pc: int) -> Optional[Module]:
        for objfile in self.space.objfiles():
            name = objfile.filename or ""
            place = re.search(r" at 0x([0-9a-f]+)$", name) if not os.path.exists(name) else None
            module = memory_module(name, int(place[1], 16)) if place else None
            if module and pc in module:
                return module
        return None


# --- The unwinder ---


class FrameId:
    def __init__(self, sp: "gdb.Value", pc: "gdb.Value"):
        self.sp, self.pc = sp, pc


class Unknown(Exception):
    """A register or memory that a rule needs."""


class Step:
    """Applies a row to a frame."""

    def __init__(self, pending: "gdb.PendingFrame", abi: Abi, section: sframe.Section):
        self.pending, self.abi, self.section = pending, abi, section
        self.cfa = 0

    def register(self, number: int) -> int:
        name = (
            self.abi.pc
            if self.abi.ra_is_pc and number == self.abi.ra
            else register_name(self.section.abi, number)
        )
        try:
            return int(self.pending.read_register(name)) & MASK
        except (gdb.error, ValueError):
            raise Unknown("register %s" % name) from None

    def value(self, rule: sframe.Rule, own: int) -> int:
        if rule.kind == "same":
            return self.register(own)
        if rule.kind == "fixed":
            return self.load(self.cfa + self.section.fixed_ra_offset)
        if rule.kind == "undefined":
            raise Unknown("no rule")
        value = (self.cfa if rule.base == "cfa" else self.register(rule.base)) + rule.offset & MASK
        return self.load(value) if rule.kind == "stored" else value

    def load(self, address: int) -> int:
        data = read_memory(address & MASK, 8)
        if not data:
            raise Unknown("memory at 0x%x" % (address & MASK))
        big = self.section.abi in ("aarch64_be", "s390x")
        return int.from_bytes(data, "big" if big else "little")

    def without_code(self, address: int, signed: bool) -> int:
        """A return address without its authentication code."""
        try:
            return address & ~int(self.pending.read_register("pauth_cmask")) & MASK
        except (gdb.error, ValueError):
            # Linux gives programs 48 bits unless they ask for more.
            return address & (1 << 48) - 1 if signed else address


names: Dict[Tuple[str, int], str] = {}


def register_name(abi: str, number: int) -> str:
    """gdb's name, which is that of the ABI."""
    if (abi, number) not in names:
        name = sframe.register_name(abi, number)
        names[abi, number] = name if name else "none"
    return names[abi, number]


@dataclass
class Seen:
    """A frame that gdb asked about."""

    level: int
    pc: int
    sp: int
    signal: bool  # made by signal delivery: its caller was interrupted
    answer: Optional[Tuple[int, int]] = None  # the caller's pc and SP, if found here


class Chain:
    """Finds out whether a frame's pc is a return address, which depends on the next newer frame.

    gdb has no way to ask for it: the objects for frames must not be used now, since the IDs of
    newer inlined frames depend on this one's. But gdb asks here for every frame from the newest on,
    inlined ones excepted.
    """

    def __init__(self):
        self.thread: Optional[Tuple[int, int, int]] = None
        self.seen: List[Seen] = []

    def forget(self, *_) -> None:
        self.seen.clear()

    def is_return_address(self, level: int, pc: int, sp: int) -> bool:
        thread = gdb.selected_thread()
        if level == 0 or not thread or thread.ptid != self.thread:
            self.thread = thread.ptid if thread else None
            self.seen.clear()
        while self.seen and self.seen[-1].level >= level:
            self.seen.pop()
        if not self.seen:
            return False  # all newer frames are inlined in this one
        newer = self.seen[-1]
        if newer.signal:
            return False
        if newer.answer:
            return newer.answer == (
                pc,
                sp,
            )  # else gdb has called a function here, or frames are new
        return sp >= newer.sp  # else it is a frame of an earlier moment


def comes_from_call(
    newer: Optional["gdb.Frame"], is_signal_frame: Callable[["gdb.Frame"], bool]
) -> bool:
    """The same for the frame next to `newer`, outside an unwinder."""
    while newer is not None and newer.type() == gdb.INLINE_FRAME:
        newer = newer.newer()
    return (
        newer is not None
        and newer.type() in (gdb.NORMAL_FRAME, gdb.TAILCALL_FRAME)
        and not is_signal_frame(newer)
    )


class SframeUnwinder(gdb.unwinder.Unwinder):
    def __init__(self):
        super().__init__(NAME)
        self.mode = "auto"
        self.folders: List[str] = []
        self.programs: Dict["gdb.Progspace", Program] = {}
        self.chain = Chain()

    def forget(self, *_) -> None:
        """Files and addresses may have changed."""
        self.programs.clear()
        self.chain.forget()

    def module_at(self, pc: int) -> Optional[Module]:
        space = gdb.current_progspace()
        if space not in self.programs:
            self.programs[space] = Program(space, self.folders)
        return self.programs[space].module_at(pc)

    def is_signal_frame(self, frame: "gdb.Frame") -> bool:
        """A frame that was unwound here as a signal frame, which gdb does not know."""
        module = self.module_at(frame.pc())
        match = module.find(frame.pc()).match if module and module.sections else None
        return bool(match and match.function.signal)

    def __call__(self, pending: "gdb.PendingFrame") -> Optional["gdb.UnwindInfo"]:
        if self.mode == "off":
            return None
        try:
            return self.unwind(pending)
        except (gdb.error, Unknown):
            return None
        except Exception as error:  # a fault here must not hide gdb's own answer
            warn("internal error: %s: %s" % (type(error).__name__, error))
            return None

    def unwind(self, pending: "gdb.PendingFrame") -> Optional["gdb.UnwindInfo"]:
        abi = abi_of(pending.architecture())
        if not abi:
            return None
        pc_value, sp = pending.read_register(abi.pc), int(pending.read_register(abi.sp_name)) & MASK
        pc = int(pc_value) & MASK
        called = self.chain.is_return_address(pending.level(), pc, sp)
        seen = Seen(pending.level(), pc, sp, False)
        self.chain.seen.append(seen)
        module = self.module_at(pc - called & MASK)
        found = module.find(pc - called & MASK) if module and module.sections else Found()
        seen.signal = bool(found.match and found.match.function.signal) or is_trampoline(abi, pc)
        if not found.match or not self.is_used(found) or found.section.abi not in abi.names:
            return None
        function, row = found.match.function, found.match.row
        start = function.start + module.bias & MASK
        if seen.signal and gdb_knows_trampoline(abi, pc):
            return None  # gdb restores all registers
        if seen.signal and not function.signal and start + function.size & MASK == pc:
            return None  # no call: the row is that of the function before the trampoline

        step = Step(pending, abi, found.section)
        word = pc_value.type

        def made(number):
            return gdb.Value(number & MASK).cast(word)

        if row.ra.kind == "undefined":
            # An unwinder in Python cannot mark the end. A pc of 0 ends gdb's backtraces.
            info = pending.create_unwind_info(FrameId(made(sp), made(start)))
            info.add_saved_register(abi.sp_name, made(sp))
            info.add_saved_register(abi.pc, made(0))
            return info
        step.cfa = step.value(row.cfa, abi.sp)
        ra = step.value(row.ra, abi.ra)
        if abi.signs:
            ra = step.without_code(ra, row.ra_signed)
        seen.answer = ra, step.cfa + abi.sp_from_cfa & MASK
        info = pending.create_unwind_info(FrameId(made(step.cfa), made(start)))
        info.add_saved_register(abi.sp_name, made(seen.answer[1]))
        info.add_saved_register(abi.pc, made(ra))
        try:
            info.add_saved_register(
                register_name(found.section.abi, abi.fp), made(step.value(row.fp, abi.fp))
            )
        except Unknown:
            pass  # it may not be needed
        return info

    def is_used(self, found: Found) -> bool:
        return self.mode == "on" or self.mode == "auto" and not found.has_cfi


def is_trampoline(abi: Abi, pc: int) -> bool:
    return any(read_memory(pc, len(code)) == code for code in abi.trampolines)


def gdb_knows_trampoline(abi: Abi, pc: int) -> bool:
    """gdb has unwinders for the code to which signal handlers return. On AMD64 it looks at the name
    first."""
    if not is_trampoline(abi, pc):
        return False
    if not abi.trampoline_by_name:
        return True
    text = str(gdb.Value(pc).cast(gdb.lookup_type("char").pointer().pointer()))
    name = re.search(r"<([^+>]*)", text)
    return name is None or name[1] == "__restore_rt" or "sigaction" in name[1]


# --- Commands ---


class SframeCommand(gdb.Command):
    """Use SFrame sections for backtraces.

    sframe auto            where a file has no call frame information (default)
    sframe on              wherever there is a row
    sframe off             never
    sframe directory DIR   also sidecars, DIR/.build-id/xx/yyyy.sframe; several with ':', none with ''
    sframe                 show these settings"""

    def __init__(self, unwinder: SframeUnwinder):
        super().__init__("sframe", gdb.COMMAND_STACK)
        self.unwinder = unwinder

    def invoke(self, text: str, _from_tty: bool) -> None:
        words = gdb.string_to_argv(text)
        if not words:
            gdb.write(
                "SFrame is %s. Sidecars: %s.\n"
                % (self.unwinder.mode, ":".join(self.unwinder.folders) or "none")
            )
        elif words[0] in MODES and len(words) == 1:
            self.unwinder.mode = words[0]
        elif words[0] == "directory" and len(words) == 2:
            folders = [
                os.path.abspath(os.path.expanduser(folder))
                for folder in words[1].split(":")
                if folder
            ]
            for folder in folders:
                if not os.path.isdir(folder):
                    raise gdb.GdbError("%s: no such directory." % harmless(folder))
            self.unwinder.folders = folders
            self.unwinder.forget()
        else:
            raise gdb.GdbError("sframe auto, on, off, or directory DIR.")
        gdb.invalidate_cached_frames()

    def complete(self, text: str, word: str):
        if text.startswith("directory "):
            return gdb.COMPLETE_FILENAME
        return [choice for choice in MODES + ("directory",) if choice.startswith(word)]


class InfoSframe(gdb.Command):
    """The SFrame row for an address: module, section, function, rules.

    info sframe [ADDRESS]

    Without ADDRESS, for the selected frame; the pc of a frame that called another one is looked up
    by the address before it."""

    def __init__(self, unwinder: SframeUnwinder):
        super().__init__("info sframe", gdb.COMMAND_STACK, gdb.COMPLETE_EXPRESSION)
        self.unwinder = unwinder

    def address(self, text: str) -> int:
        if text:
            value = gdb.parse_and_eval(text)
            if value.type.strip_typedefs().code == gdb.TYPE_CODE_FUNC:
                value = value.address
            return int(value) & MASK
        frame = gdb.selected_frame()
        return frame.pc() - comes_from_call(frame.newer(), self.unwinder.is_signal_frame)

    def invoke(self, text: str, _from_tty: bool) -> None:
        try:
            pc = self.address(text)
        except gdb.error as error:
            raise gdb.GdbError(str(error)) from None
        module = self.unwinder.module_at(pc)
        if not module:
            raise gdb.GdbError("0x%x is in no file that can be read." % pc)
        if not module.sections:
            raise gdb.GdbError(
                "%s has no SFrame section that can be read, and no sidecar." % harmless(module.path)
            )
        found = module.find(pc)
        if not found.match:
            raise gdb.GdbError("No row for 0x%x in %s." % (pc, harmless(module.source)))
        gdb.write("".join("%-10s%s\n" % line for line in self.lines(pc, module, found)))

    def lines(self, pc: int, module: Module, found: Found):
        function, row, section = found.match.function, found.match.row, found.section
        start = function.start + module.bias & MASK
        yield "Address:", "0x%x, 0x%x in %s" % (pc, pc - module.bias & MASK, harmless(module.path))
        yield "Section:", "%s: version %d, %s, %s-endian, at 0x%x" % (
            "the same file" if module.source == module.path else harmless(module.source),
            section.version,
            section.abi,
            section.byte_order,
            section.address + module.bias & MASK,
        )
        marks = [
            mark
            for mark, has in (
                ("blocks of %d bytes" % function.block_size, function.block_size),
                ("flexible", function.flexible),
                ("signal frame", function.signal),
                ("key %s" % function.pauth_key, row.ra_signed),
            )
            if has
        ]
        yield "Function:", ", ".join(
            ["%d, 0x%x-0x%x" % (function.index, start, start + function.size)] + marks
        )
        if row.ra.kind == "undefined":
            yield "Row:", "the outermost frame"
        else:
            at = (
                "+0x%x in the block" % row.offset
                if function.block_size
                else "0x%x" % (start + row.offset & MASK)
            )
            yield "Row:", "%s: CFA %s, RA %s%s, FP %s" % (
                at,
                row.cfa,
                row.ra,
                " signed" if row.ra_signed else "",
                row.fp,
            )
        yield "Used:", (
            "yes"
            if self.unwinder.is_used(found)
            else "no, SFrame is off"
            if self.unwinder.mode == "off"
            else "no, the file has call frame information for this address (sframe on uses the row)"
        )


def register() -> None:
    """Once per gdb: gdb loads an auto-loaded file again with each program."""
    if any(unwinder.name == NAME for unwinder in gdb.frame_unwinders):
        return
    unwinder = SframeUnwinder()
    gdb.unwinder.register_unwinder(None, unwinder)
    SframeCommand(unwinder)
    InfoSframe(unwinder)
    for name in ("cont", "register_changed", "memory_changed"):
        getattr(gdb.events, name).connect(unwinder.chain.forget)
    for name in ("new_objfile", "clear_objfiles", "free_objfile", "exited", "executable_changed"):
        if hasattr(gdb.events, name):
            getattr(gdb.events, name).connect(unwinder.forget)
