"""Uses the pages about one file and about two as their readers do."""
import sys

import browser
import check_page

(file,) = check_page.load(sys.argv[1])[0]["files"]
(section,) = file["sections"]
ROW = ".grid-rows .grid-row"

with browser.Browser() as page:
    page.open(sys.argv[1])
    # The areas of the treemap are in the ratio of the bytes, and fill it.
    tiles = page.wait(
        "[...document.querySelectorAll('.treemap > div')].map(tile => [tile.title, parseFloat(tile.style.width) * parseFloat(tile.style.height)])"
    )
    total = sum(area for _, area in tiles)
    for label, key in (
        ("Index", "index"),
        ("Data words", "data_words"),
        ("Row starts", "row_starts"),
    ):
        area = next(area for title, area in tiles if title.startswith(label + ":"))
        assert (
            abs(area / total - section["stats"]["bytes"][key] / section["stats"]["bytes"]["total"])
            < 0.01
        ), tiles
    # The strip names the addresses under the pointer, and moves by keys.
    page.run("document.querySelector('[role=slider]').focus()")
    page.press("Right", "Right", "Left")
    part = file["maps"][0]
    assert page.run("return document.activeElement.getAttribute('aria-valuetext')").startswith(
        hex(int(part["start"], 16) + part["piece"])
    ), part
    # The largest functions: by bytes; a search; the details.
    sizes = page.run(
        "return [...document.querySelectorAll(arguments[0])].map(row => Number(row.children[2].textContent))",
        ROW,
    )
    assert len(sizes) > 3 and sizes == sorted(sizes, reverse=True), sizes
    one = max(section["largest"], key=lambda f: f["bytes"])
    page.type("input[type=search]", one["start"])
    page.click(ROW)
    assert one["start"] in page.text(".detail") and page.run("return location.hash").endswith(
        "function=0." + one["start"]
    )
    page.run("location.hash = ''")
    page.click("#contents a", "Coverage")
    page.wait("location.hash === '#coverage'")
    page.resize(360, 640)
    page.check()

    page.open(sys.argv[2])
    page.resize(1280, 900)
    assert page.run("return document.querySelectorAll('#files ~ * " + ROW + "').length") == 2
    page.click("[aria-label=Files] " + ROW, "v3-gas247.o")
    page.wait("document.querySelector('#overview').textContent.endsWith('v3-gas247.o')")
    page.check()
