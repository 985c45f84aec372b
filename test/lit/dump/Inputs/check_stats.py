# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_stats.py STATS DUMP: the numbers of --stats, worked out again from the dump of the same
# files.
import json
import sys

WORDS = {"word1": 1, "word2": 2, "word4": 4}
ENTRY = {1: 17, 2: 20, 3: 16}
ATTRIBUTES = {1: 0, 2: 0, 3: 5}


def check(stats, dump):
    functions = dump["functions"]
    rows = [row for function in functions for row in function["rows"]]
    assert stats["functions"] == len(functions)
    assert stats["rows"] == len(rows)
    assert stats["max_rows"] == max((len(function["rows"]) for function in functions), default=0)
    assert stats["pcmask_functions"] == sum(function["pc_type"] == "mask" for function in functions)
    assert stats["signal_functions"] == sum(function["signal"] for function in functions)
    assert stats["outermost_rows"] == sum(row["ra"] == "undefined" for row in rows)
    for kind in ("addr1", "addr2", "addr4"):
        of_kind = [function for function in functions if function["fre_type"] == kind]
        assert stats["encodings"][kind]["functions"] == len(of_kind)
        assert stats["encodings"][kind]["rows"] == sum(
            len(function["rows"]) for function in of_kind
        )
    for kind in ("default", "flex"):
        of_kind = [function for function in functions if function["fde_type"] == kind]
        assert stats["encodings"][kind]["functions"] == len(of_kind)
        assert stats["encodings"][kind]["rows"] == sum(
            len(function["rows"]) for function in of_kind
        )
    assert stats["functions_without_rows"] == sum(not function["rows"] for function in functions)
    assert stats["key_b_functions"] == sum(function["pauth_key"] == "b" for function in functions)
    assert sum(stats["encodings"][word]["rows"] for word in WORDS) == len(rows)
    assert stats["data_words"] == sum(
        stats["encodings"][word]["bytes"] // size for word, size in WORDS.items()
    )
    sizes = stats["bytes"]
    assert sizes["header"] == 28 and sizes["aux_header"] == dump["aux_header_size"]
    assert sizes["index"] == len(functions) * ENTRY[dump["version"]]
    assert (
        sum(value for key, value in sizes.items() if key != "total")
        == sizes["total"]
        == dump["size"]
    )
    starts = {"addr1": 2, "addr2": 3, "addr4": 5}
    row_bytes = sum(len(function["rows"]) * starts[function["fre_type"]] for function in functions)
    assert stats["stored_rows"] <= len(rows) and (stats["stored_rows"] == len(rows)) == (
        stats["shared_bytes"] == 0
    )
    row_bytes += (
        sum(stats["encodings"][word]["bytes"] for word in WORDS)
        + len(functions) * ATTRIBUTES[dump["version"]]
    )
    assert (
        stats["row_bytes"]
        == row_bytes
        == sizes["attributes"] + sizes["row_starts"] + sizes["data_words"] + stats["shared_bytes"]
    )
    for kinds in (starts, ("default", "flex")):
        assert sum(stats["encodings"][kind]["bytes"] for kind in kinds) == row_bytes
    assert (
        row_bytes <= stats["max_row_bytes"] * len(functions) and stats["max_row_bytes"] <= row_bytes
    )


def main():
    stats, dump = (json.load(open(path))["files"] for path in sys.argv[1:])
    assert [file["path"] for file in stats] == [file["path"] for file in dump]
    seen = 0
    for stats_file, dump_file in zip(stats, dump):
        for stats_section, dump_section in zip(stats_file["sections"], dump_file["sections"]):
            if "functions" in dump_section and "error" not in dump_section:
                check(stats_section["stats"], dump_section)
                seen += 1
        if "stats" in stats_file:
            assert stats_file["stats"]["covered_bytes"] <= stats_file["stats"]["executable_bytes"]
    assert seen > 50, seen


main()
