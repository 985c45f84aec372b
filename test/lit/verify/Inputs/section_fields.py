# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Where the fields of a raw section are (version 2 or 3), read without the library under test. Only
# functions of the default FDE type.
import struct


class SectionFields:
    def __init__(self, data, address):
        self.data, self.address = data, address
        self.order = "<" if data[:2] == b"\xe2\xde" else ">"
        self.byte_order = "little" if self.order == "<" else "big"
        self.version, self.flags, self.abi = data[2], data[3], data[4]
        self.fixed_ra, self.aux = struct.unpack_from("b", data, 6)[0], data[7]
        (
            self.num_fdes,
            self.num_fres,
            self.fre_len,
            self.fde_offset,
            self.fre_offset,
        ) = struct.unpack_from(self.order + "5I", data, 8)
        self.base = 28 + self.aux
        self.signs = self.abi in (1, 2)

    def functions(self):
        """Dictionaries: start, size, block (rep_size or 0), rows [(offset, place of the info byte,
        width of the offset)], and the places of the index entry (entry), of num_fres (count), of
        the info byte (info), of rep_size (rep)."""
        data, order, base = self.data, self.order, self.base
        for i in range(self.num_fdes):
            at = base + self.fde_offset + i * (20 if self.version == 2 else 16)
            place = self.address + at if self.flags & 4 else self.address
            if self.version == 2:
                start, size, rows, count, info, rep = struct.unpack_from(order + "iIIIBB", data, at)
                rows += base + self.fre_offset
                flex, count_at, info_at, rep_at = 0, at + 12, at + 16, at + 17
            else:
                start, size, rows = struct.unpack_from(order + "qII", data, at)
                rows += base + self.fre_offset
                count, info, flex, rep = struct.unpack_from(order + "HBBB", data, rows)
                count_at, info_at, rep_at = rows, rows + 2, rows + 4
                rows += 5
            width = 1 << (info & 15)
            found = []
            for _ in range(count):
                found.append(
                    (
                        int.from_bytes(data[rows : rows + width], self.byte_order),
                        rows + width,
                        width,
                    )
                )
                row_info = data[rows + width]
                rows += width + 1 + ((row_info >> 1 & 15) << (row_info >> 5 & 3))
            if not flex & 1:
                yield {
                    "start": start + place,
                    "size": size,
                    "block": rep if info & 16 else 0,
                    "rows": found,
                    "entry": at,
                    "count": count_at,
                    "info": info_at,
                    "rep": rep_at,
                }

    def add(self, patched, at, size, number):
        value = (int.from_bytes(patched[at : at + size], self.byte_order) + number) % (
            1 << 8 * size
        )
        patched[at : at + size] = value.to_bytes(size, self.byte_order)
