"""The parts of each section in the results of scripts/measure-size add up to its size; rows have
the sizes that the specification gives them."""
import json
import sys

for line in open(sys.argv[1]):
    result = json.loads(line)
    assert "failed" not in result
    assert (
        result["sizes"]["V3, smallest"] <= result["sizes"]["V3, 40 rows"] <= result["sizes"]["V3"]
    )
    for kind, causes in result["causes"].items():
        assert (
            sum(value for name, value in causes.items() if "(number)" not in name)
            == result["sizes"][kind]
        )
        assert causes["index"] == 16 * causes["FDEs (number)"]
        assert (
            causes["info bytes of rows"]
            == causes["rows stored (number)"]
            <= causes["rows (number)"]
        )
    assert (
        result["causes"]["V3, not shared"]["attributes"]
        == 5 * result["causes"]["V3, not shared"]["FDEs (number)"]
    )
