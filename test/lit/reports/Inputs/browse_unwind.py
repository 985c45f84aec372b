"""Uses the page about a core of crash.c as its readers do."""
import sys

import browser
import check_page

data = check_page.load(sys.argv[1])[0]
STACK, TREE = "[aria-labelledby=crashed] ", "[aria-labelledby=threads] "
ROW = ".grid-rows .grid-row"

with browser.Browser() as page:
    page.open(sys.argv[1])
    assert page.text(".notice.bad").startswith("SIGSEGV, SEGV_MAPERR: write to 0x8, not mapped")
    assert page.text("h1") == "crash: SIGSEGV, write through a null pointer in work", page.text(
        "h1"
    )
    head = page.text(".about")
    assert "Core " in head and "Build ID " in head, head
    # Inlined calls have rows, before that of their frame.
    first = page.run(
        "return [...document.querySelectorAll('%s')].slice(0, 2).map(row => row.textContent)"
        % (STACK + ROW)
    )
    assert first[0].startswith("inlinedwork") and first[1].startswith("0middle"), first
    # The first frame is chosen: registers, and the source of the inlined call.
    detail = page.text(STACK + ".detail")
    assert "Inlined: work" in detail and "*where = depth;" in detail, detail
    assert data["threads"][0]["frames"][0]["registers"]["rsp"] in detail
    # Search, and a link to a frame.
    page.type(STACK + "input[type=search]", "main")
    page.click(STACK + ROW, "main")
    link = page.run("return location.hash")
    page.open(sys.argv[1], link)
    assert "main" in page.text(
        STACK + ROW + "[aria-selected=true]"
    ) and "recurse(argc > 1 ? 2000 : 5)" in page.text(STACK + ".detail")
    # The tree: four threads share their frames; a branch closes and opens by keys.
    lines = "return [...document.querySelectorAll('%s')].map(row => row.textContent)" % (TREE + ROW)
    shared = [line for line in page.run(lines) if "wait_here" in line]
    assert len(shared) == 1 and shared[0].startswith("4"), shared
    page.click(TREE + ROW, "wait_here")
    assert page.run("return document.querySelectorAll('%s option').length" % TREE) == 4
    before = len(page.run(lines))
    page.run("document.querySelector('%s.grid').focus()" % TREE)
    page.press("Left")
    assert len(page.run(lines)) < before
    assert (
        page.run(
            "return document.querySelector('%s[aria-selected=true]').getAttribute('aria-expanded')"
            % TREE
        )
        == "false"
    )
    page.press("Right")
    assert len(page.run(lines)) == before
    page.press("Down")
    assert "wait_here" not in page.text(TREE + "[aria-selected=true]")
    assert "crash" in page.text("[aria-labelledby=modules] " + ROW)
    page.resize(360, 640)
    page.check()
