"""browse_profile.py PAGE: of one sample, with die, called by second, innermost."""
import sys

import browser

BOXES = "[...document.querySelectorAll('.box')]"

with browser.Browser() as page:
    page.open(sys.argv[1])
    page.wait("document.querySelector('#tools')")
    labels = page.run("return %s.map(box => box.getAttribute('aria-label'))" % BOXES)
    assert (
        labels.count("recurse, 1 sample") == 4
        and "die, 1 sample" in labels
        and "all, 1 sample" in labels
    ), labels
    # As wide as the text of the page, and zoomed by a click.
    widths = page.run(
        "return %s.map(box => box.querySelector('rect').getBoundingClientRect().width)" % BOXES
    )
    main = page.run("return document.querySelector('#main').getBoundingClientRect().width")
    assert max(widths) <= main and max(widths) > main / 2, (widths, main)
    page.run(
        "%s.find(box => box.getAttribute('aria-label').startsWith('second,')).dispatchEvent(new MouseEvent('click'))"
        % BOXES
    )
    assert "second: 1 of 1 sample (100.0%)" in page.text("#panel [role=status]"), page.text(
        "#panel [role=status]"
    )
    # The functions, by their own samples.
    rows = page.run(
        "return [...document.querySelectorAll('.grid [role=row]')].map(row => row.textContent)"
    )
    assert any(row.startswith("die") and row.count("100 %") == 2 for row in rows), rows
    assert any(row.startswith("second") and "0 %" in row for row in rows), rows
    figures = page.text("#main .figures")
    assert "Samples" in figures and "Complete stacks" in figures and "100 %" in figures, figures
