# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loop: takes units in the order of their IDs, measures the files that the database does not
have, and writes what is found. A package is in the database only once all its files are. So a sweep
that was killed starts again with the first package that is not there, and the result is that of a
sweep that was not."""
import concurrent.futures
import dataclasses
import os
import shutil
import socket
import sqlite3
import time
import uuid

from . import apart, archives, elf_file, inputs, measure, programs, scratch, unpacking

MAX_FILES = 200000  # ELF files of a package


class Incomplete(Exception):
    """The sweep has no result for something that it found."""


@dataclasses.dataclass
class Options:
    shard: tuple = (1, 1)
    jobs: int = 1
    max_unpacked: int = 32 << 30
    debug_packages: tuple = ()
    command: str = ""


@dataclasses.dataclass
class _Package:
    """A unit in work."""

    values: dict
    folder: str  # scratch
    locations: list = dataclasses.field(default_factory=list)
    missing: set = dataclasses.field(default_factory=set)  # IDs of files that are being measured
    is_read: bool = False


def _now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Sweep:
    """One run over the units. `progress` is called with a line of text now and then."""

    def __init__(self, store, folder, options, measure_options, progress=lambda text: None):
        self._store, self._scratch, self._options, self._measure, self._progress = (
            store,
            folder,
            options,
            measure_options,
            progress,
        )
        self._running = {}  # future: (ID of the file, its _Package, scratch path or None)
        self._measured = {}  # ID that is being measured: packages that wait for it
        self._number = 0  # of scratch files
        self._open = set()  # IDs of packages in work
        self.counts = {
            "packages": 0,
            "failed packages": 0,
            "known packages": 0,
            "files": 0,
            "failed files": 0,
            "empty folders": 0,
        }

    def run(self, units):
        identity, started = uuid.uuid4().hex, time.monotonic()
        self._store.begin_run(
            {
                "id": identity,
                "host": socket.gethostname(),
                "started": _now(),
                "finished": None,
                "shard": "%d/%d" % self._options.shard,
                "jobs": self._options.jobs,
                "command": self._options.command,
                "programs": self._measure.programs.version(),
                "elapsed": None,
            }
        )
        mine = [unit for unit in units if inputs.in_shard(unit, self._options.shard)]
        pool = concurrent.futures.ThreadPoolExecutor(self._options.jobs)
        try:
            for number, unit in enumerate(mine):
                self._progress(
                    "%d of %d packages, %d files: %s"
                    % (number, len(mine), self.counts["files"], unit.id)
                )
                self._one(unit, pool)
            while self._running:
                self._wait()
            self._check_complete(len(mine))
        except BaseException:
            programs.end_all()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
        self._store.end_run(identity, _now(), time.monotonic() - started)

    def _check_complete(self, found):
        """Each unit that was found has a result."""
        ended = sum(self.counts[name] for name in ("packages", "known packages", "empty folders"))
        if ended != found or self._open or self._measured:
            raise Incomplete(
                "%d packages were found, %d have a result: %s"
                % (found, ended, ", ".join(sorted(self._open)) or "files are missing")
            )

    def _is_done(self, unit):
        state = self._store.package_state(unit.id)
        if state is None:
            return False
        try:
            is_same = unit.kind != "archive" or os.path.getsize(unit.path) == state[1]
        except (OSError, ValueError):
            is_same = True
        # A folder may have new files; an archive with another size is another one.
        return unit.kind != "folder" and is_same

    def _one(self, unit, pool):
        if self._is_done(unit):
            self.counts["known packages"] += 1
            return
        self._number += 1
        package = _Package(
            {
                "id": unit.id,
                "name": unit.name,
                "version": unit.version,
                "architecture": unit.architecture,
                "kind": unit.kind,
                "path": os.path.abspath(unit.path),
                "state": "done",
                "failure": None,
                "bytes": 0,
                "unpacked_bytes": 0,
                "members": 0,
                "elf_files": 0,
                "other_elf_files": 0,
                "debug_package": None,
                "seconds": 0.0,
            },
            os.path.join(self._scratch, "p%d" % self._number),
        )
        package.values["path"] = (
            package.values["path"]
            .encode("utf-8", "surrogateescape")
            .decode("utf-8", "backslashreplace")
        )
        self._open.add(unit.id)
        begun = time.thread_time()
        try:
            os.mkdir(package.folder)
            if unit.kind == "archive":
                self._read_archive(unit, package, pool)
            else:
                for path, full in unit.files():
                    package.values["members"] += 1
                    self._found(package, path, full, pool)
        except (archives.Damaged, OSError) as error:
            scratch.raise_if_full(error, package.folder)
            package.values.update(
                state="failed", failure=getattr(error, "strerror", None) or str(error)
            )
        except (sqlite3.Error, scratch.Full):
            raise  # the database or the disk is at fault, not the package
        except Exception as error:  # whatever a hostile package brings about
            package.values.update(state="failed", failure="%s: %s" % (type(error).__name__, error))
        package.values["seconds"] = time.thread_time() - begun
        package.is_read = True
        self._end_if_complete(package)

    def _read_archive(self, unit, package, pool):
        values = package.values
        values["kind"] = (
            "deb" if unit.path.endswith("deb") else "rpm" if unit.path.endswith(".rpm") else "tar"
        )
        with apart.open_regular(unit.path, unit.inside) as file:
            values["bytes"] = os.fstat(file.fileno()).st_size
        self._read_debug(unit, package)
        identities = {}
        with unpacking.unpacked(
            unit.path, unit.inside, package.folder, self._options.max_unpacked
        ) as archive:
            try:
                for path, copy, others in archive:
                    if not copy:
                        identity = identities.get(others)
                        if identity:
                            self._add_location(package, path, identity)
                            identities[path] = identity
                        continue
                    identity = self._found(package, path, copy, pool, is_copy=True)
                    for name in (path, *others) if identity else ():
                        identities[name] = identity
                    for name in others if identity else ():
                        self._add_location(package, name, identity)
            finally:
                values.update(
                    members=archive.members, unpacked_bytes=archive.unpacked_bytes, **archive.about
                )

    def _read_debug(self, unit, package):
        """The debug package of an archive, if it has one."""
        debug = inputs.debug_package(unit.path, self._options.debug_packages)
        if not debug:
            return
        package.values["debug_package"] = os.path.basename(debug)
        beside = os.path.dirname(unit.path)
        inside = (
            ""
            if os.path.dirname(debug) != beside
            else unit.inside or ("" if os.path.islink(unit.path) else beside or ".")
        )
        try:
            self._unpack_debug(debug, inside, os.path.join(package.folder, "debug"))
        except (archives.Damaged, OSError) as error:
            scratch.raise_if_full(error, package.folder)
            package.values["failure"] = "%s: %s" % (
                package.values["debug_package"],
                error,
            )  # the package itself may be sound

    def _unpack_debug(self, path, inside, folder):
        """The debug files of an archive, as .build-id/xx/yyyy.debug."""
        os.mkdir(folder)
        with unpacking.unpacked(path, inside, folder, self._options.max_unpacked) as archive:
            for _, copy, _ in archive:
                if not copy:
                    continue
                try:
                    build_id = elf_file.ElfFile(copy).build_id()
                except ValueError:
                    build_id = None
                if build_id:
                    place = os.path.join(folder, ".build-id", build_id[:2])
                    os.makedirs(place, exist_ok=True)
                    os.rename(copy, os.path.join(place, build_id[2:] + ".debug"))
                else:
                    os.unlink(copy)

    def _add_location(self, package, path, identity):
        package.locations.append((path, identity))
        if len(package.locations) > MAX_FILES:
            raise archives.Damaged("more than %d ELF files" % MAX_FILES)

    def _found(self, package, path, full, pool, is_copy=False):
        """A file of a package, to be measured if nobody did. Returns its ID, or None for others
        than linked ELF files."""
        identity, taken = None, False
        try:
            try:
                file = elf_file.ElfFile(full)
            except ValueError:
                package.values["other_elf_files"] += int(_has_magic(full))
                return None
            except (PermissionError, FileNotFoundError):
                return None  # not readable for this user, or gone
            except OSError as error:  # the other files are measured nevertheless
                package.values.update(state="failed", failure="%s: %s" % (path, error.strerror))
                return None
            if file.abi.startswith("machine") or file.is_debug_file:
                package.values["other_elf_files"] += 1
                return None
            identity = file.identity()
            self._add_location(package, path, identity)
            if identity in self._measured:
                if identity not in package.missing:
                    package.missing.add(identity)
                    self._measured[identity].append(package)
            elif not self._store.has_file(identity):
                package.missing.add(identity)
                self._measured[identity] = [package]
                self._number += 1
                debug = os.path.join(package.folder, "debug")
                future = pool.submit(
                    measure.measure,
                    file,
                    path,
                    os.path.join(self._scratch, "m%d" % self._number),
                    self._measure,
                    debug if os.path.isdir(debug) else None,
                )
                self._running[future] = (
                    identity,
                    package,
                    full if is_copy else None,
                    lambda error: measure.failed(file, path, self._measure, error),
                )
                taken = True
                while len(self._running) > 2 * self._options.jobs:
                    self._wait()
            return identity
        finally:
            if is_copy and not taken:
                os.unlink(full)

    def _wait(self):
        """Until a file is measured; it is written. What goes wrong with it is a row of that file,
        whichever package is being read now."""
        done, _ = concurrent.futures.wait(
            self._running, return_when=concurrent.futures.FIRST_COMPLETED
        )
        for future in done:
            identity, package, copy, failed = self._running[future]
            try:
                record = future.result()
                self._store.add_file(identity, package.values["id"], record)
            except (sqlite3.OperationalError, scratch.Full):
                raise  # the database or the disk is at fault, not the file
            except (
                Exception
            ) as error:  # whatever a hostile file brings about; values that no database holds, too
                record = failed(error)
                self._store.add_file(identity, package.values["id"], record)
            del self._running[future]
            self.counts["files"] += 1
            self.counts["failed files"] += record.file["state"] == "failed"
            if copy:
                os.unlink(copy)
            for waiting in self._measured.pop(identity):
                waiting.missing.discard(identity)
                self._end_if_complete(waiting)

    def _end_if_complete(self, package):
        if package.is_read and not package.missing:
            self._open.discard(package.values["id"])
            shutil.rmtree(package.folder, ignore_errors=True)
            if (
                package.values["kind"] == "folder"
                and not package.locations
                and package.values["state"] == "done"
            ):
                self.counts["empty folders"] += 1
                return  # as most folders of a system
            locations = sorted(
                dict(package.locations).items()
            )  # of members with one name, the last is what is installed
            values = {**package.values, "elf_files": len(locations)}
            self._store.end_package(values, locations)
            self.counts["packages"] += 1
            self.counts["failed packages"] += package.values["state"] == "failed"


def _has_magic(path):
    try:
        with open(
            path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)
        ) as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False
