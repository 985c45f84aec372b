# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports: text for people, JSON, JUnit and SARIF for programs. The same results give the same
bytes."""
import json
import xml.sax.saxutils

from .results import FAILED, KNOWN, LEFT_OUT, PASSED, UNSUPPORTED, VERDICTS

MOST_SHOWN = 3  # faults of a case, as text


def counts(results):
    return {
        verdict.replace("-", "_"): sum(result.verdict == verdict for result in results)
        for verdict in VERDICTS
    }


def printable(text):
    return "".join(c if c.isprintable() else "\\x%02x" % ord(c) for c in text)


def counted(number, one, several):
    return "%d %s" % (number, one if number == 1 else several)


def as_text(kit, subject, results, stale, is_verbose):
    lines = []
    width = max((len(result.name) for result in results), default=0)
    for result in results:
        if result.verdict in (FAILED, LEFT_OUT) or is_verbose:
            lines.append(
                "%-*s  %s" % (width, result.name, result.verdict)
                + ("" if not result.reason else ": " + result.reason)
            )
        if result.verdict == FAILED or (is_verbose and result.verdict in (KNOWN, LEFT_OUT)):
            faults = result.faults or result.details
            lines += ["    " + printable(detail.text()) for detail in faults[:MOST_SHOWN]]
            if len(faults) > MOST_SHOWN:
                lines.append("    and %d more" % (len(faults) - MOST_SHOWN))
            if result.about:
                lines.append(
                    "    "
                    + (
                        "by section %s of the specification; " % result.spec
                        if kit == "readers"
                        else ""
                    )
                    + result.about
                )
    lines += ["known, but right: " + pattern for pattern in stale]
    number = counts(results)
    places = sum(len(result.details) for result in results)
    lines.append(
        "%s: %s, %s: %d passed, %d failed, %d known to fail, %d unsupported, %d left out"
        % (
            printable(subject),
            counted(len(results), "case", "cases"),
            counted(
                places,
                *(("question", "questions") if kit == "readers" else ("address", "addresses"))
            ),
            number[PASSED],
            number[FAILED],
            number[KNOWN],
            number[UNSUPPORTED],
            number["left_out"],
        )
    )
    lines.append("FAILED" if number[FAILED] else "PASSED")
    return "\n".join(lines) + "\n"


def as_json(kit, subject, results, stale, version):
    return (
        json.dumps(
            {
                "program": "sframe-conformance",
                "version": version,
                "kit": kit,
                "subject": subject,
                "summary": {"cases": len(results), **counts(results)},
                "known_but_right": stale,
                "cases": [
                    {
                        "name": r.name,
                        "about": r.about,
                        "spec": r.spec,
                        "verdict": r.verdict,
                        "reason": r.reason,
                        "details": [
                            {
                                "place": d.place,
                                "right": d.wanted,
                                "given": d.given,
                                "is_wrong": d.is_wrong,
                            }
                            for d in r.details
                        ],
                    }
                    for r in results
                ],
            },
            indent=1,
        )
        + "\n"
    )


def as_junit(kit, subject, results):
    def quoted(text):
        return xml.sax.saxutils.quoteattr(printable(text))

    number = counts(results)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<testsuites><testsuite name=%s tests="%d" failures="%d" errors="0" skipped="%d">'
        % (
            quoted("sframe-conformance %s: %s" % (kit, subject)),
            len(results),
            number[FAILED],
            len(results) - number[FAILED] - number[PASSED],
        ),
    ]
    for result in results:
        lines.append(
            '<testcase classname="sframe-conformance.%s" name=%s>' % (kit, quoted(result.name))
        )
        text = "; ".join(detail.text() for detail in result.faults)
        if result.verdict == FAILED:
            lines.append("<failure message=%s/>" % quoted(text))
        elif result.verdict != PASSED:
            lines.append("<skipped message=%s/>" % quoted(result.reason or result.verdict))
        lines.append("</testcase>")
    return "\n".join(lines + ["</testsuite></testsuites>"]) + "\n"


def as_sarif(kit, subject, results, version):
    names = sorted({result.name.split("/")[0] for result in results})
    about = {result.name.split("/")[0]: (result.about, result.spec) for result in results}
    levels = {FAILED: "error", KNOWN: "note", LEFT_OUT: "warning", UNSUPPORTED: "note"}
    return (
        json.dumps(
            {
                "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
                "version": "2.1.0",
                "runs": [
                    {
                        "tool": {
                            "driver": {
                                "name": "sframe-conformance",
                                "version": version,
                                "rules": [
                                    {
                                        "id": "%s/%s" % (kit, name),
                                        "shortDescription": {"text": about[name][0]},
                                        "help": {"text": "SFrame specification: " + about[name][1]},
                                    }
                                    for name in names
                                ],
                            }
                        },
                        "results": [
                            {
                                "ruleId": "%s/%s" % (kit, r.name.split("/")[0]),
                                "level": levels[r.verdict],
                                "message": {
                                    "text": "%s: %s%s"
                                    % (
                                        r.name,
                                        r.reason + ": " if r.reason else "",
                                        "; ".join(d.text() for d in r.faults) or r.verdict,
                                    )
                                },
                                "locations": [
                                    {
                                        "physicalLocation": {
                                            "artifactLocation": {"uri": subject.replace(" ", "%20")}
                                        }
                                    }
                                ],
                            }
                            for r in results
                            if r.verdict != PASSED
                        ],
                    }
                ],
            },
            indent=1,
        )
        + "\n"
    )
