"""odd_databases.py DATABASE: copies of an empty database with what sframe-sweep does not write,
beside it."""
import shutil
import sqlite3
import sys


def insert(connection, table, **values):
    for _, name, kind, required, *_ in list(connection.execute("PRAGMA table_info(%s)" % table)):
        if required:
            values.setdefault(name, "x" if kind == "TEXT" else 0)
    connection.execute(
        "INSERT INTO %s (%s) VALUES (%s)"
        % (table, ", ".join(values), ", ".join("?" * len(values))),
        list(values.values()),
    )


def copy(name, *changes):
    shutil.copy(sys.argv[1], name)
    connection = sqlite3.connect(name)
    for change in changes:
        change(connection)
    connection.commit()
    connection.close()


def measured(connection, **values):
    insert(connection, "file", id="a", state="measured", **values)


copy(
    "endless.db",
    lambda c: c.execute("DROP TABLE file"),
    lambda c: c.execute(
        "CREATE VIEW file AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x AS id FROM r"
    ),
)
copy(
    "trigger.db",
    lambda c: c.execute("CREATE TRIGGER t AFTER INSERT ON file BEGIN DELETE FROM package; END"),
)
copy(
    "computed.db", lambda c: c.execute("ALTER TABLE file ADD COLUMN more AS (zeroblob(1000000000))")
)
copy("json.db", measured, lambda c: insert(c, "wrong_cfi", file="a", example="{"))
copy("nested.db", measured, lambda c: insert(c, "wrong_cfi", file="a", example="[" * 100_000))
copy("bytes.db", lambda c: measured(c, warnings=b"\xff"))
