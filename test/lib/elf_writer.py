"""ELF files (64 bits), byte by byte: for inputs that no tool writes, in tests and in seeds of fuzz targets. Headers take
any number, right or wrong; a File takes sections over the same bytes, or over none.

    file = File()
    file.section(".text", SHT_PROGBITS, file.add(b"\\xc3"), SHF_ALLOC | SHF_EXEC, 0x1000)
    file.write("one-function.so")
"""
import struct
import zlib

ET_REL, ET_EXEC, ET_DYN, ET_CORE = 1, 2, 3, 4
EM_S390, EM_AMD64, EM_AARCH64, EM_RISCV = 22, 62, 183, 243
PT_LOAD, PT_DYNAMIC, PT_NOTE, PT_PHDR, PT_GNU_EH_FRAME, PT_GNU_SFRAME = (
    1,
    2,
    4,
    6,
    0x6474E550,
    0x6474E554,
)
(
    SHT_NULL,
    SHT_PROGBITS,
    SHT_SYMTAB,
    SHT_STRTAB,
    SHT_RELA,
    SHT_DYNSYM,
    SHT_SYMTAB_SHNDX,
    SHT_GNU_SFRAME,
) = (0, 1, 2, 3, 4, 11, 18, 0x6FFFFFF4)
SHF_ALLOC, SHF_EXEC, SHF_COMPRESSED = 2, 4, 0x800
NT_GNU_BUILD_ID = 3


def uleb(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def words(values, order="<"):
    return struct.pack("%s%dQ" % (order, len(values)), *values)


def header(
    kind,
    machine=EM_AMD64,
    segments=(0, 0),
    sections=(0, 0),
    names=0,
    entry=0,
    order="<",
    elf_class=2,
):
    """`segments`, `sections`: where their headers are, and how many. `names`: the number of the
    section with the names."""
    ident = b"\x7fELF" + bytes([elf_class, 1 if order == "<" else 2, 1])
    sizes = (
        64,
        56 if segments[1] else 0,
        segments[1],
        64 if any(sections) else 0,
        sections[1],
        names,
    )
    return struct.pack(
        order + "16sHHIQQQIHHHHHH",
        ident,
        kind,
        machine,
        1,
        entry,
        segments[0],
        sections[0],
        0,
        *sizes
    )


def program_header(kind, flags, offset, address, size, memory=None, align=4096, order="<"):
    return struct.pack(
        order + "IIQQQQQQ",
        kind,
        flags,
        offset,
        address,
        address,
        size,
        size if memory is None else memory,
        align,
    )


def program_headers(elf):
    """Those of a file: type, flags, offset, address, physical address, size in the file, size in
    memory, alignment."""
    order = "<" if elf[5] == 1 else ">"
    at, count = (
        struct.unpack_from(order + "Q", elf, 32)[0],
        struct.unpack_from(order + "H", elf, 56)[0],
    )
    return [struct.unpack_from(order + "IIQQQQQQ", elf, at + 56 * i) for i in range(count)]


def section_header(
    name, kind, where, flags=0, address=0, link=0, info=0, align=8, entry=0, order="<"
):
    """`name`: its offset in the names. `where`: the bytes' offset, and how many."""
    return struct.pack(
        order + "IIQQQQIIQQ", name, kind, flags, address, *where, link, info, align, entry
    )


def symbol(name, value, size, section=1, info=0x12, order="<"):
    """By default a global function."""
    return struct.pack(order + "IBBHQQ", name, info, 0, section, value, size)


def note(kind, body, owner=b"CORE", order="<"):
    owner += b"\0"
    return (
        struct.pack(order + "III", len(owner), len(body), kind)
        + aligned(owner, 4)
        + aligned(body, 4)
    )


def aligned(content, align):
    return content + bytes(-len(content) % align)


def compressed(content, claimed=None):
    """Of a section with SHF_COMPRESSED, which claims another size."""
    return struct.pack(
        "<IIQQ", 1, 0, len(content) if claimed is None else claimed, 8
    ) + zlib.compress(content, 9)


def eh_frame(address, start, size, instructions=b""):
    """One CIE (CFA = rsp + 8, return address there) and one FDE."""
    cie = (
        struct.pack("<I", 0)
        + b"\x01zR\0"
        + uleb(1)
        + b"\x78"
        + uleb(16)
        + uleb(1)
        + b"\x1b"
        + b"\x0c\x07\x08\x90\x01"
    )
    cie = aligned(cie, 4)
    at = 4 + len(cie)
    fde = aligned(
        struct.pack("<IiI", at + 4, start - (address + at + 8), size) + b"\0" + instructions, 4
    )
    return struct.pack("<I", len(cie)) + cie + struct.pack("<I", len(fde)) + fde + bytes(4)


def sframe_header(
    functions, rows, row_bytes, index_bytes, version=2, flags=1, abi=3, ra=-8, order="<"
):
    """An SFrame section's, up to its index: the numbers of functions and rows, and their sizes."""
    return struct.pack(
        order + "HBBBbbB5I",
        0xDEE2,
        version,
        flags,
        abi,
        0,
        ra,
        0,
        functions,
        rows,
        row_bytes,
        0,
        index_bytes,
    )


class File:
    """Bytes are laid out as they come; sections point anywhere into them."""

    def __init__(self, kind=ET_DYN, machine=EM_AMD64, order="<", segments=(0, 0), entry=0):
        self.kind, self.machine, self.order, self.segments, self.entry = (
            kind,
            machine,
            order,
            segments,
            entry,
        )
        self.data, self.sections, self.names = bytearray(64), [], bytearray(b"\0")
        self.section("", SHT_NULL, (0, 0), align=0)

    def add(self, content, align=8):
        """Where it is now."""
        self.data += bytes(-len(self.data) % align) + content
        return len(self.data) - len(content), len(content)

    def section(self, name, kind, where, flags=0, address=0, link=0, info=0, align=8, entry=0):
        """Its number."""
        offset = self.names.find(name.encode() + b"\0") if name else 0
        if offset < 0:
            offset = len(self.names)
            self.names += name.encode() + b"\0"
        self.sections.append(
            section_header(
                offset, kind, where, flags, address, link, info, align, entry, self.order
            )
        )
        return len(self.sections) - 1

    def symbol_table(self, *symbols, names=b"\0a\0"):
        """.strtab with the names, and .symtab with the symbols, whose number this is."""
        strings = self.section(".strtab", SHT_STRTAB, self.add(names))
        return self.section(
            ".symtab",
            SHT_SYMTAB,
            self.add(bytes(24) + b"".join(symbols)),
            link=strings,
            info=1,
            entry=24,
        )

    def content(self):
        number = self.section(".shstrtab", SHT_STRTAB, (0, 0))
        place = self.names.find(b".shstrtab")
        self.sections[number] = section_header(
            place, SHT_STRTAB, self.add(bytes(self.names)), align=1, order=self.order
        )
        table, count = self.add(b"".join(self.sections))[0], len(self.sections)
        if count >= 0xFF00:  # the numbers are in the null section then
            struct.pack_into(self.order + "QI", self.data, table + 32, count, number)
            count, number = 0, 0xFFFF
        self.data[:64] = header(
            self.kind, self.machine, self.segments, (table, count), number, self.entry, self.order
        )
        return bytes(self.data)

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.content())
