"""The page about wrong.so has the instructions as they are in wrong.s, each cause, and SFrame's
rows where they change."""
import sys

import check_page

data, _ = check_page.load(sys.argv[1])
(file,) = data["files"]
late, high = (
    next(f for f in file["findings"] if f["id"] == kind and name in f["function"])
    for kind, name in (("K212", "late<"), ("K201", "high"))
)
assert late["function"] == "late</script><img src=x onerror=alert(1)>"
# After push, SP is 8 lower, but the row still has sp+8.
texts = [(line["text"], line.get("row"), line.get("here", False)) for line in late["instructions"]]
assert [text.split()[0] for text, _, _ in texts] == ["push", "mov", "lea", "pop", "ret"], texts
assert (
    texts[0][1] == "cfa=sp+8 ra=[cfa-8] fp=same"
    and texts[1][1] is None
    and texts[3][1] == "cfa=sp+16 ra=[cfa-8] fp=same"
), texts
assert [here for _, _, here in texts] == [False, True, False, False, False], texts
assert high["sframe"].startswith("cfa=sp+40") and high["code"].startswith("cfa=sp+32"), high
causes = {(c["id"], c["severity"], c["in_cfi"]): c["count"] for c in file["causes"]}
assert sum(causes.values()) == sum(
    file["summary"][key] for key in ("errors", "warnings", "notes")
), causes
assert ("K201", "error", True) in causes and all(
    c["shown"] == c["count"] for c in file["causes"]
), causes
assert data["checks"]["K201"]["title"] and data["most_of_a_kind"] == 300
