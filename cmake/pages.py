#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a program's man page and its completions for bash, zsh and fish from what --help-json
prints, so that the options have one source.

    pages.py PROGRAM DIR      writes DIR/man1/NAME.1, bash/NAME, zsh/_NAME, fish/NAME.fish

An option as --help-json has it: {"names": ["-o", "--output"], "argument": "FILE" or "", "optional":
whether the argument may be missing, "values": ["auto", "always"], "list": whether commas separate
several of these, "group", "text"}. A positional argument is the same, with a name that does not
begin with "-".
"""
import json
import os
import re
import subprocess
import sys


def kind(argument):
    """What a shell completes for an argument."""
    return (
        "directory"
        if argument == "DIR"
        else "file"
        if re.search(r"FILE|CORE|EXECUTABLE|INPUT|PATH|DIR|DB\b|REPORT", argument)
        else ""
    )


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def roff_option(option):
    flags = ", ".join("\\fB%s\\fR" % roff(name) for name in option["names"])
    argument = roff(option["argument"])
    if option["optional"]:
        return flags + "[=\\fI%s\\fR]" % argument
    return flags + (" \\fI%s\\fR" % argument if argument else "")


def man(page):
    name, summary = page["program"], page["summary"]
    # No date: the same bytes in every build.
    out = [
        '.TH %s 1 "" "sframe-utils %s" "User Commands"' % (name.upper(), page["version"]),
        ".SH NAME",
        "%s \\- %s" % (roff(name), roff(summary[0].lower() + summary[1:].rstrip("."))),
        ".SH SYNOPSIS",
        ".B " + roff(name),
        roff(page["usage"].removeprefix(name).strip()),
        ".SH DESCRIPTION",
        roff(summary),
    ]
    groups = {}
    for option in page["options"]:
        groups.setdefault(
            "ARGUMENTS" if is_positional(option) else option["group"].upper(), []
        ).append(option)
    for title, options in groups.items():
        out += [".SH " + title]
        for option in options:
            out += [".TP", roff_option(option), roff(option["text"])]
    for title, terms in (("ENVIRONMENT", page["environment"]), ("EXIT STATUS", page["exit_codes"])):
        out += [".SH " + title]
        for term in terms:
            out += [".TP", ".B " + roff(term["name"]), roff(term["text"])]
    out += [".SH EXAMPLES"]
    for example in page["examples"]:
        out += [
            ".TP",
            ".B " + roff(example["command"]),
            roff(example["text"]) if example["text"] else "\\&",
        ]
    others = [
        "sframe-dump",
        "sframe-gen",
        "sframe-verify",
        "sframe-unwind",
        "sframe-profile",
        "sframe-sweep",
        "sframe-conformance",
    ]
    out += [
        ".SH SEE ALSO",
        ",\n".join("\\fB%s\\fR(1)" % roff(other) for other in others if other != name),
    ]
    return "\n".join(out) + "\n"


def bash_words(words):
    return "mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\")" % " ".join(words)


def bash_action(option):
    values = " ".join(option["values"])
    if values and option["list"]:
        # What is before the last comma stays.
        return (
            'local kept=; [[ $word != *,* ]] || kept=${word%%,*},; mapfile -t COMPREPLY < <(compgen -P "$kept" -W \'%s\' -- "${word##*,}")'
            % values
        )
    if values:
        return bash_words(option["values"])
    flag = {"directory": "-d", "file": "-f", "": ""}[kind(option["argument"])]
    return (
        'compopt -o filenames; mapfile -t COMPREPLY < <(compgen %s -- "$word")' % flag
        if flag
        else "COMPREPLY=()"
    )


def bash(name, options):
    cases = [
        "    %s) %s; return ;;" % ("|".join(option["names"]), bash_action(option))
        for option in options
        if option["argument"] and not option["optional"] and not is_positional(option)
    ]
    optional = [
        '    %s) [ -z "$assigned" ] || { %s; return; } ;;'
        % ("|".join(option["names"]), bash_action(option))
        for option in options
        if option["optional"]
    ]
    words = [flag for option in options for flag in option["names"] if flag.startswith("--")]
    commands = [
        option["values"] for option in options if is_positional(option) and option["values"]
    ]
    first = (
        "  if [ $COMP_CWORD = 1 ] && [[ $word != -* ]]; then\n    %s\n    return\n  fi\n"
        % bash_words(commands[0])
        if commands
        else ""
    )
    function = "_" + name.replace("-", "_")
    return """# bash completion for %s
%s() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} assigned=
  # "--option=word" is three words for bash.
  if [ "$word" = = ]; then word= assigned=1; fi
  if [ "$before" = = ]; then before=${COMP_WORDS[COMP_CWORD - 2]} assigned=1; fi
  case $before in
%s
  esac
%s  if [[ $word == -* ]]; then
    %s
  else
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -F %s %s
""" % (
        name,
        function,
        "\n".join(cases + optional),
        first,
        bash_words(words),
        function,
        name,
    )


def zsh_quote(text):
    return text.replace("'", "'\\''")


def zsh(name, options):
    lines = []
    for option in options:
        if is_positional(option):
            if option["values"]:
                lines.append(
                    "  '1:%s:(%s)'" % (option["names"][0].lower(), " ".join(option["values"]))
                )
            continue
        text = zsh_quote(re.sub(r"([\[\]:\\])", r"\\\1", option["text"]))
        values = " ".join(option["values"])
        argument = option["argument"]
        action = (
            "_values -s , value %s" % values
            if values and option["list"]
            else "(%s)" % values
            if values
            else {"directory": "_files -/", "file": "_files", "": " "}[kind(argument)]
        )
        label = re.sub(r"[^A-Za-z]+", " ", argument).strip().lower() or "value"
        for flag in option["names"]:
            value = "=" if argument and flag.startswith("--") else "+" if argument else ""
            separator = "::" if option["optional"] else ":"
            if option["optional"]:
                value = "=-"
            lines.append(
                "  '*%s%s[%s]%s'"
                % (flag, value, text, "%s%s:%s" % (separator, label, action) if argument else "")
            )
    return "#compdef %s\n_arguments -s \\\n%s \\\n  '*:file:_files'\n" % (name, " \\\n".join(lines))


def fish_quote(text):
    return "'%s'" % text.replace("\\", "\\\\").replace("'", "\\'")


def fish(name, options):
    lines = ["# fish completion for " + name]
    for option in options:
        values = " ".join(option["values"])
        if is_positional(option):
            if values:
                lines.append(
                    "complete -c %s -n __fish_use_subcommand -a %s" % (name, fish_quote(values))
                )
            continue
        flags = " ".join(
            "-l " + flag[2:] if flag.startswith("--") else "-s " + flag[1:]
            for flag in option["names"]
        )
        listed = "(__fish_append , %s)" % values if option["list"] else values
        argument = (
            " -x -a %s" % fish_quote(listed)
            if values and not option["optional"]
            else " -f -a %s" % fish_quote(values)
            if values
            else {
                "directory": " -x -a '(__fish_complete_directories)'",
                "file": " -r",
                "": " -x" if option["argument"] else "",
            }[kind(option["argument"])]
        )
        lines.append(
            "complete -c %s %s%s -d %s" % (name, flags, argument, fish_quote(option["text"]))
        )
    return "\n".join(lines) + "\n"


def is_positional(option):
    return not option["names"][0].startswith("-")


def main():
    program, directory = sys.argv[1:]
    page = json.loads(
        subprocess.run(
            [program, "--help-json"],
            check=True,
            capture_output=True,
            encoding="utf-8",
            env=dict(os.environ, LC_ALL="C"),
        ).stdout
    )
    name, options = page["program"], page["options"]
    pages = {
        "man1/%s.1" % name: man(page),
        "bash/%s" % name: bash(name, options),
        "zsh/_%s" % name: zsh(name, options),
        "fish/%s.fish" % name: fish(name, options),
    }
    for path, text in pages.items():
        path = os.path.join(directory, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
