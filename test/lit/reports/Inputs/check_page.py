"""check_page.py PAGE [JSON]: the page is well-formed, has one piece of data, and nothing in it
leads elsewhere. JSON: the output of --format=json for the same input, which the data must agree
with, apart from further keys."""
import html.parser
import json
import re
import sys

VOID = {"meta", "link", "input", "br"}
HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.scripts, self.styles, self.texts = [], [], 0, {}

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "srcset", "action", "data"), (tag, name)
            assert name != "href" or value.startswith(("#", "data:,")), (tag, value)
        if tag == "script":
            self.scripts.append([dict(attributes), ""])
        self.styles += tag == "style"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (self.open, tag)
        self.open.pop()

    def handle_data(self, text):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1] += text
        elif self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + text


def load(path):
    """The page's data and texts, after the checks."""
    with open(path, "rb") as file:
        text = file.read().decode()  # all of it is UTF-8
    found = HARMFUL.search(text)
    assert not found, text[max(0, found.start() - 60) : found.end() + 20]
    assert text.startswith("<!DOCTYPE html>\n") and text.endswith("</html>\n")
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open and page.styles == 1, (page.open, page.styles)
    assert [attributes for attributes, _ in page.scripts] == [
        {"type": "application/json", "id": "data"},
        {},
    ], page.scripts
    assert "default-src 'none'" in text and not re.search(
        r"https?://(?!www\.w3\.org/)", page.scripts[1][1]
    )
    data = page.scripts[0][1]
    assert not re.search("[<>&]", data)
    return json.loads(data), page.texts


def agree(page, plain, where=""):
    """All that `plain` has, `page` has, too."""
    if isinstance(plain, dict):
        for key, value in plain.items():
            assert key in page, (where, key)
            agree(page[key], value, where + "." + key)
    elif isinstance(plain, list):
        assert len(page) == len(plain), (where, len(page), len(plain))
        for number, (one, other) in enumerate(zip(page, plain)):
            agree(one, other, "%s[%d]" % (where, number))
    else:
        assert page == plain, (where, page, plain)


if __name__ == "__main__":
    data, texts = load(sys.argv[1])
    if len(sys.argv) > 2:
        with open(sys.argv[2]) as file:
            agree(data, json.load(file))
    print(texts["title"])
