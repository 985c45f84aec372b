# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linked ELF files, for the scripts: which there are in a folder, and the sizes of their parts (System V gABI, chapters 4 and 5)."""
import os
import struct

MACHINES = {62: "amd64", 183: "aarch64", 22: "s390x"}
ET_EXEC, ET_DYN = 2, 3
PT_LOAD = 1
SHT_NOBITS = 8


class ElfFile:
    """The headers of a linked 64-bit file. ValueError if it is not one."""

    def __init__(self, path):
        with open(path, "rb") as file:
            header = file.read(64)
            if len(header) < 64 or header[:5] != b"\x7fELF\x02":
                raise ValueError("not a 64-bit ELF file")
            self._order = "<" if header[5] == 1 else ">"
            kind, machine = struct.unpack_from(self._order + "HH", header, 16)
            if kind not in (ET_EXEC, ET_DYN):
                raise ValueError("not linked")
            self.abi = MACHINES.get(machine, "machine %d" % machine) + ("_be" if machine == 183 and self._order == ">" else "")
            status = os.fstat(file.fileno())
            self.path, self.size, self._inode = path, status.st_size, (status.st_dev, status.st_ino)
            segments, sections = struct.unpack_from(self._order + "QQ", header, 32)
            _, segment_count, _, section_count, names_index = struct.unpack_from(self._order + "HHHHH", header, 54)
            self.loaded = sum(fields[5] for fields in self._table(file, "IIQQQQQQ", segments, segment_count) if fields[0] == PT_LOAD)
            self._sections = self._named(file, self._table(file, "IIQQQQIIQQ", sections, section_count), names_index)
            self._build_id = self._note(file, ".note.gnu.build-id")

    def _table(self, file, form, offset, count):
        size = struct.calcsize(self._order + form)
        file.seek(min(offset, self.size))
        data = file.read(size * count)
        return list(struct.iter_unpack(self._order + form, data[:len(data) // size * size]))

    def _named(self, file, sections, names_index):
        """(offset, size, address) by name of the sections that have contents."""
        if names_index >= len(sections):
            return {}
        file.seek(min(sections[names_index][4], self.size))
        names = file.read(min(sections[names_index][5], self.size))
        return {names[fields[0]:].split(b"\0", 1)[0].decode("latin-1"): (fields[4], fields[5], fields[3]) for fields in sections if fields[1] != SHT_NOBITS}

    def _note(self, file, name):
        offset, size, _ = self._sections.get(name, (0, 0, 0))
        file.seek(min(offset, self.size))
        return file.read(min(size, 4096)) if size else None

    def section_size(self, name):
        """0 if there is no such section, or it has no bytes in the file."""
        return self._sections.get(name, (0, 0, 0))[1]

    def section_address(self, name):
        return self._sections.get(name, (0, 0, 0))[2]

    def identity(self):
        """The same for copies of a file: its build ID; without one, only for hard links."""
        return self._build_id or self._inode


def linked_files(paths):
    """The distinct executables and shared objects among the paths and in the folders among them, the largest first.
    Symbolic links in folders are not followed."""
    found = {}
    for path in paths:
        names = [path] if not os.path.isdir(path) else (os.path.join(root, name) for root, _, names in os.walk(path) for name in names)
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
