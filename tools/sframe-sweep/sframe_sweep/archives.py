# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The regular files in a .deb (deb(5)), .rpm (rpm's docs/manual/format.md) or tar archive, one
after the other. The archive is hostile: nothing is written here, names are only data, memory does
not depend on the archive, and what is decompressed is bounded. All faults are Damaged. What is not
foreseen here is limited by that this runs in a process of its own (apart.py)."""
import bz2
import contextlib
import dataclasses
import lzma
import os
import re
import resource
import struct
import subprocess
import tarfile
import threading
import zlib

CHUNK = 1 << 20
MAX_HEADER = 16 << 20  # what a reader of headers may ask for at once: the header of an .rpm
MAX_TAR_HEADERS = (
    1 << 20
)  # bytes of headers before a member of a tar archive, and of what global ones leave
MAX_WINDOW = 256 << 20  # memory of a decompressor
MAX_NAME = 4096
MAX_LINKS = 10000  # hard links of a cpio archive whose contents come later

ARCHIVE = re.compile(r".*\.(deb|udeb|ddeb|rpm|tar|tgz|txz|tbz2?|tar\.(gz|xz|bz2|zst|lzma))$", re.S)

LONG_NUMBER = re.compile(rb"\d{128}")


class Damaged(Exception):
    """The archive cannot be read, or exceeds a limit."""


@dataclasses.dataclass
class Member:
    """A regular file, or a hard link to an earlier one."""

    path: str  # absolute, as installed
    size: int
    read: object  # read(n): the next bytes of the contents; None for a hard link
    link_to: str = ""  # path of the earlier one
    other_paths: tuple = ()  # hard links to the same contents that came before them


@dataclasses.dataclass
class Package:
    """What an archive says about itself."""

    kind: str
    name: str = ""
    version: str = ""
    architecture: str = ""


def is_archive(name):
    return bool(ARCHIVE.match(name))


def printable_path(name):
    """A member's name as a path below the root. It is text for the database: never opened."""
    if not isinstance(name, bytes):
        name = name.encode("utf-8", "surrogateescape")
    name = name.decode("utf-8", "backslashreplace")  # different names stay different
    if len(name) > MAX_NAME:
        raise Damaged("a name with more than %d bytes" % MAX_NAME)
    return "/" + name.removeprefix(".").lstrip("/")


class Meter:
    """Counts what is unpacked of an archive, all its parts together. `progress` is called after
    each `step` bytes."""

    def __init__(self, limit, step=0, progress=None):
        self._used, self._limit, self._step, self._progress, self._next = (
            0,
            limit,
            step,
            progress,
            step,
        )

    def charge(self, size):
        self._used += size
        if self._used > self._limit:
            raise Damaged("more than %d bytes when unpacked" % self._limit)
        if self._progress and self._used >= self._next:
            self._next = self._used + self._step
            self._progress()


class _Forward:
    """A file that is read from its start to its end, for tarfile: seeks go forward, a read is
    bounded."""

    def __init__(self, chunks, meter):
        self._chunks, self._rest, self._at, self._meter = chunks, memoryview(b""), 0, meter
        self.last = b""  # what was read last
        self.headers = None  # bytes that may be read, while these are headers of tar

    def tell(self):
        return self._at

    def charge(self, size):
        """Bytes that are unpacked from it without being in it."""
        self._meter.charge(size)

    def _take(self, size):
        """At most that many bytes; none at the end."""
        if not self._rest:
            self._rest = memoryview(next(self._chunks, b""))
        taken, self._rest = self._rest[:size], self._rest[size:]
        self._at += len(taken)
        self.charge(len(taken))
        return taken

    def read(self, size):
        if size > MAX_HEADER:
            raise Damaged("a header of %d bytes" % size)
        if self.headers is not None:
            self.headers -= size
            if self.headers < 0:
                raise Damaged("more than %d bytes of headers" % MAX_TAR_HEADERS)
        parts = []
        while size > 0 and (part := self._take(size)):
            parts.append(part)
            size -= len(part)
        self.last = b"".join(parts)
        # tarfile searches some headers in a time that is the square of this.
        if self.headers is not None and LONG_NUMBER.search(self.last):
            raise Damaged("a number with too many digits")
        return self.last

    def skip(self, size):
        while size > 0 and (part := self._take(size)):
            size -= len(part)
        return size == 0

    def seek(self, offset):
        if offset < self._at:
            raise Damaged("members out of order")
        self.skip(offset - self._at)

    def to_end(self):
        """Whatever follows: the end of compressed data shows whether it is sound."""
        while self._take(CHUNK):
            pass

    def exactly(self, size):
        data = self.read(size)
        if len(data) < size:
            raise Damaged("truncated")
        return data


def _file_chunks(file, size):
    while size > 0:
        data = file.read(min(size, CHUNK))
        if not data:
            raise Damaged("truncated")
        size -= len(data)
        yield data


def _inflated(chunks, new):
    """The contents of one or more streams after each other. `new` makes a decompressor of the kind
    of bz2 and lzma."""
    machine = new()
    try:
        for data in chunks:
            while data or not machine.needs_input:
                if machine.eof:
                    if not data.strip(b"\0"):  # padding
                        break
                    machine = new()
                out = machine.decompress(data, CHUNK)
                data = machine.unused_data if machine.eof else b""
                if out:
                    yield out
    except (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError) as error:
        raise Damaged("cannot be decompressed: %s" % error) from None
    if not machine.eof:
        raise Damaged("the compressed data is truncated")


class _Zlib:
    """zlib's decompressor with the interface of the others."""

    def __init__(self):
        self._machine, self._has_more = zlib.decompressobj(wbits=31), False

    def decompress(self, data, most):
        out = self._machine.decompress(self._machine.unconsumed_tail + data, most)
        self._has_more = len(out) == most
        return out

    needs_input = property(lambda self: not self._machine.unconsumed_tail and not self._has_more)
    eof = property(lambda self: self._machine.eof)
    unused_data = property(lambda self: self._machine.unused_data)


def _unzstd(chunks):
    """By the program zstd: Python has it from 3.14 on."""
    try:
        process = subprocess.Popen(
            ["zstd", "-dcq", "--memory=%dMB" % (MAX_WINDOW >> 20)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise Damaged("zstd cannot be started: %s" % error.strerror) from None
    with contextlib.suppress(ProcessLookupError):  # it takes time as long as it unpacks
        _, most = resource.prlimit(process.pid, resource.RLIMIT_CPU)
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (most, most))

    def feed():
        with contextlib.suppress(OSError, Damaged), process.stdin:
            for data in chunks:
                process.stdin.write(data)

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    try:
        while data := process.stdout.read(CHUNK):
            yield data
        if process.wait() != 0:
            raise Damaged("zstd cannot decompress it")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        feeder.join()


def _decompressed(chunks):
    """Recognised by its magic number; what is not compressed stays as it is."""
    first = next(chunks, b"")

    def all_chunks():
        yield first
        yield from chunks

    if first.startswith(b"\x1f\x8b"):
        return _inflated(all_chunks(), _Zlib)
    if first.startswith(b"BZh"):
        return _inflated(all_chunks(), bz2.BZ2Decompressor)
    if first.startswith((b"\xfd7zXZ\0", b"\x5d\0\0")):
        return _inflated(all_chunks(), lambda: lzma.LZMADecompressor(memlimit=MAX_WINDOW))
    if first.startswith(b"\x28\xb5\x2f\xfd"):
        return _unzstd(all_chunks())
    return all_chunks()


def _next(archive, stream):
    """The next entry, or None."""
    stream.headers = MAX_TAR_HEADERS
    entry = archive.next()
    stream.headers = None
    archive.members = []  # it keeps them all
    if sum(len(key) + len(value) for key, value in archive.pax_headers.items()) > MAX_TAR_HEADERS:
        raise Damaged("more than %d bytes of headers" % MAX_TAR_HEADERS)
    return entry


def _tar_members(stream):
    try:
        stream.headers = MAX_TAR_HEADERS  # it reads the first one
        with tarfile.open(fileobj=stream, mode="r:", errorlevel=2) as archive:
            while entry := _next(archive, stream):
                if entry.islnk():
                    yield Member(
                        printable_path(entry.name), 0, None, link_to=printable_path(entry.linkname)
                    )
                elif entry.isreg():
                    if entry.offset_data < stream.tell():
                        raise Damaged("members out of order")
                    stream.seek(entry.offset_data)
                    contents = (
                        _Forward(_sparse_chunks(entry, stream), Meter(entry.size))
                        if entry.issparse()
                        else stream
                    )
                    yield _with_contents(printable_path(entry.name), entry.size, contents)
            # At a damaged header it ends, too. The end has two blocks, of which it reads one.
            if [stream.last, stream.read(tarfile.BLOCKSIZE)] != 2 * [bytes(tarfile.BLOCKSIZE)]:
                raise Damaged("no end of the tar archive")
            stream.to_end()
    except (
        tarfile.TarError,
        EOFError,
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
        RecursionError,
    ) as error:
        raise Damaged("not a sound tar archive: %s" % error) from None


def _sparse_chunks(entry, stream):
    """The contents of a sparse member. Its holes are zeros, which count as unpacked bytes."""
    at = 0
    for offset, size in [*entry.sparse, (entry.size, 0)]:
        if size < 0 or not at <= offset <= entry.size - size:
            raise Damaged("a map of a sparse file that is out of order")
        while at < offset:
            hole = bytes(min(offset - at, CHUNK))
            stream.charge(len(hole))
            at += len(hole)
            yield hole
        while at < offset + size:
            data = stream.read(min(offset + size - at, CHUNK))
            if not data:
                raise Damaged("truncated")
            at += len(data)
            yield data


def _with_contents(path, size, stream, other_paths=()):
    left = size

    def read(most):
        nonlocal left
        data = stream.read(min(left, most))
        if left and not data:
            raise Damaged("truncated")
        left -= len(data)
        return data

    return Member(path, size, read, other_paths=other_paths)


def _cpio_members(stream):
    """The "newc" format, with hard links whose contents come with the last of them."""
    links, link_number = {}, 0
    while True:
        header = stream.exactly(110)
        if header[:6] not in (b"070701", b"070702"):
            raise Damaged("not a cpio archive of the newc format")
        try:
            inode, mode, _, _, link_count, _, size, major, minor, _, _, name_size, _ = (
                int(header[i : i + 8], 16) for i in range(6, 110, 8)
            )
        except ValueError:
            raise Damaged("not a cpio header") from None
        if not 0 < name_size <= MAX_NAME:
            raise Damaged("a name of %d bytes" % name_size)
        name = stream.exactly(name_size)[:-1]
        stream.exactly(-(110 + name_size) % 4)
        if name == b"TRAILER!!!":
            return stream.to_end()
        end = stream.tell() + size + (-size) % 4
        if mode & 0o170000 == 0o100000:
            key = (inode, major, minor)
            if link_count > 1 and not size:
                links.setdefault(key, []).append(printable_path(name))
                link_number += 1
                if link_number > MAX_LINKS:
                    raise Damaged("too many hard links")
            else:
                others = tuple(links.pop(key, ()))
                link_number -= len(others)
                yield _with_contents(printable_path(name), size, stream, others)
        stream.seek(end)
        if stream.tell() < end:
            raise Damaged("truncated")


def _ar_members(file):
    """(name, size) of each member, with the file at its first byte."""
    if file.read(8) != b"!<arch>\n":
        raise Damaged("not an ar archive")
    while header := file.read(60):
        try:
            name, size = header[:16].decode("ascii").strip().rstrip("/"), int(header[48:58])
        except ValueError:
            raise Damaged("not an ar header") from None
        if len(header) < 60 or header[58:] != b"`\n" or size < 0:
            raise Damaged("not an ar header")
        start = file.tell()
        yield name, size
        file.seek(start + size + size % 2)


def _control_fields(text):
    return {
        key: value.strip()
        for key, separator, value in (
            line.partition(":") for line in text.split("\n") if line[:1].strip()
        )
        if separator
    }


@contextlib.contextmanager
def _open_deb(file, meter):
    package, data, is_known = Package("deb"), None, False
    for name, size in _ar_members(file):
        stream = _Forward(_decompressed(_file_chunks(file, size)), meter)
        if name.startswith("control.tar"):
            if is_known:
                raise Damaged("a second control.tar")
            is_known = True
            for member in _tar_members(stream):
                if member.read and member.path == "/control":
                    fields = _control_fields(member.read(MAX_HEADER).decode("utf-8", "replace"))
                    package.name, package.version, package.architecture = (
                        fields.get(key, "") for key in ("Package", "Version", "Architecture")
                    )
        elif name.startswith("data.tar"):
            data = _tar_members(stream)
            break
    if data is None:
        raise Damaged("no data.tar in it")
    yield package, data


RPM_NAME, RPM_VERSION, RPM_RELEASE, RPM_ARCHITECTURE = RPM_TAGS = 1000, 1001, 1002, 1022


def _rpm_header(stream):
    """The first strings of the tags that are wanted."""
    lead = stream.exactly(16)
    if lead[:3] != b"\x8e\xad\xe8":
        raise Damaged("not an rpm header")
    count, size = struct.unpack(">II", lead[8:])
    if count > 1 << 16:
        raise Damaged("an rpm header of %d tags" % count)
    index, data = stream.exactly(16 * count), stream.exactly(size)
    tags = {}
    for tag, kind, offset, _ in struct.iter_unpack(">IIII", index):
        if (
            tag in RPM_TAGS and tag not in tags and kind in (6, 8, 9)
        ):  # string, array of strings, string in several languages
            end = data.find(b"\0", offset)
            tags[tag] = data[offset : max(end, offset)][:MAX_NAME].decode("utf-8", "replace")
    return tags, size


@contextlib.contextmanager
def _open_rpm(file, meter):
    size = os.fstat(file.fileno()).st_size
    stream = _Forward(_file_chunks(file, size), Meter(size))
    stream.exactly(96)
    _, size = _rpm_header(stream)  # signatures
    stream.exactly(-size % 8)
    tags, _ = _rpm_header(stream)
    package = Package(
        "rpm",
        tags.get(RPM_NAME, ""),
        "-".join(filter(None, (tags.get(RPM_VERSION), tags.get(RPM_RELEASE)))),
        tags.get(RPM_ARCHITECTURE, ""),
    )

    def rest():
        while data := stream.read(CHUNK):
            yield data

    yield package, _cpio_members(_Forward(_decompressed(rest()), meter))


@contextlib.contextmanager
def _open_tar(file, meter):
    chunks = _file_chunks(file, os.fstat(file.fileno()).st_size)
    yield Package("tar"), _tar_members(_Forward(_decompressed(chunks), meter))


def contents(file, meter):
    """The bytes of an open file, decompressed, in pieces. They count in `meter`."""
    stream = _Forward(_decompressed(_file_chunks(file, os.fstat(file.fileno()).st_size)), meter)
    while data := stream.read(CHUNK):
        yield data


@contextlib.contextmanager
def open_archive(file, name, meter):
    """(Package, its Members, of which each must be read before the next one is asked for) of an
    open file, whose kind is known by its name. What is unpacked counts in `meter`."""
    opened = (
        _open_deb if name.endswith("deb") else _open_rpm if name.endswith(".rpm") else _open_tar
    )
    with opened(file, meter) as result:
        yield result
