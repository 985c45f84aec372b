# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# mutate.py IMAGE SECTION ADDRESS: changes one field of one row at a time in a raw section (version
# 2 or 3, default FDE type) that belongs to IMAGE at ADDRESS, and asks sframe-verify. It must find
# the change, with the right identifier, at exactly the addresses of the row, and nothing else that
# it did not find in the section as it was. Reads the section by itself.
import json
import os
import subprocess
import sys
import tempfile

from section_fields import SectionFields

image, section_path, address = sys.argv[1], sys.argv[2], int(sys.argv[3], 16)
data = open(section_path, "rb").read()
fields = SectionFields(data, address)
add, fixed_ra, signs = fields.add, fields.fixed_ra, fields.signs


def findings(section):
    with tempfile.NamedTemporaryFile(delete=False) as file:
        file.write(section)
    run = subprocess.run(
        [
            "sframe-verify",
            "--check=cfi",
            "--format=json",
            "--sframe",
            file.name,
            "--sframe-address",
            hex(address),
            image,
        ],
        capture_output=True,
        text=True,
    )
    os.unlink(file.name)
    assert run.returncode in (0, 1), run.stderr
    report = json.loads(run.stdout)["files"][0]
    contradictions = report["summary"]["contradiction"]
    assert run.returncode == (1 if report["summary"]["errors"] else 0)
    return {
        (f["id"], int(f["pc"], 16), int(f["end"], 16))
        for f in report["findings"]
        if f["severity"] == "error"
    }, contradictions


before, _ = findings(data)
mutations = 0


def expect(patched, what, *ids):
    global mutations
    mutations += 1
    after, contradictions = findings(bytes(patched))
    wanted = {(name, begin, end) for name in ids}
    assert after - before == wanted, "%s at %#x-%#x: found %s instead of %s" % (
        what,
        begin,
        end,
        sorted(after - before),
        sorted(wanted),
    )
    assert contradictions >= 1


for function in fields.functions():
    start, size, block, info_at = (function[key] for key in ("start", "size", "block", "info"))
    rows = [(offset, at) for offset, at, _ in function["rows"]]
    touched = any(start <= pc < start + size for _, pc, _ in before)
    signed = any(data[at] >> 7 for _, at in rows)
    if touched or not size:
        continue  # a row that is wrong already may become right, or more wrong
    for number, (offset, at) in enumerate(rows):
        words, width = data[at] >> 1 & 15, 1 << (data[at] >> 5 & 3)
        if not words:
            continue
        begin = start + offset
        end = start + (rows[number + 1][0] if number + 1 < len(rows) else block or size)
        patched = bytearray(data)
        add(patched, at + 1, width, 1)
        expect(patched, "CFA offset", "C102")
        patched = bytearray(data)
        patched[at] ^= 1
        expect(patched, "CFA base", "C101")
        places = ["C104"] if fixed_ra else ["C103", "C104"]
        for word in range(1, words):
            value = data[at + 1 + word * width : at + 1 + (word + 1) * width]
            if not any(value):
                continue  # a padding word
            patched = bytearray(data)
            add(patched, at + 1 + word * width, width, -16)
            expect(patched, "slot", places[word - 1])
        if signs:
            patched = bytearray(data)
            patched[at] ^= 0x80
            expect(patched, "signed", "C106")
    if signed:
        runs = [
            (offset, rows[i + 1][0] if i + 1 < len(rows) else size)
            for i, (offset, at) in enumerate(rows)
            if data[at] >> 7
        ]
        assert all(a[1] == b[0] for a, b in zip(runs, runs[1:]))
        begin, end = start + runs[0][0], start + runs[-1][1]
        patched = bytearray(data)
        patched[info_at] ^= 0x20
        expect(patched, "key", "C106")
print("%d mutations found" % mutations)
assert mutations
