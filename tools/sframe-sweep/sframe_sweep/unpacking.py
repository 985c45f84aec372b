# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unpacks the ELF files of an archive, in a process of its own (apart.py), which waits after each
file until it is asked for the next one."""
import contextlib
import os

from . import apart, archives, store

COPY = 1 << 20


# The process.


def _copied(member, path):
    """Whether it is an ELF file, which is then written to `path`."""
    head = member.read(4)
    if head != b"\x7fELF":
        return False
    with open(path, "xb") as file:
        file.write(head)
        while data := member.read(COPY):
            file.write(data)
    return True


def read(file, name, folder, limit):
    """Of an archive of that name, to `folder`."""
    elf_files, counts = set(), {"members": 0, "unpacked_bytes": 0}
    try:
        with archives.open_archive(file, name, apart.meter(limit)) as (about, members):
            apart.send(
                {"name": about.name, "version": about.version, "architecture": about.architecture}
            )
            for member in members:
                counts["members"] += 1
                if member.link_to:
                    if member.link_to in elf_files:
                        elf_files.add(member.path)
                        apart.send({"path": member.path, "link_to": member.link_to})
                    continue
                if member.size > limit:  # a claim, which may be of any size
                    raise archives.Damaged("more than %d bytes when unpacked" % limit)
                counts["unpacked_bytes"] = min(counts["unpacked_bytes"] + member.size, store.MOST)
                copy = "f%d" % counts["members"]
                if _copied(member, os.path.join(folder, copy)):
                    elf_files.update((member.path, *member.other_paths))
                    apart.send(
                        {
                            "path": member.path,
                            "copy": copy,
                            "other_paths": member.other_paths,
                            **counts,
                        }
                    )
                    apart.wait()
        return counts
    except apart.FAILURES as error:
        return {**counts, **apart.failure_of(error)}


# The sweep.


class Unpacking:
    """The ELF files of an archive, as they come out of it, when iterated over. `about` has what the
    archive says about itself, `members` and `unpacked_bytes` how much was unpacked until now."""

    def __init__(self, process, folder):
        self._process, self._folder = process, folder
        self.members, self.unpacked_bytes, self.about = (
            0,
            0,
            {"name": "", "version": "", "architecture": ""},
        )

    def __iter__(self):
        """(path, copy, other paths) of a file, or (path, path of an earlier file) of a hard link to
        it."""
        values = self._process.line()
        if "name" in values:
            self.about = values
            values = self._process.line()
        while "path" in values:
            if "link_to" in values:
                yield values["path"], None, values["link_to"]
            else:
                self.members, self.unpacked_bytes = values["members"], values["unpacked_bytes"]
                yield values["path"], os.path.join(self._folder, values["copy"]), values[
                    "other_paths"
                ]
                self._process.go_on()
            values = self._process.line()
        self.members, self.unpacked_bytes = values["members"], values["unpacked_bytes"]
        apart.raise_failure(values)


@contextlib.contextmanager
def unpacked(path, inside, folder, limit):
    """The Unpacking of an archive, whose files are written to `folder`, under names that do not
    depend on it. At most `limit` bytes are unpacked. What is wrong with the archive is Damaged,
    from here or while it is iterated over.
    """
    with apart.started(
        __name__, path, inside, os.path.basename(path), folder, limit, written=limit
    ) as process:
        yield Unpacking(process, folder)
