"""same_build_id.py INPUTS FOLDER: files with one build ID, which are not the same, and copies of
them."""
import os
import struct
import sys

inputs, folder = sys.argv[1:]
os.makedirs(folder)
with open(os.path.join(inputs, "amd64/v3-gas247.so"), "rb") as file:
    elf = file.read()

SECTION = "<IIQQQQIIQQ"
(table,) = struct.unpack_from("<Q", elf, 40)
count, names_index = struct.unpack_from("<HH", elf, 60)
sections = [list(struct.unpack_from(SECTION, elf, table + 64 * i)) for i in range(count)]


def with_build_id(data):
    """With a note, and new section names and headers, after its end."""
    data = bytearray(data.ljust(-(-len(data) // 8) * 8, b"\0"))
    names = sections[names_index]
    all_names = elf[names[4] : names[4] + names[5]] + b".note.gnu.build-id\0"
    note = struct.pack("<III4s", 4, 20, 3, b"GNU\0") + b"\x42" * 20
    new = [
        *sections[:names_index],
        [*names[:4], len(data) + len(note), len(all_names), *names[6:]],
        *sections[names_index + 1 :],
        [names[5], 7, 0, 0, len(data), len(note), 0, 0, 4, 0],
    ]
    data += (note + all_names).ljust(-(-len(note + all_names) // 8) * 8, b"\0")
    struct.pack_into("<Q", data, 40, len(data))
    struct.pack_into("<H", data, 60, len(new))
    return bytes(data + b"".join(struct.pack(SECTION, *section) for section in new))


def write(name, data, hole=0):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)
        file.truncate(len(data) + hole)


text = next(section for section in sections if section[2] & 4)  # SHF_EXECINSTR
other = bytearray(elf)
other[text[4] + text[5] - 1] ^= 1
for kind, make in (("id", with_build_id), ("no", bytes)):
    write(kind + "-innocent.so", make(elf))
    write(kind + "-copy.so", make(elf))
    write(kind + "-a-stranger.so", make(other))
    write(kind + "-dense.so", make(elf) + bytes(3 << 20))
    write(kind + "-sparse.so", make(elf), 3 << 20)
    write(kind + "-larger.so", make(elf), 4 << 20)
