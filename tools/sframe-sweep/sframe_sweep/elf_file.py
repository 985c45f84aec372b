# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linked ELF files: which there are in a folder, the sizes of their parts, and what they need
(System V gABI, chapters 4 and 5). The files may be hostile: all reads are bounded."""
import errno
import hashlib
import os
import stat
import struct

MACHINES = {62: "amd64", 183: "aarch64", 22: "s390x"}
ET_EXEC, ET_DYN = 2, 3
PT_LOAD, PT_INTERP = 1, 3
SHT_NOBITS = 8
SHF_EXECINSTR = 4
DT_NULL, DT_NEEDED = 0, 1
MAX_NAMES = 1 << 20  # bytes of section names
MAX_DYNAMIC = 1 << 20  # bytes of .dynamic
MAX_STRINGS = 64 << 20  # bytes of .dynstr
BLOCK = 1 << 20


class ElfFile:
    """The headers of a linked 64-bit file. ValueError if it is not one."""

    def __init__(self, path):
        # A FIFO or a device would block, or never end.
        with open(
            path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)
        ) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ValueError("not a regular file")
            header = file.read(64)
            if len(header) < 64 or header[:5] != b"\x7fELF\x02":
                raise ValueError("not a 64-bit ELF file")
            self._order = "<" if header[5] == 1 else ">"
            kind, machine = struct.unpack_from(self._order + "HH", header, 16)
            if kind not in (ET_EXEC, ET_DYN):
                raise ValueError("not linked")
            self.abi = MACHINES.get(machine, "machine %d" % machine) + (
                "_be" if machine == 183 and self._order == ">" else ""
            )
            self.path, self.size = path, status.st_size
            (self.entry,) = struct.unpack_from(self._order + "Q", header, 24)
            segments, sections = struct.unpack_from(self._order + "QQ", header, 32)
            _, segment_count, _, section_count, names_index = struct.unpack_from(
                self._order + "HHHHH", header, 54
            )
            program_headers = self._table(file, "IIQQQQQQ", segments, segment_count)
            self._segments = [
                (fields[3], fields[2], fields[5])
                for fields in program_headers
                if fields[0] == PT_LOAD
            ]
            self.loaded = min(sum(min(size, self.size) for _, _, size in self._segments), self.size)
            self.has_interpreter = any(fields[0] == PT_INTERP for fields in program_headers)
            self.is_executable = kind == ET_EXEC or self.has_interpreter
            section_headers = self._table(file, "IIQQQQIIQQ", sections, section_count)
            code = {fields[1] for fields in section_headers if fields[2] & SHF_EXECINSTR}
            self.is_debug_file = code == {SHT_NOBITS}  # the code is in the file that it belongs to
            self._sections = self._named(file, section_headers, names_index)
            self._note = self._bytes(file, ".note.gnu.build-id", 4096) or None

    def _table(self, file, form, offset, count):
        size = struct.calcsize(self._order + form)
        file.seek(min(offset, self.size))
        data = file.read(size * count)
        return list(struct.iter_unpack(self._order + form, data[: len(data) // size * size]))

    def _named(self, file, sections, names_index):
        """(offset, size, address) by name of the sections that have contents."""
        if names_index >= len(sections):
            return {}
        file.seek(min(sections[names_index][4], self.size))
        names = file.read(min(sections[names_index][5], MAX_NAMES))
        named = {}
        for fields in sections:
            if fields[1] != SHT_NOBITS:
                end = names.find(b"\0", fields[0], fields[0] + 256)
                named[names[fields[0] : max(end, fields[0])].decode("latin-1")] = (
                    fields[4],
                    fields[5],
                    fields[3],
                )
        return named

    def _bytes(self, file, name, most):
        offset, size, _ = self._sections.get(name, (0, 0, 0))
        file.seek(min(offset, self.size))
        return file.read(min(size, most))

    def loaded_bytes(self, address, size):
        """At most `size` bytes from an address on, which are in one segment."""
        for start, offset, length in self._segments:
            if start <= address < start + length:
                with open(self.path, "rb") as file:
                    file.seek(min(offset + address - start, self.size))
                    return file.read(min(size, start + length - address))
        return b""

    def section_bytes(self, name, most):
        """The first bytes, at most that many, of a section; none if there is no such section."""
        with open(self.path, "rb") as file:
            return self._bytes(file, name, most)

    def section_size(self, name):
        """0 if there is no such section, or it has no bytes in the file."""
        return min(self._sections.get(name, (0, 0, 0))[1], self.size)

    def section_address(self, name):
        return self._sections.get(name, (0, 0, 0))[2]

    def has_section(self, name):
        return name in self._sections

    def needed(self):
        """The names of the shared libraries that it is linked with."""
        strings = self.section_bytes(".dynstr", MAX_STRINGS)
        names = []
        entries = self.section_bytes(".dynamic", MAX_DYNAMIC)
        for tag, value in struct.iter_unpack(
            self._order + "QQ", entries[: len(entries) // 16 * 16]
        ):
            if tag == DT_NULL:
                break
            if tag == DT_NEEDED:
                end = strings.find(b"\0", value, value + 4096)
                names.append(strings[value : max(end, value)].decode("latin-1"))
        return names

    def build_id(self):
        """Hexadecimal digits, or None."""
        if not self._note or len(self._note) < 16:
            return None
        name_size, size, _ = struct.unpack_from(self._order + "III", self._note)
        identity = self._note[16 : 16 + size]
        return (
            identity.hex() if name_size == 4 and 2 <= size <= 64 and len(identity) == size else None
        )

    def identity(self):
        """The same for copies of a file, and for no others: its build ID, which other files may
        have, too, and a digest of its contents. Costs as much as reading it, without its holes."""
        build_id, digest = self.build_id(), _digest(self.path)
        return "%s-%s" % (build_id, digest[:16]) if build_id else "sha256:" + digest


def _data_blocks(file):
    """Where the blocks are that have data, and perhaps some without: a hole may have 2^62 bytes."""
    at = 0
    while True:
        try:
            at = max(at, os.lseek(file.fileno(), at, os.SEEK_DATA) // BLOCK * BLOCK)
        except OSError as error:
            if error.errno == errno.ENXIO:  # no more data
                return
            raise
        yield at
        at += BLOCK


def _digest(path):
    """SHA-256 of the size and the blocks that are not zeros, each with its offset: does not depend
    on where the holes are."""
    with open(path, "rb", buffering=0) as file:
        digest = hashlib.sha256(b"%d\n" % os.fstat(file.fileno()).st_size)
        for at in _data_blocks(file):
            data = os.pread(file.fileno(), BLOCK, at)
            if data.strip(b"\0"):
                digest.update(b"%d\n" % at + data)
    return digest.hexdigest()


def linked_files(paths):
    """The distinct executables and shared objects among the paths and in the folders among them,
    the largest first. Symbolic links in folders are not followed."""
    found = {}
    for path in paths:
        names = (
            [path]
            if not os.path.isdir(path)
            else (os.path.join(root, name) for root, _, names in os.walk(path) for name in names)
        )
        for name in names:
            if not os.path.isfile(name) or (name != path and os.path.islink(name)):
                continue
            try:
                file = ElfFile(name)
            except (OSError, ValueError):
                continue
            known = found.get(file.identity())
            if known is None or file.path < known.path:
                found[file.identity()] = file
    return sorted(found.values(), key=lambda file: (-file.size, file.path))
