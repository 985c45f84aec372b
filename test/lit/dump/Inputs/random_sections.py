# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# random_sections.py SEED COUNT FOLDER VERSIONS ABIS: well-formed sections with everything in them
# that a version can represent, in ELF files ABI-VERSION-NUMBER. What readers are known to refuse is
# left out: PCMASK rows after a short function, auxiliary headers in big-endian sections.
import random
import struct
import sys

import elf_writer

MACHINES = {1: 183, 2: 183, 3: 62, 4: 22}
BIG = {1, 4}
WIDTHS = "BHI"


def section(version, abi, flags, fixed_fp, fixed_ra, aux, functions):
    order = ">" if abi in BIG else "<"
    index = rows_bytes = b""
    count = 0
    for start, size, info, info2, rep_size, rows in functions:
        offset = len(rows_bytes)
        count += len(rows)
        body = b""
        for at, sp, signed, width, words in rows:
            body += struct.pack(order + WIDTHS[info & 15], at)
            body += bytes([signed << 7 | width << 5 | len(words) << 1 | sp])
            for word in words:
                size_of = 1 << width
                body += (word & ((1 << 8 * size_of) - 1)).to_bytes(
                    size_of, "big" if abi in BIG else "little"
                )
        if version == 3:
            index += struct.pack(order + "qII", start, size, offset)
            rows_bytes += struct.pack(order + "HBBB", len(rows), info, info2, rep_size) + body
        else:
            index += struct.pack(order + "iIIIB", start, size, offset, len(rows), info)
            index += struct.pack(order + "BH", rep_size, 0) if version == 2 else b""
            rows_bytes += body
    header = struct.pack(
        order + "HBBBbbB", 0xDEE2, version, flags, abi, fixed_fp, fixed_ra, len(aux)
    )
    header += struct.pack(order + "IIIII", len(functions), count, len(rows_bytes), 0, len(index))
    return header + aux + index + rows_bytes


def elf(abi, data, address):
    """A shared object with one section at `address`."""
    file = elf_writer.File(machine=MACHINES[abi], order=">" if abi in BIG else "<")
    file.section(".sframe", elf_writer.SHT_PROGBITS, file.add(data), elf_writer.SHF_ALLOC, address)
    return file.content()


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def word(self, width):
        limit = 1 << ((8 << width) - 1)
        return self.random.choice(
            [0, 8, -16, self.random.randrange(-limit, limit), self.random.randrange(-128, 128)]
        )

    def pair(self, width, abi, is_cfa):
        register = self.random.choice([3, 6, 7, 10, 11, 15, 16, 29, 31])
        based = is_cfa or self.chance(50)
        # The value CFA + offset is no rule; the CFA of s390x is scaled, so it has to stay small.
        deref = 1 if not based else self.random.randrange(2)
        offset = self.random.randrange(-128, 128) if is_cfa and abi == 4 else self.word(width)
        return [(register << 3 if based else 0) | deref << 1 | based, offset]

    def flex_words(self, width, abi):
        words = self.pair(width, abi, True)
        kind = self.random.randrange(4)
        if kind == 3:
            words.append(0)
        for _ in range((0, 1, 2, 1)[kind]):
            words += self.pair(width, abi, False)
        return words

    def standard_words(self, version, abi, width, fixed_ra, fixed_fp):
        words = [self.random.randrange(-100, 100) if abi == 4 else self.word(width)]
        tracked = (fixed_ra == 0) + (fixed_fp == 0)
        for _ in range(self.random.randrange(tracked + 1)):
            word = self.word(width)
            if version == 2 and abi == 4 and word & 1:
                word = self.random.randrange(32) << 1 | 1  # a register
            words.append(word)
        return words

    def function(self, version, abi, fixed_ra, fixed_fp):
        kind, size = self.random.randrange(3), self.random.choice([64, 200, 70000])
        mask, flex = self.chance(15), version == 3 and self.chance(40)
        rep_size = self.random.choice([16, 32, 60] if version > 1 else [16]) if mask else 0
        limit = min(rep_size if mask else size, 1 << (8 << kind))
        rows = []
        for at in sorted(
            {0} | {self.random.randrange(limit) for _ in range(self.random.randrange(6))}
        ):
            width = self.random.randrange(3)
            if version > 1 and self.chance(10):
                words = []
            elif flex:
                words = self.flex_words(width, abi)
            else:
                words = self.standard_words(version, abi, width, fixed_ra, fixed_fp)
            rows.append(
                (
                    at,
                    self.random.randrange(2),
                    self.random.randrange(2) if abi < 3 else 0,
                    width,
                    words,
                )
            )
        info = (
            kind
            | mask << 4
            | self.random.randrange(2) << 5
            | (version == 3 and self.chance(20)) << 7
        )
        return (
            self.random.randrange(-100000, 1 << 30),
            size,
            info,
            int(flex),
            rep_size,
            [] if self.chance(10) else rows,
        )

    def make(self, version, abi):
        fixed_ra = -8 if abi == 3 and (version == 1 or self.chance(70)) else 0
        fixed_fp = -16 if version > 1 and self.chance(20) else 0
        flags = self.random.choice([0, 1]) | (self.random.choice([0, 2]) if version < 3 else 0)
        flags |= self.random.choice([0, 4]) if version > 1 else 0
        aux = bytes(4) if version > 1 and abi not in BIG and self.chance(20) else b""
        functions = [
            self.function(version, abi, fixed_ra, fixed_fp) for _ in range(self.random.randrange(6))
        ]
        return section(version, abi, flags, fixed_fp, fixed_ra, aux, functions)


def main():
    maker = Maker(int(sys.argv[1]))
    for i in range(int(sys.argv[2])):
        version, abi = (int(maker.random.choice(sys.argv[k])) for k in (4, 5))
        with open("%s/%d-%d-%d" % (sys.argv[3], abi, version, i), "wb") as file:
            file.write(elf(abi, maker.make(version, abi), 0x400000))


main()
