"""Uses the page about a sweep as its readers do."""
import sys

import browser

ROW = ".grid-rows .grid-row"
FILES, PACKAGES, FINDINGS, TRENDS = (
    "[aria-labelledby=%s] " % name for name in ("files", "packages", "findings", "trends")
)

with browser.Browser() as page:
    page.open(sys.argv[1])
    assert page.run("return document.querySelectorAll('img, main script').length") == 0
    assert page.text(FILES + ".tools output") == "200 files"
    # The example of the first kind: an error.
    detail = page.text(FINDINGS + ".detail")
    assert (
        "K201" in detail and "push %rbx" in detail and "cfa=sp+16 ra=[cfa-8] fp=same" in detail
    ), detail
    # Sort files by code, largest first; a search; a link to the file.
    page.click(FILES + ".grid-head button", "Code, bytes")
    sizes = [
        int(text.replace(",", ""))
        for text in page.run(
            "return [...document.querySelectorAll(arguments[0])].map(row => row.children[3].textContent)",
            FILES + ROW,
        )
    ]
    assert len(sizes) > 5 and sizes == sorted(sizes, reverse=True), sizes
    page.type(FILES + "input[type=search]", "lib17.so")
    assert page.text(FILES + ".tools output") == "1 of 200 files"
    page.click(FILES + ROW)
    link = page.run("return location.hash")
    page.open(sys.argv[1], link)
    assert "lib17.so" in page.text(FILES + ".detail")
    # From a package to its files.
    page.type(PACKAGES + "input[type=search]", "package7")
    page.click(PACKAGES + ROW)
    page.click(PACKAGES + ".detail button", "Show its files")
    assert page.text(FILES + ".tools output") == "4 of 200 files", page.text(
        FILES + ".tools output"
    )
    # What changed: errors are new.
    assert page.text(TRENDS + ROW).startswith(("worse", "new")), page.text(TRENDS + ROW)
    page.check()
    # 100,000 rows: few of them exist, the last one can be reached, and found.
    page.run(
        """
        window.large = new Grid({label: "Large", noun: "row", rows: Array.from({length: 100000}, (_, i) => ({name: "name " + i, size: i * 7919 % 100003})),
          columns: [{title: "Name", value: row => row.name}, {title: "Size", value: row => row.size, right: true, width: "12ch"}]});
        large.element.id = "large";
        document.getElementById("main").replaceChildren(large.element);
        large.view.focus();"""
    )
    page.press("End")
    assert page.text("#large [aria-selected=true]").startswith("name 99999")
    assert page.run("return document.querySelectorAll('#large .grid-rows .grid-row').length") < 100
    page.click("#large .grid-head button", "Size")
    assert page.text("#large " + ROW + " :last-child") == str(
        max(i * 7919 % 100003 for i in range(100000))
    )
    page.type("#large input", "name 4242")
    found = sum("4242" in "%d %d" % (i, i * 7919 % 100003) for i in range(100000))
    assert page.text("#large output") == "%d of 100,000 rows" % found, page.text("#large output")
    page.resize(360, 640)
    page.check()
