"""browse_languages.py PAGE NEW: what runtimes of languages add to the page of sframe-unwind. Writes
NEW: the page about a core of crash.c, with the data that docs/json.md specifies for a Go program,
for Python and for a panic."""
import json
import re
import sys

import browser
import check_page

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
data = check_page.load(sys.argv[1])[0]
frame = lambda function: {
    "pc": "0x1000",
    "function": function,
    "offset": 16,
    "module": "/srv/app",
    "module_offset": 4096,
    "stepper": "cfi",
    "trust": "exact",
    "signal_frame": False,
}
tid = data["threads"][0]["tid"]
data["runtimes"] = [{"name": "Go", "version": "go1.19.8", "problem": None}]
data["crash"]["thrown"] = {
    "language": "Rust",
    "type": None,
    "message": "<b>index</b> out of bounds",
    "place": "src/main.rs:7:9",
    "trust": "exact",
}
data["crash"]["goroutine"] = 1
data["threads"][0]["python"] = {
    "holds_gil": True,
    "problem": None,
    "frames": [{"function": "Server.work", "file": "/srv/app.py", "line": 12}],
}
data["threads"][1]["python"] = {
    "holds_gil": False,
    "problem": "damaged",
    "frames": [{"function": "wait", "file": "/srv/queue.py", "line": 170}],
}
data["goroutines"] = [
    {
        "id": 1,
        "status": "running",
        "tid": tid,
        "start": {"pc": "0x900", "function": "runtime.main", "offset": 0},
    },
    {
        "id": 18,
        "status": "waiting",
        "wait_reason": "chan receive",
        "start": {"pc": "0x901"},
        "created_by": {"pc": "0x902", "function": "main.main", "offset": 103},
        "frames": [frame("runtime.gopark"), frame("main.worker")],
        "end": {"complete": False, "reason": "no memory"},
    },
]
with open(sys.argv[2], "w", encoding="utf-8") as file:
    escaped = json.dumps(data).replace("<", "\\u003c")
    file.write(
        re.sub(
            '(id="data">).*?(</script>)',
            lambda match: match[1] + escaped + match[2],
            text,
            flags=re.S,
        )
    )

STACK, PYTHON, GO = ("[aria-labelledby=%s] " % part for part in ("crashed", "python", "goroutines"))
ROW = ".grid-rows .grid-row"
with browser.Browser() as page:
    page.open(sys.argv[2])
    summary = page.text("[aria-labelledby=summary]")
    assert (
        "Panic: <b>index</b> out of bounds, at src/main.rs:7:9" in summary
        and "Go go1.19.8" in summary
    ), summary
    # The program's own function is chosen, and its caller named.
    assert (
        "Called by" in summary
        and "at %s:%d" % (data["crash"]["where"]["file"], data["crash"]["where"]["line"]) in summary
    ), summary
    stack = page.text(STACK)
    assert (
        "holds the global interpreter lock" in stack
        and "Server.work" in stack
        and "/srv/app.py:12" in stack
    ), stack
    page.click(PYTHON + ROW, "queue.py:170")
    detail = page.text(PYTHON + ".detail")
    assert "/srv/queue.py:170" in detail and "Ended early: damaged." in detail, detail
    # Goroutines: that of a thread has its frames; a link leads to one.
    rows = page.run(
        "return [...document.querySelectorAll('%s')].map(row => row.textContent)" % (GO + ROW)
    )
    assert (
        len(rows) == 2
        and "running" in rows[0]
        and "chan receive" in rows[1]
        and "main.worker" in rows[1]
        and "main.main" in rows[1]
    ), rows
    page.type(GO + "input[type=search]", "chan")
    page.click(GO + ROW, "main.worker")
    link = page.run("return location.hash")
    page.open(sys.argv[2], link)
    detail = page.text(GO + ".detail")
    assert all(
        part in detail
        for part in (
            "Goroutine 18",
            "runtime.gopark",
            "main.main + 0x67",
            "Ended early: no memory.",
        )
    ), detail
    page.resize(360, 640)
    page.check()
