"""Uses the page about wrong.so as its readers do."""
import sys

import browser
import check_page

data = check_page.load(sys.argv[1])[0]
findings = data["files"][0]["findings"]
ROW = ".grid-rows .grid-row"
CHOSEN = ROW + "[aria-selected=true]"

with browser.Browser() as page:
    page.open(sys.argv[1])
    # Names are text: no element of theirs, no script was run.
    assert page.run("return document.querySelectorAll('img, main script').length") == 0
    # The title says the result; below it are version, command, file and build ID.
    errors = sum(f["severity"] == "error" for f in findings)
    assert (
        page.text("h1")
        == page.run("return document.title")
        == "FAILED: %d errors in wrong.so" % errors
    ), page.text("h1")
    about = page.text(".about")
    assert (
        data["files"][0]["build_id"] in about
        and "sframe-verify wrong.so --format=html --compiler=error" in about
        and data["version"] in about
    ), about
    assert page.text(".tools output") == "%d findings" % len(findings)
    # The first one is chosen: an error. Its evidence stands side by side, and what differs is
    # marked.
    assert page.text(".detail .tag") == "error"
    assert page.run(
        "return [...document.querySelectorAll('.detail th')].map(cell => cell.textContent)"
    ) == ["", "SFrame", "CFI", "Machine code"]
    assert page.run("return document.querySelectorAll('.detail td.differs').length") > 0
    # Search, in any case and any order of the words.
    page.type("input[type=search]", "k201 HIGH")
    number = sum("high" == f["function"] and f["id"] == "K201" for f in findings)
    assert page.text(".tools output") == "%d of %d findings" % (number, len(findings)), page.text(
        ".tools output"
    )
    page.click(ROW)
    page.wait("document.querySelector('.detail').textContent.includes('sub $0x18, %rsp')")
    link = page.run("return location.hash")
    assert link.startswith("#finding="), link
    page.run(
        "const box = document.querySelector('input[type=search]'); box.value = ''; box.dispatchEvent(new Event('input'))"
    )
    # Sort by function, down; then a key.
    page.click(".grid-head button", "Function")
    page.click(".grid-head button", "Function")
    names = page.run(
        "return [...document.querySelectorAll(arguments[0])].map(row => row.children[2].textContent)",
        ROW,
    )
    assert names == sorted(names, reverse=True) and len(set(names)) > 1, names
    assert page.run("return document.querySelectorAll('[aria-sort=descending]').length") == 1
    page.run("document.querySelector('.grid').focus()")
    page.press("End")
    assert page.run(
        "return document.querySelector(arguments[0]).getAttribute('aria-rowindex')", CHOSEN
    ) == str(len(findings) + 1)
    page.press("Home", "Down")
    assert page.run(
        "return document.querySelector('.grid').getAttribute('aria-activedescendant') === document.querySelector(arguments[0]).id",
        CHOSEN,
    )
    # A cause limits the table.
    page.click(".causes button", "K201")
    assert page.run(
        "return [...document.querySelectorAll(arguments[0])].every(row => row.children[1].textContent === 'K201')",
        ROW,
    )
    page.click("button", "Show all findings")
    assert page.text(".tools output") == "%d findings" % len(findings)
    # So does a severity; titles stand beside the IDs.
    for severity in ("note", "error"):
        number = sum(f["severity"] == severity for f in findings)
        page.click(".filters button", severity + "s %d" % number)
        assert page.text(".tools output") == (
            "%d of %d findings" % (number, len(findings))
            if number < len(findings)
            else "%d findings" % number
        ), page.text(".tools output")
        assert (
            page.run(
                "return document.querySelector('.filters [aria-pressed=true]').dataset.severity"
            )
            == severity
        )
    page.click(".filters button", "errors")
    assert page.text(".tools output") == "%d findings" % len(findings)
    first = page.run(
        "return [...document.querySelectorAll(arguments[0])].map(row => [row.children[1].textContent, row.children[3].textContent])",
        ROW,
    )
    assert all(data["checks"][kind]["title"] == title for kind, title in first), first
    # A link leads to the finding.
    page.open(sys.argv[1], link)
    assert "high" in page.text(CHOSEN) and "sub $0x18, %rsp" in page.text(".detail")
    # Colours: as the system's, and by the button.
    back = "return getComputedStyle(document.body).backgroundColor"
    light = page.run(back)
    page.dark()
    dark = page.run(back)
    assert dark != light
    page.click("#theme")
    assert page.run(back) == light
    page.check()
    # Narrow: nothing is wider than the screen; a choice leads to the details, and back.
    page.resize(360, 640)
    page.check()
    page.run("document.querySelector('.grid').scrollIntoView()")
    page.click(ROW)
    page.wait("document.activeElement.classList.contains('detail')")
    page.click(".back")
    page.wait("document.activeElement.classList.contains('grid')")
