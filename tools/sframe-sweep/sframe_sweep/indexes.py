# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names of archives in a package index of a mirror: Packages of Debian, primary.xml of rpm,
also compressed. It is read in a process of its own (apart.py)."""
import os
import xml.parsers.expat

from . import apart, archives

MAX_UNPACKED = 4 << 30  # bytes of an index
MAX_PIECE = 1 << 20  # of a line, or of an element without those in it
MAX_PACKAGES = 500_000
MAX_NAMES = 64 << 20  # bytes of all names


# The process.


def _deb_names(pieces):
    rest = b""
    for data in pieces:
        *lines, rest = (rest + data).split(b"\n")
        yield from (line for line in lines if line.startswith(b"Filename:"))
        if len(rest) > MAX_PIECE:
            raise archives.Damaged("a line with more than %d bytes" % MAX_PIECE)
    yield from [rest] if rest.startswith(b"Filename:") else []


def _deb_files(pieces):
    return (os.fsdecode(line.partition(b":")[2].strip()) for line in _deb_names(pieces))


def _rpm_files(pieces):
    found, fed = [], 0

    def begin(name, attributes):
        if name.endswith("}location"):
            found.append(attributes.get("href", ""))

    def refuse(*_):
        raise archives.Damaged("a document type")  # it may define entities

    parser = xml.parsers.expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler, parser.StartDoctypeDeclHandler = begin, refuse
    try:
        for data in pieces:
            parser.Parse(data)
            fed += len(data)
            # It reads what is not complete again with each piece.
            if fed - parser.CurrentByteIndex > MAX_PIECE + len(data):
                raise archives.Damaged("an element with more than %d bytes" % MAX_PIECE)
            yield from found
            found.clear()
        parser.Parse(b"", True)
        yield from found
    except (xml.parsers.expat.ExpatError, LookupError, ValueError) as error:
        raise archives.Damaged("not sound XML: %s" % error) from None


KINDS = {"deb": _deb_files, "rpm": _rpm_files}


def read(file, kind):
    """Of an index of that kind."""
    count, size = 0, 0
    try:
        for name in KINDS[kind](archives.contents(file, apart.meter(MAX_UNPACKED))):
            count, size = count + 1, size + len(name)
            if count > MAX_PACKAGES:
                raise archives.Damaged("more than %d packages" % MAX_PACKAGES)
            if size > MAX_NAMES:
                raise archives.Damaged("more than %d bytes of names" % MAX_NAMES)
            apart.send({"file": name})
        return {}
    except apart.FAILURES as error:
        return apart.failure_of(error)


# The sweep.


def files(path, kind):
    """As the index names them. Damaged if it cannot be read to its end."""
    with apart.started(__name__, path, "", kind) as process:
        while "file" in (values := process.line()):
            yield values["file"]
    apart.raise_failure(values)
