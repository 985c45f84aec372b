# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is to be swept, as units: a package in an archive, an installed package, or the files of a
folder. A unit is in one shard, which depends on its ID alone."""
import dataclasses
import errno
import hashlib
import os
import re
import stat
import subprocess

from . import indexes
from .archives import Damaged, is_archive

DEBUG_PACKAGE = re.compile(r".*(-dbgsym_.*\.d?deb|-debug(info|source)-.*\.rpm)$", re.S)
DEB_INDEX = re.compile(r"(.*[_.])?Packages(\.gz|\.xz)?$", re.S)
RPM_INDEX = re.compile(r"(.*-)?primary\.xml(\.gz|\.xz)?$", re.S)
DPKG_STATUS = "var/lib/dpkg/status"
DPKG_INFO = "var/lib/dpkg/info/"
RPM_DATABASE = "var/lib/rpm"
MAX_LINKS = 40  # of one name, as in Linux


class Unreadable(Exception):
    """An input that is not there, or is none of these."""


@dataclasses.dataclass
class Unit:
    id: str
    kind: str  # archive, dpkg, rpmdb, folder
    path: str  # of the archive or folder; the root of an installed system
    name: str = ""
    version: str = ""
    architecture: str = ""
    files: object = ()  # function that returns (path in the package, path to open) of each file; not of an archive
    inside: str = (
        ""  # folder that an archive must be in, since its name, or a link, is from an input
    )


def in_shard(unit, shard):
    """Shard (i, n): each unit is in one of 1/n to n/n."""
    number = int.from_bytes(
        hashlib.sha256(unit.id.encode("utf-8", "surrogateescape")).digest()[:8], "big"
    )
    return number % shard[1] == shard[0] - 1


def _text(name):
    """A file name that any database can store; different ones stay different."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _archive(path, inside=""):
    """Packages have names of their own, wherever they are; tar archives may all have the same."""
    name = os.path.basename(path)
    return Unit(
        _text(name if name.endswith(("deb", ".rpm")) else os.path.abspath(path)),
        "archive",
        path,
        inside=inside,
    )


def _is_same_archive(unit, other):
    """Whether these archives with one file name are one package."""
    try:
        return os.path.getsize(unit.path) == os.path.getsize(other.path)
    except (OSError, ValueError):
        return unit.path == other.path


def _add(found, unit):
    """One that has only its file name in common with an archive before it is a package, too."""
    first = found.setdefault(unit.id, unit)
    if first is not unit and unit.kind == "archive" and not _is_same_archive(unit, first):
        unit.id = _text(os.path.abspath(unit.path))
        found.setdefault(unit.id, unit)


def _indexed(path, kind, root):
    """Of a package index, whose names are relative to `root`."""
    try:
        for name in indexes.files(path, kind):
            yield _archive(os.path.join(root, name), root or "/")
    except Damaged as error:
        raise Unreadable("%s: %s" % (path, error)) from None


def _deb_index(path, root):
    """`Filename` is relative to the folder that has dists/."""
    return _indexed(path, "deb", root or os.path.abspath(path).rpartition("/dists/")[0])


def _rpm_index(path, root):
    """Locations are relative to the folder that has repodata/."""
    return _indexed(path, "rpm", root or os.path.dirname(os.path.dirname(os.path.abspath(path))))


def _file_pairs(paths):
    return [(_text(os.path.abspath(path)), path) for path in paths]


def _entries(folder):
    """(its folders, its archives, its other regular files), by their names. Links are only followed
    to archives."""
    folders, archives, files = [], [], []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif is_archive(entry.name) and not os.path.isdir(entry.path):
                archives.append(entry.path)
            elif not entry.is_symlink():
                files.append(entry.path)
    return folders, archives, files


def _raise(error):
    raise error


def _folder(path):
    """Archives below it, and a unit for each folder that has other files, or cannot be read."""
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        unit = Unit(_text(os.path.abspath(folder)), "folder", folder)
        try:
            folders, archives, files = _entries(folder)
        except OSError as error:
            unit.files = lambda error=error: _raise(error)
            yield unit
            continue
        waiting += folders
        for archive in archives:
            yield _archive(archive, path)
        if files:
            unit.files = lambda files=files: _file_pairs(files)
            yield unit


def _inside(root, name):
    """The path of the absolute `name` as chroot(2) would find it: links lead to places inside of
    the root."""
    at, parts, links = "", name.split("/")[::-1], 0
    while parts:
        part = parts.pop()
        if part in ("", "."):
            continue
        full = os.path.join(root, at, part)
        if part == "..":
            at = os.path.dirname(at)
        elif os.path.islink(full) and links < MAX_LINKS:
            links += 1
            target = os.readlink(full)
            at = "" if target.startswith("/") else at
            parts += target.split("/")[::-1]
        else:
            at = os.path.join(at, part)
    return os.path.join(root, at)


def _installed_files(root, names):
    """Regular files among the absolute names, each once, also if folders are symbolic links."""
    seen, folders = set(), {}
    for name in names:
        folder, _, last = name.rpartition("/")
        if folder not in folders:
            folders[folder] = _inside(root, folder)
        real = os.path.join(folders[folder], last)
        if real not in seen and not os.path.islink(real) and os.path.isfile(real):
            seen.add(real)
            yield _text(name), real


def _database_text(root, name, errors):
    """A file of the package database: nothing outside of the root, and nothing that is no regular
    file."""
    path = _inside(root, name)
    with open(
        path,
        encoding="utf-8",
        errors=errors,
        opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK),
    ) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        return file.read()


def _dpkg(root):
    """Debian's package database: deb-control(5) paragraphs, and a list of files for each
    package."""
    try:
        paragraphs = _database_text(root, DPKG_STATUS, "replace").split("\n\n")
    except (OSError, ValueError, MemoryError) as error:
        raise Unreadable(
            "%s: %s"
            % (
                getattr(error, "filename", None) or "an input",
                getattr(error, "strerror", None) or error,
            )
        ) from None
    for paragraph in paragraphs:
        fields = dict(
            line.split(": ", 1) for line in paragraph.split("\n") if re.match(r"[\w-]+: ", line)
        )
        if not fields.get("Status", "").endswith(" installed"):
            continue
        name, architecture = fields.get("Package", ""), fields.get("Architecture", "")
        if not re.fullmatch(r"[\w.+-]+", name) or not re.fullmatch(
            r"[\w-]*", architecture
        ):  # parts of file names
            raise Unreadable("%s: a package without a valid name" % os.path.join(root, DPKG_STATUS))

        def files(name=name, architecture=architecture):
            for part in (name + ":" + architecture, name):
                try:
                    return list(
                        _installed_files(
                            root,
                            _database_text(
                                root, DPKG_INFO + part + ".list", "surrogateescape"
                            ).splitlines(),
                        )
                    )
                except FileNotFoundError:
                    continue
            return []

        version = fields.get("Version", "")
        yield Unit(
            "dpkg:%s:%s=%s" % (name, architecture, version),
            "dpkg",
            root,
            name,
            version,
            architecture,
            files,
        )


def _rpm(root):
    """The database of rpm, by the program rpm."""
    database = _inside(root, RPM_DATABASE)
    if root != "/" and not os.path.isdir(database):
        raise Unreadable("%s: no database of dpkg or rpm" % root)  # rpm would make one
    base = ["rpm"] + ([] if root == "/" else ["--dbpath", os.path.abspath(database)])
    try:
        listed = subprocess.run(
            [*base, "-qa", "--qf", "%{NAME}\t%{VERSION}-%{RELEASE}\t%{ARCH}\n"],
            capture_output=True,
            text=True,
            errors="surrogateescape",
        )
    except OSError as error:
        raise Unreadable("rpm cannot be started: %s" % error.strerror) from None
    if listed.returncode != 0:
        raise Unreadable(
            "rpm: " + (listed.stderr.strip().split("\n")[-1] or "exit code %d" % listed.returncode)
        )
    for line in listed.stdout.splitlines():
        name, version, architecture = line.split("\t")
        full = "%s-%s.%s" % (name, version, architecture)

        def files(full=full):
            done = subprocess.run(
                [*base, "-ql", full], capture_output=True, text=True, errors="surrogateescape"
            )
            return list(_installed_files(root, done.stdout.splitlines()))

        yield Unit("rpm:" + full, "rpmdb", root, name, version, architecture, files)


def _one(path, mirror):
    name = os.path.basename(path)
    if os.path.isdir(path):
        yield from _folder(path)
    elif is_archive(name):
        # One that an index has and the mirror lacks is a package that fails.
        if not os.path.exists(path):
            raise Unreadable("%s: no such file or directory" % path)
        yield _archive(path)
    elif DEB_INDEX.match(name):
        yield from _deb_index(path, mirror)
    elif RPM_INDEX.match(name):
        yield from _rpm_index(path, mirror)
    elif os.path.isfile(path):
        yield Unit(_text(os.path.abspath(path)), "folder", path, files=lambda: _file_pairs([path]))
    else:
        raise Unreadable("%s: no such file or directory" % path)


def units(paths, installed=None, root="/", mirror=None, note=lambda text: None):
    """All units, by ID, each once. `installed` is dpkg, rpm, or auto for the one that `root` has.
    `note` gets a line about each of the paths that is no unit."""
    if installed == "auto":
        installed = "dpkg" if os.path.exists(_inside(root, DPKG_STATUS)) else "rpm"
    found = {}
    try:
        for unit in (
            _dpkg(root) if installed == "dpkg" else _rpm(root) if installed == "rpm" else ()
        ):
            found[unit.id] = unit
        for path in paths:
            for unit in _one(path, mirror):
                if not DEBUG_PACKAGE.match(unit.id):
                    _add(found, unit)
                elif unit.path == path:
                    note(
                        "%s: not measured: debug files, which are used with the package that they are of"
                        % path
                    )
    except (OSError, ValueError, MemoryError) as error:
        raise Unreadable(
            "%s: %s"
            % (
                getattr(error, "filename", None) or "an input",
                getattr(error, "strerror", None) or error,
            )
        ) from None
    return [found[key] for key in sorted(found)]


def debug_package(path, folders):
    """The archive with the debug files of an archive: in one of the folders, or beside it; None if
    there is none."""
    name = os.path.basename(path)
    if deb := re.match(r"([^_]+)(_.*)\.deb$", name, re.S):
        candidates = ["%s-dbgsym%s.%s" % (deb[1], deb[2], suffix) for suffix in ("deb", "ddeb")]
    elif rpm := re.match(r"(.+)(-[^-]+-[^-]+\.rpm)$", name, re.S):
        candidates = ["%s-debuginfo%s" % (rpm[1], rpm[2])]
    else:
        return None
    return next(
        (
            full
            for folder in [*folders, os.path.dirname(path)]
            for full in (os.path.join(folder, candidate) for candidate in candidates)
            if os.path.isfile(full)
        ),
        None,
    )
