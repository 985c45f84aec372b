# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Command lines of the programs in Python, with help texts and errors like those of the others
(tools/common/include/sframe/tool/option_list.h).

    options = Options("sframe-sweep", version, Texts(summary="...", usage="sframe-sweep COMMAND [OPTIONS]", ...))
    options.positional("COMMAND", "run: ...", values=["run"])
    options.group("Common options")
    options.option("-o,--output", "Write to FILE", "FILE", common=True)
    options.help_options()
    if (text := options.text_asked_for(arguments)):      # --help, --help-all, --help-json, --version
        print(text, end="")
    arguments = options.parse_args(arguments)            # raises Wrong
"""
import argparse
import collections
import json
import re
import shutil
import textwrap

# Besides the options; the last three are pairs of a name, or a command, and what it means.
Texts = collections.namedtuple("Texts", "summary usage examples environment exit_codes")
COLUMNS = ("COLUMNS", "Width of help texts (default: that of the terminal, else 80)")


class Wrong(Exception):
    """Something is wrong with the command line: exit code 2."""


def edit_distance(one, other):
    """The fewest letters to insert, to remove and to replace."""
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one):
        last, row = row, [i + 1]
        for j, wanted in enumerate(other):
            row.append(min(last[j + 1] + 1, row[j] + 1, last[j] + (letter != wanted)))
    return row[-1]


def suggestion(typed, words):
    """As that of option_list.cc: at most a third of the letters is wrong, or a word goes on from
    them."""
    near = min(words, key=lambda word: edit_distance(typed, word), default="")
    if edit_distance(typed, near) > len(typed) // 3:
        near = (
            next((word for word in words if word.startswith(typed)), "") if len(typed) > 2 else ""
        )
    return "; did you mean %s?" % near if near else ""


class Options(argparse.ArgumentParser):
    """Options in groups; --help has those that are `common`, as wide as the terminal."""

    def __init__(self, program, version, texts):
        super().__init__(prog=program, add_help=False, allow_abbrev=False)
        self._version, self._texts = version, texts
        self._options = []  # as --help-json has them
        self._title = "Arguments"

    def positional(self, name, text, values=()):
        """For the texts only: its parser is added by add_argument()."""
        self._entry([name], text, values=list(values))

    def group(self, title):
        """The heading of the options that follow."""
        self._title = title

    def _entry(self, names, text, argument="", common=False, **more):
        self._options.append(
            {
                "names": names,
                "argument": argument,
                "optional": False,
                "values": [],
                "list": False,
                "repeatable": False,
                "group": self._title,
                "common": common,
                "text": text,
                **more,
            }
        )

    def option(self, flags, text, argument="", common=False, **how):
        """A flag, or with `argument` one with a value."""
        names = flags.split(",")
        self._entry(
            names,
            text,
            argument,
            common,
            values=list(how.get("choices", ())),
            optional="nargs" in how,
            repeatable=how.get("action") == "append",
        )
        if argument:
            how["metavar"] = argument
        self.add_argument(*names, **how)

    def error(self, message):
        wrong = re.match(
            r"unrecognized arguments: (--[\w-]+)|argument (\S+): invalid choice: '(.*?)'", message
        )
        if wrong and wrong[1]:
            message = (
                "unknown option "
                + wrong[1]
                + suggestion(
                    wrong[1], [name for option in self._options for name in option["names"]]
                )
            )
        elif wrong:
            values = next(
                option["values"]
                for option in self._options
                if wrong[2].split("/")[0] in option["names"]
            )
            message = "%s: '%s' is none of %s" % (
                wrong[2],
                wrong[3],
                ", ".join(values),
            ) + suggestion(wrong[3], values)
        raise Wrong(message + " (--help shows the options)")

    def help_text(self, every, width):
        """As wide as a terminal; without `every` the common options only."""
        second = min(28, width // 3)

        def wrapped(text, start, indent=0):
            return textwrap.fill(
                text,
                width,
                initial_indent=" " * start,
                subsequent_indent=" " * indent,
                break_on_hyphens=False,
                break_long_words=False,
            )[start:]

        def columns(left, right, second=second):
            first = "  " + left
            if not right:
                return first
            if len(first) + 2 > second:
                first += "\n"
            return (
                first
                + " " * (second - len(first.rpartition("\n")[2]))
                + wrapped(right, second, second)
            )

        def usage(option):
            value = "[=%s]" if option["optional"] else " %s"
            return ", ".join(option["names"]) + (
                value % option["argument"] if option["argument"] else ""
            )

        lines = [wrapped(self._texts.summary, 0), "Usage: " + self._texts.usage, ""]
        title = self._options[0]["group"]
        for option in self._options:
            if option["names"][0].startswith("-") and not (every or option["common"]):
                continue
            if option["group"] != title:
                title = option["group"]
                lines += ["", title + ":"]
            lines.append(columns(usage(option), option["text"]))
        for heading, terms in (
            (("Environment", self._texts.environment), ("Exit codes", self._texts.exit_codes))
            if every
            else ()
        ):
            lines += ["", heading + ":"] + [columns(*term) for term in terms]
        return (
            "\n".join(
                lines
                + ["", "EXAMPLES"]
                + [columns(*example, min(44, width // 2 + 4)) for example in self._texts.examples]
            )
            + "\n"
        )

    def help_json(self):
        def named(terms, key="name"):
            return [{key: name, "text": text} for name, text in terms]

        return (
            json.dumps(
                {
                    "program": self.prog,
                    "version": self._version,
                    "summary": self._texts.summary,
                    "usage": self._texts.usage,
                    "options": self._options,
                    "environment": named(self._texts.environment),
                    "exit_codes": named(self._texts.exit_codes),
                    "examples": named(self._texts.examples, "command"),
                },
                indent=1,
            )
            + "\n"
        )

    def help_options(self):
        """-h, --help-all, --help-json and --version."""
        self.option(
            "-h,--help", "Print the most used options and exit", common=True, action="store_true"
        )
        self.option(
            "--help-all",
            "Print all options, environment variables and exit codes",
            common=True,
            action="store_true",
        )
        self.option(
            "--help-json",
            "Print the options as JSON and exit (for completions)",
            action="store_true",
        )
        self.option("--version", "Print the version and exit", common=True, action="store_true")

    def text_asked_for(self, arguments):
        """What is to be printed instead of any work, whatever else the command line has; or
        None."""
        every = "--help-all" in arguments
        if every or "-h" in arguments or "--help" in arguments:
            return self.help_text(every, max(40, shutil.get_terminal_size().columns))
        if "--help-json" in arguments:
            return self.help_json()
        return "%s %s\n" % (self.prog, self._version) if "--version" in arguments else None
