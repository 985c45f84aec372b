"""Drives headless Chromium over WebDriver (https://www.w3.org/TR/webdriver2/), for tests of pages;
no package of Python's is needed.

    with Browser() as page:
        page.open("report.html")
        page.type("#search", "main")
        assert page.run("return document.title") == "..."

Any error or warning on the page's console, and any attempt to load something, fails the test: see
check().
"""
import base64
import http.client
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
]
KEYS = {
    name: chr(0xE000 + code)
    for name, code in {
        "Tab": 4,
        "Enter": 7,
        "Shift": 8,
        "Escape": 12,
        "PageUp": 14,
        "PageDown": 15,
        "End": 16,
        "Home": 17,
        "Left": 18,
        "Up": 19,
        "Right": 20,
        "Down": 21,
    }.items()
}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def works():
    """True if a browser can be started here."""
    try:
        with Browser() as page:
            return page.run("return 6 * 7") == 42
    except (OSError, RuntimeError, AssertionError):
        return False


class Browser:
    def __init__(self, width=1280, height=900):
        self.profile = tempfile.mkdtemp()
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for line in self.driver.stdout:
            started = re.search(r"successfully on port (\d+)", line)
            if started:
                break
        else:
            raise RuntimeError("chromedriver has not started")
        self.port = int(started.group(1))
        flags = FLAGS + ["--user-data-dir=" + self.profile, "--window-size=%d,%d" % (width, height)]
        capabilities = {
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"args": flags, "binary": shutil.which("chromium")},
        }
        try:
            self.session = self.call(
                "POST", "/session", {"capabilities": {"alwaysMatch": capabilities}}
            )["sessionId"]
            self.resize(width, height)
            self.dark(False)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *error):
        try:
            if not error[0]:
                self.check()
        finally:
            self.close()

    def close(self):
        try:
            if hasattr(self, "session"):
                self.call("DELETE", "/session/" + self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.request(
            method,
            path,
            None if body is None else json.dumps(body),
            {"Content-Type": "application/json"},
        )
        value = json.loads(connection.getresponse().read())["value"]
        connection.close()
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(value["error"] + ": " + value["message"].split("\n")[0])
        return value

    def command(self, path, body=None, method="POST"):
        return self.call(
            method,
            "/session/%s/%s" % (self.session, path),
            ({} if body is None else body) if method == "POST" else None,
        )

    def devtools(self, name, **parameters):
        return self.command("goog/cdp/execute", {"cmd": name, "params": parameters})

    def resize(self, width, height):
        """Of the page's area; also smaller than a window can be."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def dark(self, on=True):
        self.devtools(
            "Emulation.setEmulatedMedia",
            features=[
                {"name": "prefers-color-scheme", "value": "dark" if on else "light"},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ],
        )

    def open(self, path, fragment=""):
        self.command("url", {"url": "about:blank"})
        self.command("url", {"url": pathlib.Path(path).resolve().as_uri() + fragment})

    def run(self, script, *arguments):
        return self.command("execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, expression):
        """Until the expression is true; returns it."""
        end = time.monotonic() + 300  # only a test that fails sees the end of it
        while True:
            value = self.run("return " + expression)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError("never true: " + expression)
            time.sleep(0.02)

    def find(self, css, text=None):
        """The first element; with `text`: the first whose text contains it."""
        for element in self.command("elements", {"using": "css selector", "value": css}):
            if text is None or text in self.run("return arguments[0].textContent", element):
                return element
        raise AssertionError("no element %s %s" % (css, text or ""))

    def text(self, css):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? null", css)

    def click(self, css, text=None):
        element = self.find(css, text)
        self.run(
            "arguments[0].scrollIntoView({block: 'center'})", element
        )  # not below what stays at the top
        self.command("element/%s/click" % element[ELEMENT])

    def type(self, css, text):
        self.command("element/%s/value" % self.find(css)[ELEMENT], {"text": text})

    def press(self, *names):
        """Keys, at the element that has the focus."""
        actions = [
            {"type": kind, "value": KEYS.get(name, name)}
            for name in names
            for kind in ("keyDown", "keyUp")
        ]
        self.command("actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def screenshot(self, path, whole=False):
        picture = self.devtools("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(picture))

    def check(self):
        """No message on the console, nothing loaded but the page itself, no part wider than the
        page."""
        messages = [entry["message"] for entry in self.command("se/log", {"type": "browser"})]
        assert not messages, messages
        loaded = self.run(
            "return performance.getEntriesByType('resource').map(entry => entry.name).filter(name => !name.startsWith('data:'))"
        )
        assert not loaded, loaded
        sizes = self.run("return [document.documentElement.scrollWidth, innerWidth]")
        assert sizes[0] <= sizes[1] + 1, "wider than the page: %s" % sizes
