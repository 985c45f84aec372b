"""browse_flame_graph.py PROGRAM SVG: one sample of live.c, whose threads are named after what they
do: one spins, the others wait; each is in inner_NAME, called by outer_NAME."""
import subprocess
import sys

import browser
import stopped

program, svg = sys.argv[1:]
process = subprocess.Popen([program, "threads"], stdout=subprocess.PIPE)
try:
    assert process.stdout.readline() == b"ready\n"
    stopped.wait_until_stopped(process.pid)
    subprocess.run(
        ["sframe-unwind", "--pid", str(process.pid), "--format=svg", "-o", svg], check=True
    )
finally:
    process.kill()
    process.wait()

BOXES = "[...document.querySelectorAll('.box')]"


def box(page, name):
    """The width of the widest box of that name; 0 if there is none."""
    return page.run(
        "return Math.max(0, ...%s.filter(box => box.getAttribute('aria-label').startsWith(arguments[0] + ','))"
        ".map(box => box.querySelector('rect').getBoundingClientRect().width))" % BOXES,
        name,
    )


def y(page, name):
    return page.run(
        "return %s.find(box => box.getAttribute('aria-label').startsWith(arguments[0] + ',')).getBoundingClientRect().y"
        % BOXES,
        name,
    )


with browser.Browser() as page:
    page.open(svg)
    page.wait("document.querySelector('#tools')")
    whole = box(page, "all")
    assert "6 stacks in 1 sample" in page.text("#panel h1"), page.text("#panel h1")
    assert abs(box(page, "outer_spin") - whole / 6) < 2 and y(page, "outer_spin") > y(
        page, "inner_spin"
    ), (whole, box(page, "outer_spin"))
    # Search marks boxes, and gives their share.
    page.click("#search")
    page.press(*"INNER_")
    assert page.run("return document.querySelectorAll('.box.found').length") == 5
    assert "matched: 5 (83.3%)" in page.text("[role=status]"), page.text("[role=status]")
    page.run(
        "const box = document.querySelector('#search'); box.value = ''; box.dispatchEvent(new Event('input'))"
    )
    # Zoom: the box has the whole width, and the others are gone; Escape zooms out.
    page.run(
        "%s.find(box => box.getAttribute('aria-label').startsWith('outer_read,')).dispatchEvent(new MouseEvent('click'))"
        % BOXES
    )
    assert abs(box(page, "inner_read") - whole) < 2 and box(page, "inner_spin") == 0
    page.press("Escape")
    assert abs(box(page, "inner_read") - whole / 6) < 2
    # Keys go from box to box: the root, the largest thread, and one beside it.
    page.press("Up", "Right", "Enter")
    assert (
        page.run("return document.querySelectorAll('.box.chosen').length") == 1
        and box(page, "all") == whole
    )
    page.press("Escape")
    # Callers below what they called, drawn downwards.
    page.click("#tools button", "Reverse")
    assert (
        page.run("return document.querySelector('#tools [aria-pressed=true]').textContent")
        == "Reverse"
    )
    assert y(page, "outer_spin") > y(page, "inner_spin") and box(page, "spin") == 0
    page.click("#tools button", "Reverse")
    # One thread; only what runs.
    page.run(
        "const list = document.querySelector('select'); list.value = 'futex'; list.dispatchEvent(new Event('change'))"
    )
    assert abs(box(page, "inner_futex") - whole) < 2 and box(page, "inner_spin") == 0
    page.run(
        "const list = document.querySelector('select'); list.value = ''; list.dispatchEvent(new Event('change'))"
    )
    page.click("#tools button", "Only running")
    assert (
        "1 stack in 1 sample" in page.text("#panel h1")
        and abs(box(page, "inner_spin") - whole) < 2
        and box(page, "inner_futex") == 0
    )
    page.resize(360, 640)
    page.run("dispatchEvent(new Event('resize'))")
    page.check()
