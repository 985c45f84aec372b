#!/usr/bin/env python3
"""cfi_seeds.py FOLDER: call frame information that no compiler writes, for the target cfi: every
instruction, every operation of expressions, every encoding of pointers, rules that SFrame cannot
have, and entries that are wrong in one way each (DWARF 5, sections 6.4 and 2.5; LSB, .eh_frame)."""
import os
import struct
import sys

from elf_writer import uleb

folder = sys.argv[1]
# (number in the target, order, SP, FP, RA) of each ABI.
ABIS = ((0, ">", 31, 29, 30), (1, "<", 31, 29, 30), (2, "<", 7, 6, 16), (3, ">", 15, 11, 14))
SECTION = 0x400000


def put(label, abi, contents, kind=0):
    with open(os.path.join(folder, "%s-%d" % (label, abi)), "wb") as out:
        out.write(bytes([kind | abi, 0]) + contents)


def block(expression):
    return uleb(len(expression)) + expression


class Section:
    """An .eh_frame or .debug_frame, entry by entry."""

    def __init__(self, abi, debug_frame=False):
        self.number, self.order, self.sp, self.fp, self.ra = abi
        self.debug_frame = debug_frame
        self.bytes, self.last_cie, self.next_start = b"", 0, 0x500000

    def entry(self, identifier, body, length=None, is_64=False):
        body += bytes(-len(body) % 4)
        head = b"\xff" * 4 if is_64 else b""
        size = "Q" if is_64 else "I"
        named = struct.pack(self.order + ("Q" if is_64 and self.debug_frame else "I"), identifier)
        self.bytes += (
            head
            + struct.pack(self.order + size, len(named + body) if length is None else length)
            + named
            + body
        )

    def cie(
        self,
        initial=None,
        letters=b"zR",
        data=b"\x1b",
        version=1,
        sizes=b"\x08\x00",
        code=1,
        factor=0x78,
        ra=None,
        is_64=False,
    ):
        self.last_cie = len(self.bytes)
        ra = self.ra if ra is None else ra
        if initial is None:
            initial = b"\x0c" + uleb(self.sp) + uleb(8) + bytes([0x80 | self.ra, 1])
        body = (
            bytes([version])
            + letters
            + b"\0"
            + (sizes if version == 4 else b"")
            + uleb(code)
            + bytes([factor])
        )
        body += (
            (bytes([ra]) if version == 1 else uleb(ra))
            + (block(data) if letters.startswith(b"z") else b"")
            + initial
        )
        none = (0xFFFFFFFFFFFFFFFF if is_64 else 0xFFFFFFFF) if self.debug_frame else 0
        self.entry(none, body, is_64=is_64)
        return self

    def fde(self, code, size=256, range_bytes=None, augmentation=b"\0", is_64=False):
        where = len(self.bytes) + (16 if is_64 and not self.debug_frame else 8)
        if range_bytes is None:
            if self.debug_frame:
                range_bytes = struct.pack(self.order + "QQ", self.next_start, size)
            else:
                range_bytes = struct.pack(
                    self.order + "iI", self.next_start - SECTION - where, size
                )
        self.next_start += 0x1000
        back = self.last_cie if self.debug_frame else where - 4 - self.last_cie
        self.entry(
            back, range_bytes + (b"" if self.debug_frame else augmentation) + code, is_64=is_64
        )
        return self


def instructions(abi):
    """Each instruction alone, and all that the ABI has; what an ABI has not ends the FDE."""
    number, order, sp, fp, ra = abi
    leb = lambda *values: bytes(values)
    numbers = lambda *values: b"".join(struct.pack(order + code, value) for code, value in values)
    parts = [
        leb(0x90, 1),
        leb(0x0E, 16),
        leb(0x86, 2),
        leb(0x0D, 6),
        leb(0x0A),
        leb(0x02, 1),
        leb(0x0B),
        leb(0x05, 6, 2),
        leb(0x06, 6),
        leb(0x07, 6),
        leb(0x08, 6),
        leb(0x09, 6, 3),
        leb(0x11, 6, 0x7E),
        leb(0x12, 7, 0x7E),
        leb(0x13, 0x7E),
        leb(0x14, 6, 1),
        leb(0x15, 6, 0x7F),
        leb(0x2E, 16),
        leb(0x2F, 6, 1),
        b"\3" + numbers(("H", 1)),
        b"\4" + numbers(("I", 1)),
        leb(0xC6),
        leb(0x10, 6, 2, 0x77, 8),
        leb(0x16, 6, 2, 0x77, 8),
        leb(0x0F, 2, 0x77, 8),
        leb(0x2D),
        leb(0x2C),
        leb(0x16, 7, 2, 0x77, 8),
        b"\1" + numbers(("i", 0)),
    ]
    section = Section(abi).cie()
    for part in parts:
        section.fde(b"\x41" + part + b"\x42")
    section.cie(letters=b"zRS")
    put("instructions", number, section.fde(b"\x41".join(parts)).bytes)


def rules(abi):
    """Rules that SFrame cannot represent, and those that it just can."""
    number, _, sp, fp, ra = abi
    r = lambda *values: b"".join(uleb(value) for value in values)
    near, far = (
        bytes([0x92]) + uleb(sp) + b"\x08",
        bytes([0x92]) + uleb(sp) + b"\x80\x80\x80\x80\x10",
    )
    difficult = bytes([0x92]) + uleb(sp) + b"\0\x06\x06"
    several = b"\x08\x10\x92" + uleb(fp) + b"\x10\x22\x23\x08\x08\x08\x1c"
    huge = 1 << 33
    alone = [
        r(0x09, sp, 2),
        r(0x05, sp, 2),
        r(0x07, sp),
        r(0x08, sp),
        r(0x14, sp, 0),
        r(0x14, sp, 5),
        r(0x14, sp, huge),
        r(0x09, sp, fp),
        r(0x10, sp) + block(near),
        r(0x16, sp) + block(near),
        r(0x16, sp) + block(near + b"\x06"),
        r(0x16, sp) + block(far),
        r(0x16, sp) + block(difficult),
        r(0x08, ra),
        r(0x07, ra),
        r(0x06, ra),
        r(0x09, ra, sp),
        r(0x09, ra, fp),
        r(0x09, ra, ra),
        r(0x09, ra, 70000),
        r(0x14, ra, 2),
        r(0x10, ra) + block(near),
        r(0x10, ra) + block(difficult),
        r(0x16, ra) + block(near),
        r(0x16, ra) + block(near + b"\x06"),
        r(0x16, ra) + block(b"\x08\x10\x1c"),
        r(0x10, ra) + block(b"\x08\x10\x1c"),
        r(0x05, ra, huge),
        r(0x08, fp),
        r(0x07, fp),
        r(0x09, fp, fp),
        r(0x09, fp, 2),
        r(0x14, fp, 2),
        r(0x05, fp, huge),
        r(0x10, fp) + block(near),
        r(0x10, fp) + block(difficult),
        r(0x16, fp) + block(near),
        r(0x16, fp) + block(several),
        r(0x10, fp) + block(far),
        b"\x0f" + block(near),
        b"\x0f" + block(near + b"\x06"),
        b"\x0f" + block(difficult),
        b"\x0f" + block(several),
        b"\x0f" + block(far),
        b"\x0f" + block(b""),
        r(0x0D, 70000),
        r(0x0E, huge),
        r(0x0D, fp),
        # What linkers write for stubs of a PLT: rsp + 8 + ((rip & 15) >= 11) * 8.
        b"\x0f" + block(b"\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
        b"\x0f" + block(b"\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22\x96"),
    ]
    section = Section(abi).cie()
    for one in alone:
        section.fde(b"\x41" + one + b"\x42\x0e\x10\x41")
    # SP rules with a CFA that is loaded, or far away.
    for cfa in (near + b"\x06", far, bytes([0x92]) + uleb(sp) + b"\xf8\xff\xff\xff\x07"):
        for one in (
            r(0x08, sp),
            r(0x14, sp, 5),
            r(0x16, sp) + block(near + b"\x06"),
            r(0x05, ra, 1 << 28) + r(0x14, sp, 1 << 28),
            r(0x12, sp) + b"\x80\x80\x80\x81\x7e",
        ):
            section.fde(b"\x41\x0f" + block(cfa) + one)
    for column in (sp, fp, 3):
        section.cie(ra=column).fde(b"\x41\x0e\x10")
    section.cie(initial=b"").fde(b"\x41\x86\x02")
    section.cie(letters=b"zRB").fde(b"\x41\x2d\x41")
    put("rules", number, section.bytes)


def pointers(abi):
    """Starts, personalities and tables of landing pads in each encoding."""
    number, order = abi[:2]
    forms = {0: 8, 2: 2, 3: 4, 4: 8, 0xA: 2, 0xB: 4, 0xC: 8, 8: 8}

    def encoded(form, value):
        if form == 1:
            return uleb(value)
        if form == 9:
            return uleb(value) if value < 64 else bytes([value & 127 | 128]) + uleb(value >> 7)
        return (value & (1 << 8 * forms[form]) - 1).to_bytes(
            forms[form], "little" if order == "<" else "big"
        )

    section = Section(abi)
    for form in (0, 1, 2, 3, 4, 8, 9, 0xA, 0xB, 0xC):
        for relation in (0, 0x10, 0x20, 0x30, 0x40):
            encoding = form | relation
            section.cie(
                letters=b"zPLR",
                data=bytes([encoding])
                + encoded(form, 0x1234)
                + bytes([encoding, form | relation if relation != 0x40 else form]),
            )
            section.fde(
                b"\x41\x0e\x10",
                range_bytes=encoded(form, 0x50) + encoded(form, 0x40),
                augmentation=block(encoded(form, 0x20)),
            )
    section.cie(letters=b"zLR", data=b"\x40\x00").fde(
        b"\x41",
        range_bytes=encoded(0, 0x500000) + encoded(0, 64),
        augmentation=block(encoded(0, 8)),
    )
    section.cie(letters=b"zPR", data=b"\x50" + bytes(16) + b"\x00").fde(
        b"\x41", range_bytes=encoded(0, 0x600000) + encoded(0, 64)
    )
    # Wrong ones: an unknown form, an unknown relation, indirect, a function's start that is
    # relative to itself, aligned sizes.
    for encoding in (0x05, 0x0D, 0x60, 0x70, 0xFF, 0x9B, 0x40, 0x53):
        section.cie(data=bytes([encoding])).fde(
            b"\x41", range_bytes=encoded(4, 0x500000) + encoded(4, 64)
        )
        section.cie(letters=b"zPR", data=bytes([encoding]) + bytes(8) + b"\x1b").fde(b"\x41")
    put("pointers", number, section.bytes)


def errors(abi):
    number, order, sp, _, ra = abi
    section = Section(abi).cie()
    long_number = b"\xff" * 9
    for code in (
        b"\x0e",
        b"\x0e" + long_number + b"\x7f",
        b"\x11\x06" + long_number + b"\x41",
        b"\x11\x06\x80" * 1 + b"\x80" * 8 + b"\x7f",
        b"\x11\x06" + long_number + b"\x7f",
        b"\x0e" + b"\x80" * 12 + b"\0",
        b"\x04\xff\xff\xff\xff",
        b"\x0f\x02\x77\x08\x0e\x10",
        b"\x0f\x02\x77\x08\x0d\x06",
        b"\x3f",
        b"\x1c",
        b"\x05" + uleb(1 << 33) + b"\1",
        b"\x12\x07" + uleb((1 << 62) - 1) + b"\x0e\x10",
        b"\x0e" + uleb((1 << 64) - 1),
        b"\x05\x06" + uleb(1 << 63),
        b"\x2f\x06" + uleb(1 << 63),
        b"\x41\x01\0\0\0\0",
        b"\x0a" * 300,
        b"\x0b",
        b"\x0f\x7f",
        b"\x10\x06" + uleb(1 << 34),
        b"\xff",
        b"\x0a\x42\x0b\x0b",
        b"\xc6",
        b"\xff\x06\x7f",
    ):
        section.fde(b"\x41" + code)
    # CIEs.
    for version, letters, data, initial in (
        (2, b"zR", b"\x1b", None),
        (0, b"zR", b"\x1b", None),
        (1, b"x", b"", None),
        (1, b"zRx", b"\x1b", None),
        (1, b"R" * 40, b"", None),
        (1, b"eh", b"", bytes(8)),
        (1, b"z" + b"R" * 300, b"\x1b", None),
        (1, b"zR", b"\x1b", b"\x41"),
        (1, b"zR", b"\x1b", b"\x02\x08"),
        (1, b"zR", b"\x1b", b"\x0a"),
        (1, b"zR", b"\x1b", bytes(5000)),
        (1, b"zP", b"\x1b", None),
        (1, b"zSGBR", b"\x1b", None),
        (1, b"", b"", None),
        (3, b"zR", b"\x1b", None),
        (1, b"zR", b"\x1b", b"\x0f\x7f"),
        (1, b"zR", b"\x1b", b"\xc6"),
    ):
        section.cie(version=version, letters=letters, data=data, initial=initial).fde(
            b"\x41\x0e\x10"
        )
    for sizes in (b"\x08\0", b"\x04\0", b"\x03\0", b"\x08\x09", b"\x08\x04"):
        section.cie(version=4, sizes=sizes).fde(b"\x41\x0e\x10")
    section.cie(version=3, ra=1 << 33).fde(b"\x41")
    section.cie(factor=0x80).fde(b"\x41")
    section.cie(code=1 << 62).fde(b"\x48\x41")
    section.cie(data=b"\x00").fde(b"\x41", range_bytes=b"\xff" * 8 + struct.pack(order + "Q", 64))
    section.cie().fde(b"\x41", augmentation=b"\x7f")
    section.entry(3, bytes(16))  # its CIE is inside of another
    section.entry(0x10000, bytes(16))  # or before the section
    section.last_cie = len(section.bytes) - 20  # or an FDE
    section.fde(b"\x41")
    section.cie(is_64=True).fde(b"\x41\x0e\x10", is_64=True)
    for label, end in (
        ("length", b"\x40\0\0\0" if order == "<" else b"\0\0\0\x40"),
        ("reserved", b"\xf0" * 8),
        ("cut", b"\1\2"),
    ):
        put("errors-" + label, number, section.bytes + end)


def debug_frame(abi):
    number, order = abi[:2]
    section = Section(abi, debug_frame=True)
    section.cie(letters=b"", version=4).fde(b"\x41\x0e\x10").cie(letters=b"", version=3).fde(
        b"\x41\x0e\x10"
    )
    section.cie(letters=b"", version=4, sizes=b"\x04\0").fde(
        b"\x41\x0e\x10", range_bytes=struct.pack(order + "II", 0x1000, 64)
    )
    section.cie(letters=b"", version=4, sizes=b"\x08\x02").fde(
        b"\x41\x0e\x10", range_bytes=bytes(2) + struct.pack(order + "QQ", 0x1000, 64)
    )
    section.cie(letters=b"armcc+", version=1).fde(b"\x41\x0e\x10")
    section.cie(letters=b"", version=3, is_64=True).fde(b"\x41\x0e\x10", is_64=True)
    put("debug_frame", number, section.bytes, 0x80)


def operations(abi):
    """The target evaluates the whole input as an expression, too: as a rule and as a location."""
    number, order = abi[:2]
    fixed = lambda code, value: struct.pack(order + code, value)
    two = b"\x38\x33"
    constants = [
        b"\x30",
        b"\x4f",
        b"\x08\xff",
        b"\x09\xff",
        b"\x0a" + fixed("H", 65534),
        b"\x0b" + fixed("h", -2),
        b"\x0c" + fixed("I", 1 << 31),
        b"\x0d" + fixed("i", -3),
        b"\x0e" + fixed("Q", 1 << 63),
        b"\x0f" + fixed("q", -4),
        b"\x10\x80\x01",
        b"\x11\x80\x7f",
    ]
    binary = (
        bytes(range(0x1A, 0x1F)) + b"\x21\x22" + bytes(range(0x24, 0x28)) + bytes(range(0x29, 0x2F))
    )
    drop = b"\x13"
    plain = b"".join(one + drop for one in constants)
    plain += b"".join(two + bytes([one]) + drop for one in binary) + b"".join(
        b"\x09\xf0" + bytes([one]) + drop for one in b"\x19\x1f\x20"
    )
    plain += b"\x09\xf0\x31\x25\x13\x09\xf0\x08\x41\x26\x13\x31\x09\xff\x1b\x13\x09\xf0\x08\x41\x24\x13"  # shifts of 65, a division by -1
    plain += b"\x31\x32\x33\x12\x13\x14\x13\x15\x02\x13\x16\x17\x13\x13\x13" + b"\x31\x23\x05\x13"
    plain += b"\x08\x40\x06\x13\x08\x40\x94\x01\x13\x08\x40\x94\x02\x13\x08\x40\x94\x04\x13\x75\x08\x13\x92\x06\x70\x13\x96"
    plain += (
        b"\x31\x28"
        + fixed("h", 1)
        + b"\x96\x30\x28"
        + fixed("h", 1)
        + b"\x96\x2f"
        + fixed("h", 2)
        + b"\x96\x96\x03"
        + fixed("Q", 0x1234)
    )
    put("operations", number, plain)
    put("operations-value", number, plain + b"\x90\x03")
    loop = b"\x31\x2f" + fixed("h", -3)
    wrong = {
        "loop": b"\x30\x13" + loop,
        "spin": b"\x96\x2f" + fixed("h", -4),
        "before": b"\x2f" + fixed("h", -9),
        "after": b"\x2f" + fixed("h", 9),
        "underflow": b"\x31\x17",
        "pick": b"\x31\x15\x05",
        "rot": b"\x31\x32\x17",
        "empty-drop": b"\x13",
        "zero": b"\x31\x30\x1b",
        "zero-rest": b"\x31\x30\x1d",
        "size": b"\x31\x94\x09",
        "size-0": b"\x31\x94\x00",
        "register": b"\x90\x7f",
        "based": b"\x92\x7f\x00",
        "memory": b"\x37\x06",
        "unknown": b"\xe1",
        "cut": b"\x0e\x01",
        "leb": b"\x10" + b"\xff" * 10 + b"\x7f",
        "cut-leb": b"\x10\x80",
        "cfa": b"\x9c",
        "sleb": b"\x11" + b"\x80" * 9 + b"\x7f",
        "sleb-long": b"\x11" + b"\xff" * 12 + b"\x7f",
        "full": b"\x31" * 70,
        "not-cut": b"\x28\x01",
    }
    for label, one in wrong.items():
        put("operation-" + label, number, one)

    # Types, by their offsets in the target: 0 to 15, the kind in the lower two bits, 2 to the power
    # of the others bytes.
    generic, signed, unsigned, floating = range(4)
    of = lambda kind, size: kind | {1: 0, 2: 4, 4: 8, 8: 12}[size]
    constant = lambda kind, size, value: b"\xa4" + bytes([of(kind, size), size]) + value
    double, single = fixed("d", 2.5), fixed("f", -0.5)
    typed = b""
    for one in b"\x1b\x1c\x1e\x22" + bytes(range(0x29, 0x2F)):
        typed += (
            constant(floating, 8, double) * 2
            + bytes([one])
            + drop
            + constant(floating, 4, single) * 2
            + bytes([one])
            + drop
        )
        typed += (
            constant(unsigned, 4, fixed("I", 9)) * 2
            + bytes([one])
            + drop
            + constant(signed, 2, fixed("h", -9)) * 2
            + bytes([one])
            + drop
        )
    for one in b"\x24\x25\x26\x1a\x1d":
        typed += (
            constant(unsigned, 4, fixed("I", 9)) * 2
            + bytes([one])
            + drop
            + constant(signed, 2, fixed("h", -9)) * 2
            + bytes([one])
            + drop
        )
    typed += b"".join(constant(floating, 8, double) + bytes([one]) + drop for one in b"\x19\x1f")
    for kind, size in (
        (generic, 8),
        (signed, 4),
        (unsigned, 2),
        (floating, 4),
        (floating, 8),
        (signed, 8),
        (unsigned, 8),
    ):
        for value in (
            constant(floating, 8, double),
            constant(floating, 8, fixed("d", -1e30)),
            constant(floating, 8, fixed("d", 1e19)),
            constant(signed, 2, fixed("h", -9)),
            constant(unsigned, 8, fixed("Q", 1 << 63)),
            constant(floating, 4, single),
        ):
            typed += value + b"\xa8" + bytes([of(kind, size)]) + drop + value + b"\xa8\x00" + drop
    typed += (
        constant(signed, 8, fixed("q", -9))
        + b"\xa9"
        + bytes([of(floating, 8)])
        + drop
        + b"\xa5\x05"
        + bytes([of(signed, 4)])
        + drop
    )
    typed += (
        b"\x08\x40\xa6\x04"
        + bytes([of(unsigned, 4)])
        + drop
        + b"\x9c\x13\x91\x70\x13\xa3\x01\x55\x13\xfa"
        + fixed("I", 3)
        + drop
    )
    typed += b"\xa1\x02\x13\xa2\x03\x13\xf0" + b"\x31\x9f"
    put("typed", number, typed)
    locations = {
        "register": b"\x55",
        "registers": b"\x55\x93\x08\x90\x06\x93\x08\x93\x08",
        "memory": b"\x75\x08",
        "bits": b"\x55\x9d\x03\x02\x31\x9f\x9d\x05\x00\x9d\x08\x00",
        "bytes": b"\x9e\x03abc",
        "bytes-piece": b"\x9e\x03abc\x93\x03\x31\x9f\x93\x01",
        "pointer": b"\xa0" + fixed("I", 9) + b"\x08",
        "pointer-piece": b"\xf2" + fixed("I", 9) + b"\x08\x93\x08",
        "uninitialized": b"\x55\xf0",
        "address": b"\x03" + fixed("Q", 9),
        "indexed": b"\xfb\x01",
        "constant": b"\xfc\x01\x9f",
        "entry": b"\xa3\x01\x55\x9f",
        "parameter": b"\xfa" + fixed("I", 9) + b"\x9f",
        "frame": b"\x91\x10",
        "after-register": b"\x55\x31",
        "after-value": b"\x31\x9f\x22",
        "large": b"\x55\x93" + b"\xff" * 9 + b"\1",
        "cut": b"\x9e\x7f",
        "cut-entry": b"\xa3\x7f",
        "type-size": b"\xa4\x0c\x04abcd",
        "no-type": b"\x31\xa8\x7f",
        "no-constant-type": b"\xa4\x7f\x01a",
        "float-not": constant(floating, 8, double) + b"\x20",
        "float-and": constant(floating, 8, double) * 2 + b"\x1a",
        "unsigned-zero": constant(unsigned, 4, bytes(4)) * 2 + b"\x1b",
        "far-register": b"\x90" + b"\xff" * 6 + b"\1",
        "mixed": constant(floating, 8, double) + b"\x31\x22",
        "many": b"\x93\x01" * 100,
        "call": b"\x98\x01\x02",
        "thread": b"\x31\xe0",
    }
    for label, one in locations.items():
        put("location-" + label, number, one)


for abi in ABIS:
    for make in (instructions, rules, pointers, errors, debug_frame):
        make(abi)
for abi in ABIS[2:]:
    operations(abi)
