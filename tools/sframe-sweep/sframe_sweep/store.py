# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The database (schema.sql, docs/sframe-sweep.md). It can be killed at any point: what belongs
together is in one transaction. A rollback journal, not a write-ahead log, so that it works on
network file systems."""
import contextlib
import fcntl
import os
import sqlite3

APPLICATION = 0x53465357  # "SFSW"
VERSION = 1
MOST = (1 << 63) - 1  # an integer of SQLite
WAIT = 60  # seconds for a lock that another process has, such as a reader
# Tables whose rows belong to a file.
OF_FILE = (
    "profile",
    "reason",
    "all_sources",
    "all_reason",
    "left_out",
    "finding_count",
    "finding",
    "wrong_cfi",
)
# Tables that a database of this version need not have: releases have added them.
ADDED = ("all_sources", "all_reason")

# Of two rows of a package or file, the one with the lower values stays: it was done, or measured;
# then the one that one sweep over everything would have; the rest makes it the same one in any
# order of merging.
BETTER_PACKAGE = (
    "{0}.state",
    "{0}.failure IS NOT NULL",
    "{0}.path",
    "{0}.bytes",
    "coalesce({0}.failure, '')",
    "{0}.version",
    "{0}.seconds",
)
BETTER_FILE = (
    "CASE {0}.state WHEN 'measured' THEN 0 WHEN 'skipped' THEN 1 WHEN 'refused' THEN 2 ELSE 3 END",
    "{0}.package",
    "{0}.path",
    "coalesce({0}.failure, '')",
    "{0}.seconds",
    "{0}.memory",
)


class Unusable(Exception):
    """Not a database of this version, or it cannot be opened."""


def _schema():
    with open(
        os.path.join(os.path.dirname(os.path.abspath(__file__)), "schema.sql"), encoding="utf-8"
    ) as file:
        return file.read()


def _check(connection, path, schema="main"):
    application = connection.execute("PRAGMA %s.application_id" % schema).fetchone()[0]
    version = connection.execute("PRAGMA %s.user_version" % schema).fetchone()[0]
    if application != APPLICATION:
        raise Unusable("%s: not a database of sframe-sweep" % path)
    if version != VERSION:
        raise Unusable(
            "%s: version %d of the schema; this program has version %d" % (path, version, VERSION)
        )
    # A view, a virtual table or a column that is computed may take any time.
    for query in (
        "SELECT name FROM {0}.sqlite_master WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'",
        "SELECT m.name FROM {0}.sqlite_master m, pragma_table_xinfo(m.name, '{0}') x WHERE m.type = 'table' AND x.hidden",
    ):
        if odd := connection.execute(query.format(schema)).fetchone():
            raise Unusable("%s: %s is not a plain table" % (path, odd[0]))


def _tables(connection, schema="main"):
    return {
        row[0]
        for row in connection.execute(
            "SELECT name FROM %s.sqlite_master WHERE type = 'table'" % schema
        )
    }


def _add_missing(connection, create):
    """Creates what an older release has not made, with the statement `create`."""
    tables = _tables(connection)
    for statement in _statements(_schema()):
        for name in ADDED:
            if "CREATE TABLE %s (" % name in statement and name not in tables:
                connection.execute(statement.replace("CREATE TABLE", create, 1))


@contextlib.contextmanager
def values_of(paths):
    """Around what uses values of databases, which SQLite does not check: Unusable if they are not
    what sframe-sweep writes."""
    try:
        yield
    except (ValueError, TypeError, RecursionError) as error:
        raise Unusable(
            "%s: a value that sframe-sweep does not write: %s" % (", ".join(paths), error)
        ) from None


def open_read_only(path):
    """A connection, for queries. Rows are accessible by name."""
    if not os.path.isfile(path):
        raise Unusable(
            "%s: %s" % (path, "is a directory" if os.path.isdir(path) else "no such file")
        )
    uri = "file:%s?mode=ro" % path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=WAIT)
        connection.row_factory = sqlite3.Row
        _check(connection, path)
        _add_missing(connection, "CREATE TEMP TABLE")
    except sqlite3.Error as error:
        raise Unusable("%s: %s" % (path, error)) from None
    return connection


def _lock(path):
    """A descriptor that has the lock. SQLite's own locks are for the length of a transaction."""
    while True:
        try:
            lock = os.open(path + "-lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise Unusable("%s: %s" % (path, error.strerror)) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The one who had it may have removed the file.
            if os.path.samestat(os.fstat(lock), os.stat(path + "-lock")):
                return lock
        except FileNotFoundError:
            pass
        except OSError:
            os.close(lock)
            raise Unusable("%s: another sframe-sweep is writing it" % path) from None
        os.close(lock)


def too_large(values):
    """The names of numbers that no column holds."""
    return [name for name, value in values.items() if isinstance(value, int) and abs(value) > MOST]


class Store:
    """A database to be written, by one process."""

    def __init__(self, path):
        if os.path.isdir(path):
            raise Unusable("%s: is a directory" % path)
        self._lock_path, self._lock = path + "-lock", _lock(path)
        try:
            self._connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
            self._connection.row_factory = sqlite3.Row
            with self._transaction():
                if not self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    # executescript() would commit.
                    for statement in _statements(_schema()):
                        self._connection.execute(statement)
                    self._connection.execute("PRAGMA application_id = %d" % APPLICATION)
                    self._connection.execute("PRAGMA user_version = %d" % VERSION)
            _check(self._connection, path)
            _add_missing(self._connection, "CREATE TABLE")
        except sqlite3.Error as error:
            raise Unusable("%s: %s" % (path, error)) from None
        self.path = path

    def close(self):
        self._connection.close()
        with contextlib.suppress(OSError):
            os.unlink(self._lock_path)
        os.close(self._lock)

    @contextlib.contextmanager
    def _transaction(self):
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:  # SQLite has ended it where the disk is full
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _insert(self, table, values, conflict="ABORT"):
        columns = ", ".join('"%s"' % name for name in values)
        self._connection.execute(
            "INSERT OR %s INTO %s (%s) VALUES (%s)"
            % (conflict, table, columns, ", ".join("?" * len(values))),
            list(values.values()),
        )

    def package_state(self, identity):
        """(state, bytes) of a package that is in the database, or None."""
        row = self._connection.execute(
            "SELECT state, bytes FROM package WHERE id = ?", (identity,)
        ).fetchone()
        return tuple(row) if row else None

    def has_file(self, identity):
        return (
            self._connection.execute("SELECT 1 FROM file WHERE id = ?", (identity,)).fetchone()
            is not None
        )

    def begin_run(self, values):
        with self._transaction():
            self._insert("run", values)

    def end_run(self, identity, finished, elapsed):
        with self._transaction():
            self._connection.execute(
                "UPDATE run SET finished = ?, elapsed = ? WHERE id = ?",
                (finished, elapsed, identity),
            )

    def forget_failures(self):
        """What failed, to be done again: packages, and files with all packages that have them."""
        with self._transaction():
            execute = self._connection.execute
            execute(
                "CREATE TEMP TABLE again AS SELECT id FROM package WHERE state = 'failed' UNION SELECT package FROM location "
                "WHERE file IN (SELECT id FROM file WHERE state = 'failed')"
            )
            execute("DELETE FROM location WHERE package IN (SELECT id FROM temp.again)")
            execute("DELETE FROM package WHERE id IN (SELECT id FROM temp.again)")
            for table in OF_FILE:
                execute(
                    "DELETE FROM %s WHERE file IN (SELECT id FROM file WHERE state = 'failed')"
                    % table
                )
            execute("DELETE FROM file WHERE state = 'failed'")
            execute("DROP TABLE temp.again")

    def add_file(self, identity, package, record):
        """A measured file, with all that belongs to it."""
        with self._transaction():
            self._insert("file", {"id": identity, "package": package, **record.file}, "REPLACE")
            for table in OF_FILE:
                self._connection.execute("DELETE FROM %s WHERE file = ?" % table, (identity,))
                for row in record.rows[table]:
                    self._insert(table, {"file": identity, **row})

    def end_package(self, values, locations):
        """The last step of a package; `locations` are pairs of path and file."""
        with self._transaction():
            self._connection.execute("DELETE FROM location WHERE package = ?", (values["id"],))
            self._connection.executemany(
                "INSERT INTO location (package, path, file) VALUES (?, ?, ?)",
                ((values["id"], path, file) for path, file in locations),
            )
            self._insert("package", values, "REPLACE")

    def merge(self, path):
        """All of another database. Of a file or package that both have, the better row stays: the
        order of merging does not matter, and to repeat it changes nothing."""
        open_read_only(path).close()
        self._connection.execute("ATTACH ? AS other", (path,))
        try:
            with self._transaction():
                self._merge_attached()
        except sqlite3.Error as error:
            raise Unusable("%s into %s: %s" % (path, self.path, error)) from None
        finally:
            self._connection.execute("DETACH other")

    def _merge_attached(self):
        execute = self._connection.execute
        execute(
            "INSERT OR IGNORE INTO run SELECT * FROM other.run WHERE finished IS NOT NULL OR id NOT IN (SELECT id FROM main.run)"
        )
        execute(
            "UPDATE run SET (finished, elapsed) = (SELECT finished, elapsed FROM other.run o WHERE o.id = run.id) "
            "WHERE finished IS NULL AND id IN (SELECT id FROM other.run WHERE finished IS NOT NULL)"
        )
        execute(
            "CREATE TEMP TABLE better AS SELECT o.id FROM other.package o LEFT JOIN main.package m ON m.id = o.id WHERE m.id IS NULL OR "
            + _is_less(BETTER_PACKAGE)
        )
        execute("DELETE FROM main.location WHERE package IN (SELECT id FROM temp.better)")
        execute(
            "INSERT OR REPLACE INTO main.package SELECT * FROM other.package WHERE id IN (SELECT id FROM temp.better)"
        )
        execute(
            "INSERT OR IGNORE INTO main.location SELECT * FROM other.location WHERE package IN (SELECT id FROM temp.better)"
        )
        execute("DROP TABLE temp.better")
        execute(
            "CREATE TEMP TABLE better AS SELECT o.id FROM other.file o LEFT JOIN main.file m ON m.id = o.id WHERE m.id IS NULL OR "
            + _is_less(BETTER_FILE)
        )
        execute(
            "INSERT OR REPLACE INTO main.file SELECT * FROM other.file WHERE id IN (SELECT id FROM temp.better)"
        )
        others = _tables(self._connection, "other")
        for table in OF_FILE:
            execute("DELETE FROM main.%s WHERE file IN (SELECT id FROM temp.better)" % table)
            if table in ADDED and table not in others:
                continue
            execute(
                "INSERT INTO main.%s SELECT * FROM other.%s WHERE file IN (SELECT id FROM temp.better)"
                % (table, table)
            )
        execute("DROP TABLE temp.better")


def _is_less(columns):
    """A condition: the row of o comes before that of m."""
    return "(%s) < (%s)" % tuple(", ".join(columns).format(name) for name in "om")


def _statements(script):
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
