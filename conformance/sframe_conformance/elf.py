# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""As much of 64-bit ELF files as it takes to check what assemblers and linkers write: sections,
symbols, program headers, and the relocations of .sframe."""
import dataclasses
import struct

MACHINES = {62: "amd64", 183: "aarch64", 22: "s390x"}
PT_LOAD, PT_GNU_SFRAME = 1, 0x6474E554
SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_DYNSYM, ET_REL = 2, 4, 8, 11, 1
# Relocations relative to their place: machine, type -> bytes.
RELATIVE = {(62, 2): 4, (62, 24): 8, (183, 261): 4, (183, 260): 8, (22, 5): 4, (22, 23): 8}


class Bad(Exception):
    """The file is not what it should be."""


@dataclasses.dataclass
class Part:
    name: str
    type: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    entry_size: int


class Elf:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        try:
            self._read()
        except (struct.error, IndexError, UnicodeDecodeError) as error:
            raise Bad("%s: not a whole ELF file (%s)" % (path, error)) from None

    def _unpack(self, format_, at):
        return struct.unpack_from(self.order + format_, self.data, at)

    def _read(self):
        if self.data[:5] != b"\x7fELF\x02":
            raise Bad("not a 64-bit ELF file")
        self.order = ">" if self.data[5] == 2 else "<"
        self.type, self.machine = self._unpack("HH", 16)
        self.abi = MACHINES.get(self.machine, "") + (
            "_be" if self.machine == 183 and self.order == ">" else ""
        )
        program_at, section_at = self._unpack("QQ", 32)
        program_size, programs, section_size, sections, names = self._unpack("HHHHH", 54)
        headers = [
            self._unpack("IIQQQQIIQQ", section_at + i * section_size) for i in range(sections)
        ]
        self.parts = [
            Part(self._text(headers[names][4] + h[0]), h[1], h[3], h[4], h[5], h[6], h[7], h[9])
            for h in headers
        ]
        if self.type == ET_REL:  # each section gets a place of its own
            for i, part in enumerate(self.parts):
                part.address = 0x10000000 + i * 0x1000000
        self.segments = [
            self._unpack("IIQQQQQ", program_at + i * program_size) for i in range(programs)
        ]
        self.symbols, self.dynamic_symbols = [], []  # (name, section, address)
        for part in self.parts:
            into = {SHT_SYMTAB: self.symbols, SHT_DYNSYM: self.dynamic_symbols}.get(part.type)
            if into is not None:
                for at in range(part.offset, part.offset + part.size, part.entry_size):
                    name, _, _, section, value = self._unpack("IBBHQ", at)
                    inside = 0 < section < len(self.parts)
                    base = self.parts[section].address if self.type == ET_REL and inside else 0
                    into.append(
                        (self._text(self.parts[part.link].offset + name), section, base + value)
                    )

    def _text(self, at):
        return self.data[at : self.data.index(b"\0", at)].decode()

    def address_of(self, name):
        """Of a defined symbol, or of a section. None if there is none. A linker may keep only one
        of the symbols of code that it has merged in .symtab; what others can call is in .dynsym."""
        found = [
            address
            for symbol, section, address in self.symbols + self.dynamic_symbols
            if symbol == name and section
        ] or [part.address for part in self.parts if part.name == name]
        return found[0] if found else None

    def sframe(self):
        """The sections with that name: (Part, bytes with relocations applied)."""
        found = []
        for i, part in enumerate(self.parts):
            if part.name == ".sframe" and part.type != SHT_NOBITS:
                data = bytearray(self.data[part.offset : part.offset + part.size])
                for relocations in self.parts:
                    if (
                        relocations.type == SHT_RELA
                        and relocations.info == i
                        and self.type == ET_REL
                    ):
                        self._relocate(data, part, relocations)
                found.append((part, bytes(data)))
        return found

    def _relocate(self, data, part, relocations):
        for at in range(relocations.offset, relocations.offset + relocations.size, 24):
            place, info, addend = self._unpack("QQq", at)
            size = RELATIVE.get((self.machine, info & 0xFFFFFFFF))
            if size is None:
                raise Bad("a relocation of type %d in .sframe" % (info & 0xFFFFFFFF))
            _, section, address = self.symbols[info >> 32]
            value = (address + addend - part.address - place) % (1 << 8 * size)
            data[place : place + size] = value.to_bytes(
                size, "little" if self.order == "<" else "big"
            )
