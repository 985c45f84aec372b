# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables over a database. Each is one query, so that all columns can be computed by others, too."""
import csv
import io
import json
import re

from . import store

# Of the rows of `file` that are measured.
_BYTES = (
    'count(*) AS files, sum(executable_bytes) AS "executable bytes", 100.0 * sum(covered_bytes) / sum(executable_bytes) AS "covered %", '
    '100.0 * sum(covered_cfi_bytes) / nullif(sum(cfi_bytes), 0) AS "of those with CFI %", sum(functions) AS FDEs'
)
_VERDICTS = (
    "sum(agree + contradiction + undecided + unreached) AS functions, sum(agree) AS agree, sum(contradiction) AS contradiction, "
    'sum(contradiction_in_cfi) AS "in CFI, too", sum(undecided) AS undecided, sum(unreached) AS unreached, sum(errors) AS errors'
)
_CFI = "nullif(sum(eh_frame + eh_frame_hdr), 0)"

# Name: (title, query, whether it has as many rows as --rows asks for).
TABLES = {
    "packages": (
        "Packages",
        """
        SELECT architecture, kind, count(*) AS packages, sum(state = 'failed') AS failed, sum(bytes) AS bytes, sum(unpacked_bytes) AS "bytes unpacked",
               sum(elf_files) AS "ELF files", sum(other_elf_files) AS "other ELF files"
        FROM package GROUP BY architecture, kind ORDER BY architecture, kind""",
        False,
    ),
    "files": (
        "Files, each counted once",
        """
        SELECT abi AS ABI, count(*) AS files, sum(state = 'measured') AS measured, sum(state = 'skipped') AS "without CFI", sum(state = 'refused') AS refused,
               sum(state = 'failed') AS failed, sum(file_bytes) AS bytes, sum(debug) AS "with debug information", sum(sframe_linked > 0) AS "with .sframe from the linker"
        FROM file GROUP BY abi ORDER BY abi""",
        False,
    ),
    "abi": (
        "Coverage by ABI",
        "SELECT abi AS ABI, %s FROM file WHERE executable_bytes > 0 GROUP BY abi ORDER BY abi"
        % _BYTES,
        False,
    ),
    "language": (
        "Coverage by language",
        "SELECT abi AS ABI, language, %s FROM file WHERE executable_bytes > 0 GROUP BY abi, language "
        "ORDER BY abi, sum(executable_bytes) DESC" % _BYTES,
        False,
    ),
    "sources": (
        "Coverage by language and compiler, by CFI and from all sources",
        """
        SELECT f.abi AS ABI, f.language, f.compiler, count(*) AS files, sum(f.executable_bytes) AS "executable bytes",
               100.0 * sum(coalesce(f.covered_bytes, 0)) / sum(f.executable_bytes) AS "CFI %", 100.0 * sum(a.covered_bytes) / sum(f.executable_bytes) AS "all sources %",
               100.0 * sum(a.go_bytes) / sum(f.executable_bytes) AS "by Go's table %", 100.0 * sum(a.code_bytes) / sum(f.executable_bytes) AS "by code %",
               sum(a.seconds) AS seconds
        FROM file f JOIN all_sources a ON a.file = f.id WHERE f.executable_bytes > 0 GROUP BY f.abi, f.language, f.compiler
        ORDER BY f.abi, f.language, sum(f.executable_bytes) DESC, f.compiler""",
        False,
    ),
    "left": (
        "What no source covers, by reason",
        """
        SELECT ABI, language, reason, count(*) AS files, sum(bytes) AS bytes, 100.0 * sum(bytes) / max(executable) AS "of executable %" FROM (
          SELECT f.id, f.abi AS ABI, f.language, r.reason, r.bytes FROM all_reason r JOIN file f ON f.id = r.file
          UNION ALL SELECT f.id, f.abi, f.language, 'no function found', f.executable_bytes - a.covered_bytes - coalesce((SELECT sum(bytes) FROM all_reason WHERE file = f.id), 0)
            FROM all_sources a JOIN file f ON f.id = a.file) JOIN (
          SELECT f.abi AS of_abi, f.language AS of_language, sum(f.executable_bytes) AS executable FROM all_sources a JOIN file f ON f.id = a.file GROUP BY f.abi, f.language)
          ON of_abi = ABI AND of_language = language
        WHERE bytes > 0 GROUP BY ABI, language, reason ORDER BY ABI, language, sum(bytes) DESC, reason""",
        False,
    ),
    "compiler": (
        "Coverage by compiler",
        'SELECT compiler, group_concat(DISTINCT compiler_from) AS "known by", %s FROM file WHERE executable_bytes > 0 GROUP BY compiler '
        "ORDER BY sum(executable_bytes) DESC, compiler LIMIT :rows" % _BYTES,
        True,
    ),
    "sizes": (
        "Sizes; percentages are of .eh_frame and .eh_frame_hdr",
        """
        SELECT abi AS ABI, language, sum(loaded_bytes) AS "loaded bytes", sum(eh_frame + eh_frame_hdr) AS CFI, 100.0 * sum(sframe_unshared) / {0} AS "not shared %",
               100.0 * sum(sframe_shared) / {0} AS "shared %", 100.0 * sum(sframe_optimized) / {0} AS "optimized %", sum(sframe_optimized) AS "optimized, bytes",
               100.0 * sum(sframe_optimized) / sum(loaded_bytes) AS "of loaded %"
        FROM file WHERE sframe_optimized IS NOT NULL GROUP BY abi, language ORDER BY abi, CFI DESC""".format(
            _CFI
        ),
        False,
    ),
    "profiles": (
        "Sections for one reader",
        """
        SELECT f.abi AS ABI, p.reader, p.version, count(*) AS files, sum(p.sframe) AS bytes, 100.0 * sum(p.covered_bytes) / sum(f.executable_bytes) AS "covered %",
               100.0 * sum(p.covered_cfi_bytes) / nullif(sum(f.cfi_bytes), 0) AS "of those with CFI %", sum(p.errors) AS errors, sum(p.warnings) AS warnings
        FROM profile p JOIN file f ON f.id = p.file GROUP BY f.abi, p.reader ORDER BY f.abi, p.reader""",
        False,
    ),
    "reasons": (
        "What was left out",
        """
        SELECT f.abi AS ABI, r.reason, count(*) AS files, sum(r.count) AS times, sum(r.bytes) AS bytes
        FROM reason r JOIN file f ON f.id = r.file GROUP BY f.abi, r.reason ORDER BY f.abi, sum(r.bytes) DESC, r.reason""",
        False,
    ),
    "verdicts": (
        "Verdicts of the functions",
        "SELECT abi AS ABI, language, %s FROM file WHERE agree IS NOT NULL GROUP BY abi, language ORDER BY abi, functions DESC"
        % _VERDICTS,
        False,
    ),
    "findings": (
        "Findings by kind",
        """
        SELECT c.id, c.severity, iif(c.in_cfi, 'yes', '') AS "in CFI, too", iif(c.profile = 'spec', '', c.profile) AS reader, f.abi AS ABI, f.language,
               count(DISTINCT c.file) AS files, sum(c.findings) AS findings, sum(c.functions) AS functions
        FROM finding_count c JOIN file f ON f.id = c.file WHERE c.severity != 'note' GROUP BY c.id, c.severity, c.in_cfi, c.profile, f.abi, f.language
        ORDER BY c.severity, f.abi, sum(c.findings) DESC, c.id, f.language""",
        False,
    ),
    "notes": (
        "Notes by kind",
        """
        SELECT c.id, iif(c.profile = 'spec', '', c.profile) AS reader, f.abi AS ABI, count(DISTINCT c.file) AS files, sum(c.findings) AS notes, sum(c.functions) AS functions
        FROM finding_count c JOIN file f ON f.id = c.file WHERE c.severity = 'note' GROUP BY c.id, c.profile, f.abi ORDER BY f.abi, c.profile, c.id""",
        False,
    ),
    "wrong-cfi": (
        "Wrong CFI by compiler and pattern",
        """
        SELECT f.abi AS ABI, w.compiler, f.language, w.pattern, count(*) AS files, sum(w.places) AS places, sum(w.bytes) AS bytes, sum(w.functions) AS functions
        FROM wrong_cfi w JOIN file f ON f.id = w.file GROUP BY f.abi, w.compiler, f.language, w.pattern ORDER BY sum(w.places) DESC, f.abi, w.compiler, w.pattern LIMIT :rows""",
        True,
    ),
    "least-covered": (
        "Files with most code that is not covered",
        """
        SELECT path, package, language, executable_bytes AS "executable bytes", executable_bytes - covered_bytes AS "not covered", 100.0 * covered_bytes / executable_bytes AS "covered %"
        FROM file WHERE executable_bytes > covered_bytes ORDER BY executable_bytes - covered_bytes DESC, path LIMIT :rows""",
        True,
    ),
    "slowest": (
        "Slowest files",
        """
        SELECT path, package, seconds, gen_seconds AS "sframe-gen, s", verify_seconds AS "sframe-verify, s", memory / 1048576 AS "memory, MiB", functions AS FDEs
        FROM file ORDER BY seconds DESC, path LIMIT :rows""",
        True,
    ),
    "failures": (
        "Failures",
        """
        SELECT what, state, reason, count(*) AS number, min(example) AS "for example" FROM (
          SELECT 'package' AS what, state, failure AS reason, id AS example FROM package WHERE failure IS NOT NULL
          UNION ALL SELECT 'file', state, failure, path || ' (' || package || ')' FROM file WHERE failure IS NOT NULL)
        GROUP BY what, state, reason ORDER BY what, state, number DESC, reason LIMIT :rows""",
        True,
    ),
    "runs": (
        "Runs",
        """
        SELECT host, shard, jobs, started, finished, elapsed AS seconds, programs FROM run ORDER BY started, host, shard LIMIT :rows""",
        True,
    ),
}


def is_something_wrong(path):
    """Whether a package or file was not measured completely, or a section has errors."""
    connection = store.open_read_only(path)
    try:
        return (
            connection.execute(
                "SELECT EXISTS (SELECT 1 FROM package WHERE state = 'failed') OR "
                "EXISTS (SELECT 1 FROM file WHERE state IN ('refused', 'failed') OR errors > 0) OR "
                "EXISTS (SELECT 1 FROM profile WHERE errors > 0)"
            ).fetchone()[0]
            == 1
        )
    finally:
        connection.close()


def tables(path, names=None, rows=20):
    """(name, title, columns, rows) of each; a value is None, a number, or text."""
    connection = store.open_read_only(path)
    try:
        for name, (title, query, is_long) in TABLES.items():
            if names and name not in names:
                continue
            cursor = connection.execute(query, {"rows": rows} if is_long else {})
            yield name, title, [column[0] for column in cursor.description], [
                tuple(row) for row in cursor
            ]
    finally:
        connection.close()


def _cell(value, column):
    if value is None:
        return ""
    if isinstance(value, float):
        return "%.2f" % value + (" %" if column.endswith("%") else "")
    if isinstance(value, int):
        return format(value, ",")
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "?", value).replace("|", "\\|")


def _markdown(title, columns, rows):
    heads = [column.removesuffix(" %") for column in columns]
    numbers = [
        bool(rows) and all(row[i] is None or isinstance(row[i], (int, float)) for row in rows)
        for i in range(len(columns))
    ]
    lines = [
        "## " + title,
        "",
        "| " + " | ".join(heads) + " |",
        "| " + " | ".join("---:" if number else "---" for number in numbers) + " |",
    ]
    lines += [
        "| " + " | ".join(_cell(value, column) for value, column in zip(row, columns)) + " |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def text(path, names=None, rows=20, form="markdown"):
    """The tables, as `form` (markdown, json or csv)."""
    found = list(tables(path, names, rows))
    if form == "json":
        return (
            json.dumps(
                {
                    "tables": [
                        {"name": name, "title": title, "columns": columns, "rows": entries}
                        for name, title, columns, entries in found
                    ]
                },
                indent=1,
            )
            + "\n"
        )
    if form == "csv":
        out = io.StringIO()
        for name, _, columns, entries in found:
            csv.writer(out, lineterminator="\n").writerows(
                [["table", *columns], *([name, *entry] for entry in entries)]
            )
        return out.getvalue()
    return "\n".join(_markdown(title, columns, entries) for _, title, columns, entries in found)
