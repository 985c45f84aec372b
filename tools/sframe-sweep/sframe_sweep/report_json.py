# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the reports of sframe-gen and sframe-verify (docs/json.md). A report may be larger than
memory should be: its long array is read one object at a time."""
import json
import re

CHUNK = 1 << 18
MAX_OBJECT = 64 << 20


class Unreadable(Exception):
    """The report is not what the program documents."""


class Report:
    """The objects of an array of a report, and then what stands around it."""

    def __init__(self, path, array):
        self._file, self._array, self._buffer = (
            open(path, encoding="utf-8", errors="replace"),
            array,
            "",
        )
        self._around = ""

    def _more(self):
        data = self._file.read(CHUNK)
        self._buffer += data
        if len(self._buffer) > MAX_OBJECT:
            raise Unreadable("a report with an object of more than %d characters" % MAX_OBJECT)
        return bool(data)

    def objects(self):
        """Reads up to the array and through it. It ends at once if there is no such array."""
        key = '"%s": [' % self._array
        decoder, space = json.JSONDecoder(), re.compile(r"[\s,]*")
        while (at := self._buffer.find(key)) < 0:
            if not self._more():
                return
        self._around = self._buffer[: at + len(key)]
        at += len(key)
        while True:
            at = space.match(self._buffer, at).end()
            if self._buffer.startswith("]", at):
                self._buffer = self._buffer[at:]
                return
            try:
                entry, at = decoder.raw_decode(self._buffer, at)
            except ValueError:
                self._buffer, at = self._buffer[at:], 0
                if not self._more():
                    raise Unreadable("a report that ends early") from None
                continue
            yield entry

    def rest(self):
        """The whole report, with an empty array."""
        for _ in self.objects() if not self._around else ():
            pass
        while self._more():
            pass
        self._file.close()
        try:
            return json.loads(self._around + self._buffer)
        except ValueError as error:
            raise Unreadable("a report that is not JSON: %s" % error) from None


def load(path):
    """A short report."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return json.loads(file.read(MAX_OBJECT))
    except ValueError as error:
        raise Unreadable("a report that is not JSON: %s" % error) from None
