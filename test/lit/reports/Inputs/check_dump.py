"""check_dump.py PAGE JSON: what the page adds to the statistics, computed again from the functions
and ranges in the JSON of all functions."""
import json
import sys

import check_page

data, _ = check_page.load(sys.argv[1])
with open(sys.argv[2]) as file:
    functions = json.load(file)["files"][0]["sections"][0]["functions"]
(file,) = data["files"]
(section,) = file["sections"]
assert section["not_listed"] == 0
assert [(f["start"], f["size"], f["rows"]) for f in section["largest"]] == [
    (f["start"], f["size"], len(f["rows"])) for f in functions
]
for group in section["rows_per_function"]:
    assert group["functions"] == sum(
        group["from"] <= len(f["rows"]) <= group["to"] for f in functions
    ), group
assert sum(group["functions"] for group in section["rows_per_function"]) == len(functions)

# Every byte of each piece.
described = {
    address
    for f in functions
    for address in range(int(f["start"], 16), int(f["start"], 16) + f["size"])
}
covered = only_cfi = 0
for part in file["maps"]:
    start = int(part["start"], 16)
    for number, bytes_covered in enumerate(part["covered"]):
        first = start + number * part["piece"]
        addresses = range(first, min(first + part["piece"], start + part["size"]))
        assert bytes_covered == sum(address in described for address in addresses), (
            part["section"],
            number,
        )
        assert bytes_covered + part["with_cfi_only"][number] <= len(addresses)
    assert len(part["covered"]) == len(part["with_cfi_only"]) == -(-part["size"] // part["piece"])
    covered += sum(part["covered"])
    only_cfi += sum(part["with_cfi_only"])
assert (
    covered == file["stats"]["covered_bytes"]
    and only_cfi == file["stats"]["cfi_bytes"] - file["stats"]["covered_cfi_bytes"]
)
# The data of many files stays small: it is not indented.
with open(sys.argv[1]) as page:
    assert "\n  " not in page.read().partition(' id="data">')[2].partition("</script>")[0]
assert {part["section"] for part in file["maps"]} >= {".text", ".plt"} and file[
    "maps_left_out"
] == 0
