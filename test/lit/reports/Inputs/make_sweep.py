"""make_sweep.py DB FILES SEED: a database of sframe-sweep with so many files, by its schema; names
are made to harm."""
import json
import random
import sqlite3
import sys

from sframe_sweep import store

HARM = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u202e\x07{{data}}"


def make(path, files, seed, errors=True):
    source = random.Random(seed)
    store.Store(path).close()
    connection = sqlite3.connect(path)

    def insert(table, rows):
        rows = list(rows)
        if rows:
            connection.executemany(
                "INSERT INTO %s (%s) VALUES (%s)"
                % (
                    table,
                    ", ".join('"%s"' % name for name in rows[0]),
                    ", ".join("?" * len(rows[0])),
                ),
                [tuple(row.values()) for row in rows],
            )

    insert(
        "run",
        [
            dict(
                id="r1",
                host="builder",
                started="2026-01-02T03:04:05Z",
                finished="2026-01-02T04:04:05Z",
                shard="1/1",
                jobs=2,
                command="sframe-sweep run",
                programs="1.0",
                elapsed=3600.0,
            )
        ],
    )
    packages = max(1, files // 4)
    name = lambda number: "package%d" % number if number else "odd" + HARM
    insert(
        "package",
        (
            dict(
                id="%s_1.%d_amd64.deb" % (name(i), seed),
                name=name(i),
                version="1.%d" % seed,
                architecture="amd64",
                kind="deb",
                path="/mirror/%d" % i,
                state="failed" if i == 1 else "done",
                failure="damaged archive" if i == 1 else None,
                bytes=1000,
                unpacked_bytes=3000,
                members=5,
                elf_files=4,
                other_elf_files=0,
                debug_package=None,
                seconds=0.1,
            )
            for i in range(packages)
        ),
    )

    def one(i):
        code = source.randrange(2000, 2_000_000)
        cfi, bad, functions = code // 20, errors and i % 50 == 7, code // 300
        language = ("C", "C++", "Rust", "Go")[i % 4]
        return dict(
            id="%040x" % (seed * 10**9 + i),
            package="%s_1.%d_amd64.deb" % (name(i % packages), seed),
            path="usr/lib/lib%d.so" % i if i else "usr/bin/" + HARM,
            abi="amd64",
            kind="library",
            language=language,
            compiler={"Rust": "rustc 1.63", "Go": "Go 1.19"}.get(language, "GCC 12.2.0"),
            compiler_from=".comment",
            debug=0,
            state="measured",
            failure=None,
            file_bytes=3 * code,
            loaded_bytes=2 * code,
            eh_frame=cfi,
            eh_frame_hdr=cfi // 6,
            debug_frame=0,
            sframe_linked=0,
            executable_bytes=code,
            covered_bytes=code - code // 40,
            cfi_bytes=code - code // 50,
            covered_cfi_bytes=code - code // 40,
            sframe_unshared=cfi,
            sframe_shared=cfi - cfi // 5,
            sframe_optimized=cfi - cfi // 3,
            fdes=functions,
            rows=functions * 8,
            functions=functions,
            functions_partial=1,
            functions_left_out=2,
            agree=functions - 3 * bad,
            contradiction=3 * bad,
            contradiction_in_cfi=1 * bad,
            undecided=0,
            unreached=0,
            errors=2 * bad,
            warnings=1 * bad,
            notes=i % 9,
            addresses=code,
            gen_seconds=0.5,
            verify_seconds=1.0,
            seconds=i % 997 / 10,
            memory=1 << 26,
        )

    made = [one(i) for i in range(files)]
    insert("file", made)
    insert(
        "location",
        (dict(package=file["package"], path=file["path"], file=file["id"]) for file in made),
    )
    insert(
        "profile",
        (
            dict(
                file=file["id"],
                reader="linux",
                version=3,
                sframe=file["sframe_shared"],
                covered_bytes=file["covered_bytes"],
                covered_cfi_bytes=file["covered_cfi_bytes"],
                errors=0,
                warnings=0,
            )
            for file in made[:100]
        ),
    )
    insert(
        "reason",
        (dict(file=file["id"], reason="cfa-expression", count=2, bytes=64) for file in made[:100]),
    )
    wrong = [file for file in made if file["errors"]]
    for identity, severity, in_cfi, findings in (
        ("K201", "error", 0, 2),
        ("K201", "warning", 1, 1),
        ("R501", "note", 0, 5),
    ):
        insert(
            "finding_count",
            (
                dict(
                    file=file["id"],
                    profile="spec",
                    id=identity,
                    severity=severity,
                    in_cfi=in_cfi,
                    findings=findings,
                    functions=findings,
                )
                for file in wrong
            ),
        )
    evidence = {
        "function": "work",
        "start": "0x1000",
        "size": 12,
        "at": "0x1001",
        "instructions": [
            {"address": "0x1000", "text": "push %rbx"},
            {"address": "0x1001", "text": "mov %edi, %ebx"},
            {"address": "0x1003", "text": "ret"},
        ],
        "rows": [{"address": "0x1000", "cfa": "sp+8", "ra": "[cfa-8]", "fp": "same"}],
        "sframe": "cfa=sp+8 ra=[cfa-8] fp=same",
        "cfi": None,
        "code": "cfa=sp+16 ra=[cfa-8] fp=same",
    }
    insert(
        "finding",
        (
            dict(
                file=file["id"],
                profile="spec",
                id="K201",
                severity="error",
                in_cfi=0,
                number=0,
                function="work" + HARM,
                pc="0x1001",
                end="0x1003",
                message="the CFA rule sp+8 yields CFA-8",
                sframe=evidence["sframe"],
                cfi=None,
                code=evidence["code"],
                instruction="mov %edi, %ebx",
                source=None,
                evidence=json.dumps(evidence),
            )
            for file in wrong
        ),
    )
    example = {
        "function": "late+0x1",
        "lines": [
            {"address": "0x10", "instruction": "push %rbx", "cfi": "cfa=sp+8 ra=[cfa-8] fp=same"},
            {
                "address": "0x11",
                "instruction": "ret",
                "cfi": "cfa=sp+8 ra=[cfa-8] fp=same",
                "code": "cfa=sp+16 ra=[cfa-8] fp=same",
            },
        ],
    }
    insert(
        "wrong_cfi",
        (
            dict(
                file=file["id"],
                compiler=file["compiler"],
                pattern="the row changes late, after push (SP down): the CFA is too low",
                places=1,
                bytes=4,
                functions=1,
                example=json.dumps(example),
            )
            for file in wrong
        ),
    )
    connection.commit()
    connection.close()


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[3] != "2")
