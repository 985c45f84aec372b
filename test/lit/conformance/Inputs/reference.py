"""reference.py CONFORMANCE: the reader that is written as the specification has it,
sframe_conformance/reader.py, gives the answers that descriptions give. All cases but those about
cost, in one process."""
import sys

sys.path.insert(0, sys.argv[1])
from sframe_conformance import harness, reader, readers, results  # noqa: E402
from sframe_conformance.builder import build  # noqa: E402
from sframe_conformance.rules import Answer  # noqa: E402


def ask(case):
    try:
        section = reader.Section(build(case), case.address)
    except reader.Malformed:
        return [Answer("reject")] * len(case.questions)
    found = []
    for question in case.questions:
        try:
            found.append(section.find(question.pc))
        except reader.Malformed:
            found.append(Answer("reject"))
    return found


count = failed = 0
for case in readers.load(sys.argv[1] + "/readers/cases"):
    if case.name.startswith(("cost-", "rows-1", "rows-6")):
        continue
    result = readers.check(case, harness.Outcome(ask(case)))
    count += 1
    if result.verdict != results.PASSED:
        failed += 1
        print(
            case.name,
            *(detail.text() for detail in result.details if detail.is_wrong),
            sep="\n    "
        )
print("%d cases, %d failed" % (count, failed))
