# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One page about databases: overview, packages, files, compilers, findings with an example each,
sizes, failures; and what got better or worse since another database. The page is that of the other
programs (lib/page), with assets/sweep.js; docs/reports.md describes it."""
import contextlib
import html
import json
import os
import tempfile

from . import output as output_file
from . import store

HERE = os.path.dirname(os.path.abspath(__file__))
# Installed, and in the source folder.
ASSETS = [
    os.path.join(HERE, "page"),
    os.path.normpath(os.path.join(HERE, "..", "..", "..", "lib", "page", "assets")),
]
MOST_FILES = 150_000  # in the page; the others are counted
MOST_CHANGES = 20_000
MOST_EXAMPLES = 400  # of wrong CFI

FILE_COLUMNS = (
    "id",
    "path",
    "package",
    "abi",
    "kind",
    "language",
    "compiler",
    "state",
    "failure",
    "file_bytes",
    "loaded_bytes",
    "eh_frame",
    "eh_frame_hdr",
    "sframe_shared",
    "sframe_optimized",
    "executable_bytes",
    "covered_bytes",
    "cfi_bytes",
    "covered_cfi_bytes",
    "functions",
    "rows",
    "agree",
    "contradiction",
    "contradiction_in_cfi",
    "undecided",
    "unreached",
    "errors",
    "warnings",
    "notes",
    "seconds",
    "memory",
)
# Repeated texts: the page has each once, in the order of their first use.
SHARED = ("package", "abi", "kind", "language", "compiler", "state", "failure")
SUMS = (
    "file_bytes",
    "loaded_bytes",
    "eh_frame",
    "eh_frame_hdr",
    "sframe_shared",
    "sframe_optimized",
    "executable_bytes",
    "covered_bytes",
    "cfi_bytes",
    "covered_cfi_bytes",
    "functions",
    "rows",
    "agree",
    "contradiction",
    "contradiction_in_cfi",
    "undecided",
    "unreached",
    "errors",
    "warnings",
    "notes",
)


def main(databases, output, compare=None):
    """Writes the page about `databases` to the path `output`, atomically; - is standard output.
    `compare`: an older database, to compare with. Raises store.Unusable and OSError."""
    output_file.write(output, page(databases, compare))


def page(databases, compare=None):
    """The page as bytes."""
    with contextlib.ExitStack() as stack:
        merged = stack.enter_context(_opened(databases))
        data = _data(merged)
        if compare is not None:
            older = stack.enter_context(_opened([compare]))
            data["compare"] = _comparison(merged, older, compare)
    data["titles"] = json.loads(_asset("findings.json"))
    title = (
        os.path.basename(databases[0]) if len(databases) == 1 else "%d databases" % len(databases)
    )
    # ASCII; what could end the element is escaped. In JSON it is inside strings only.
    text = (
        json.dumps(data, separators=(",", ":"))
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
    )
    return _fill(
        _asset("page.html"),
        {
            "program": "sframe-sweep",
            "version": "",
            "title": html.escape(title),
            "style": _asset("page.css"),
            "data": text,
            "script": _asset("page.js") + _asset("sweep.js"),
        },
    ).encode("utf-8", "replace")


def _asset(name):
    for folder in ASSETS:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    raise FileNotFoundError(2, "not installed", os.path.join(ASSETS[0], name))


def _fill(template, values):
    """Values are not searched for further names."""
    first, *parts = template.split("{{")
    result = [first]
    for part in parts:
        name, rest = part.split("}}", 1)
        result += [values[name], rest]
    return "".join(result)


@contextlib.contextmanager
def _opened(paths):
    """A connection to one database, or to what several have together (of files and packages in
    several, the first)."""
    if len(paths) == 1:
        connection = store.open_read_only(paths[0])
        try:
            yield connection
        finally:
            connection.close()
        return
    with tempfile.TemporaryDirectory() as folder:
        merged = store.Store(os.path.join(folder, "merged.db"))
        try:
            for path in paths:
                store.open_read_only(path).close()
                merged.merge(path)
        finally:
            merged.close()
        with _opened([merged.path]) as connection:
            yield connection


def _rows(connection, query, *values):
    return [dict(row) for row in connection.execute(query, values)]


def _columns(rows, names, shared=()):
    """A table by columns: {name: [values]}, and for shared texts {name: {"texts", "numbers"}}."""
    result = {}
    for name in names:
        values = [row[name] for row in rows]
        if name in shared:
            texts = {}
            numbers = [texts.setdefault(value, len(texts)) for value in values]
            result[name] = {"texts": list(texts), "numbers": numbers}
        else:
            result[name] = [
                round(value, 2) if isinstance(value, float) else value for value in values
            ]
    return result


def _sums(columns=SUMS):
    return ", ".join('coalesce(sum("%s"), 0) AS "%s"' % (name, name) for name in columns)


def _data(connection):
    files = connection.execute("SELECT count(*) FROM file").fetchone()[0]
    # What is wrong comes first, so that it is in the page.
    shown = _rows(
        connection,
        "SELECT %s FROM file ORDER BY coalesce(errors, 0) DESC, coalesce(executable_bytes, 0) DESC, path, id LIMIT ?"
        % ", ".join('"%s"' % name for name in FILE_COLUMNS),
        MOST_FILES,
    )
    return {
        "runs": _rows(
            connection,
            "SELECT host, started, finished, shard, jobs, command, programs, elapsed FROM run ORDER BY started, host, shard LIMIT 200",
        ),
        "totals": _totals(connection),
        "packages": _columns(
            _rows(
                connection,
                """
            SELECT p.id, p.name, p.version, p.architecture, p.state, p.failure, p.bytes, p.elf_files, count(f.id) AS files, %s
            FROM package p LEFT JOIN (SELECT DISTINCT package, file FROM location) l ON l.package = p.id LEFT JOIN file f ON f.id = l.file
            GROUP BY p.id ORDER BY p.id"""
                % ", ".join('coalesce(sum(f."%s"), 0) AS "%s"' % (name, name) for name in SUMS),
            ),
            (
                "id",
                "name",
                "version",
                "architecture",
                "state",
                "failure",
                "bytes",
                "elf_files",
                "files",
                *SUMS,
            ),
            ("architecture", "state", "failure"),
        ),
        "files": _columns(shown, FILE_COLUMNS, SHARED),
        "files_left_out": files - len(shown),
        "compilers": _rows(
            connection,
            "SELECT compiler, language, abi, count(*) AS files, %s FROM file WHERE executable_bytes > 0 GROUP BY compiler, language, abi "
            "ORDER BY sum(executable_bytes) DESC, compiler, language, abi" % _sums(),
        ),
        "reasons": _rows(
            connection,
            "SELECT f.abi, r.reason, count(*) AS files, sum(r.count) AS times, sum(r.bytes) AS bytes FROM reason r JOIN file f ON f.id = r.file "
            "GROUP BY f.abi, r.reason ORDER BY sum(r.bytes) DESC, f.abi, r.reason",
        ),
        "profiles": _rows(
            connection,
            """
            SELECT f.abi, p.reader, p.version, count(*) AS files, sum(p.sframe) AS sframe, sum(p.covered_bytes) AS covered_bytes, sum(f.executable_bytes) AS executable_bytes,
                   sum(p.errors) AS errors, sum(p.warnings) AS warnings FROM profile p JOIN file f ON f.id = p.file GROUP BY f.abi, p.reader, p.version ORDER BY 1, 2, 3""",
        ),
        "findings": _findings(connection),
        "wrong_cfi": _wrong_cfi(connection),
        "failures": _rows(
            connection,
            """
            SELECT 'package' AS what, id AS name, id AS package, failure FROM package WHERE failure IS NOT NULL
            UNION ALL SELECT 'file', path, package, failure FROM file WHERE failure IS NOT NULL ORDER BY 1, 3, 2""",
        ),
    }


def _totals(connection):
    totals = dict(
        connection.execute(
            """
        SELECT count(*) AS files, coalesce(sum(state = 'measured'), 0) AS measured, coalesce(sum(state = 'skipped'), 0) AS skipped, coalesce(sum(state = 'refused'), 0) AS refused,
               coalesce(sum(state = 'failed'), 0) AS failed, coalesce(sum(seconds), 0) AS seconds, %s FROM file"""
            % _sums()
        ).fetchone()
    )
    # Of sections for one reader.
    totals.update(
        connection.execute(
            "SELECT coalesce(sum(errors), 0) AS reader_errors, coalesce(sum(warnings), 0) AS reader_warnings FROM profile"
        ).fetchone()
    )
    totals.update(
        connection.execute(
            "SELECT count(*) AS packages, coalesce(sum(state = 'failed'), 0) AS failed_packages FROM package"
        ).fetchone()
    )
    return totals


def _findings(connection):
    """Each kind, with one example: one that has evidence, of the smallest function if that is
    known."""
    kinds = _rows(
        connection,
        """
        SELECT c.id, c.severity, c.in_cfi, c.profile, count(DISTINCT c.file) AS files, sum(c.findings) AS findings, sum(c.functions) AS functions FROM finding_count c
        GROUP BY c.id, c.severity, c.in_cfi, c.profile ORDER BY CASE c.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, sum(c.findings) DESC, c.id, c.profile""",
    )
    for kind in kinds:
        key = (kind["id"], kind["severity"], kind["in_cfi"], kind["profile"])
        found = _rows(
            connection,
            """
            SELECT n.function, n.pc, n.message, n.sframe, n.cfi, n.code, n.instruction, n.source, n.evidence, f.path, f.package, f.compiler
            FROM finding n JOIN file f ON f.id = n.file WHERE n.id = ? AND n.severity = ? AND n.in_cfi = ? AND n.profile = ?
            ORDER BY n.evidence IS NULL, json_extract(n.evidence, '$.size'), n.file, n.number LIMIT 1""",
            *key,
        )
        if found:
            kind["example"] = found[0]
            evidence = found[0].pop("evidence")
            found[0]["evidence"] = json.loads(evidence) if evidence else None
        kind["worst"] = _rows(
            connection,
            """
            SELECT f.path, f.package, c.findings FROM finding_count c JOIN file f ON f.id = c.file WHERE c.id = ? AND c.severity = ? AND c.in_cfi = ? AND c.profile = ?
            ORDER BY c.findings DESC, f.path LIMIT 10""",
            *key,
        )
    return kinds


def _wrong_cfi(connection):
    patterns = _rows(
        connection,
        """
        SELECT w.compiler, w.pattern, count(*) AS files, sum(w.places) AS places, sum(w.bytes) AS bytes, sum(w.functions) AS functions, min(w.file) AS file
        FROM wrong_cfi w GROUP BY w.compiler, w.pattern ORDER BY sum(w.places) DESC, w.compiler, w.pattern""",
    )
    for pattern in patterns[:MOST_EXAMPLES]:
        row = connection.execute(
            "SELECT w.example, f.path, f.package FROM wrong_cfi w JOIN file f ON f.id = w.file WHERE w.file = ? AND w.compiler = ? AND w.pattern = ?",
            (pattern["file"], pattern["compiler"], pattern["pattern"]),
        ).fetchone()
        pattern.update(example=json.loads(row["example"]), path=row["path"], package=row["package"])
    return patterns


def _comparison(new, old, path):
    """Totals of both; kinds of findings; files that differ, by package and path, since their build
    IDs differ."""
    kinds = {}
    for which, connection in (("old", old), ("new", new)):
        for row in connection.execute(
            "SELECT id, severity, in_cfi, profile, sum(findings) AS findings FROM finding_count GROUP BY 1, 2, 3, 4"
        ):
            kinds.setdefault(tuple(row)[:4], {"old": 0, "new": 0})[which] = row["findings"]
    names = {
        name: number
        for number, name in enumerate(
            ("errors", "warnings", "executable_bytes", "covered_bytes", "sframe_shared")
        )
    }

    def places(connection):
        # Packages of both sweeps have the same name, but another version. tar archives and folders
        # have no name: their ID is the path.
        return {
            (row[0], row[1]): tuple(row)[2:]
            for row in connection.execute(
                "SELECT iif(p.name = '', p.id, p.name || ':' || p.architecture), l.path, %s, f.state FROM location l JOIN package p ON p.id = l.package JOIN file f ON f.id = l.file"
                % ", ".join('f."%s"' % name for name in names)
            )
        }

    before, after = places(old), places(new)
    changed = []
    for key in sorted(before.keys() | after.keys()):
        one, other = before.get(key), after.get(key)
        if one == other:
            continue
        changed.append(
            {
                "package": key[0],
                "path": key[1],
                "old": one and dict(zip((*names, "state"), one)),
                "new": other and dict(zip((*names, "state"), other)),
            }
        )
    changed.sort(
        key=lambda row: -abs(
            ((row["new"] or {}).get("errors") or 0) - ((row["old"] or {}).get("errors") or 0)
        )
    )
    return {
        "path": os.path.basename(path),
        "totals": _totals(old),
        "findings": [
            {"id": k[0], "severity": k[1], "in_cfi": k[2], "profile": k[3], **v}
            for k, v in sorted(kinds.items())
        ],
        "changed": changed[:MOST_CHANGES],
        "changed_left_out": max(0, len(changed) - MOST_CHANGES),
        "same": len(before.keys() & after.keys())
        - sum(1 for row in changed if row["old"] and row["new"]),
    }
