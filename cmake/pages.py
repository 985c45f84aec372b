#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a program's man page and its completions for bash, zsh and fish from what --help prints, so that the
options have one source.

    pages.py PROGRAM FOLDER      writes FOLDER/man1/NAME.1, bash/NAME, zsh/_NAME, fish/NAME.fish
"""
import collections
import os
import re
import subprocess
import sys

# flags: ["-o", "--output"]; argument: "FILE" or ""; choices: ["auto", "always"]; kind: what the shell
# completes.
Option = collections.namedtuple("Option", "flags argument choices kind text")


def parse_entry(usage, text):
    flags, _, argument = usage.partition(" ")
    flags = [re.sub(r"\{.*\}$", "", flag) for flag in flags.split(",")]
    argument = argument.replace(" REQUIRED", "").strip()
    choices = []
    braces = re.search(r":\{([^}]*)\}", argument)
    if braces:
        choices = braces.group(1).split(",")
    elif re.fullmatch(r"[a-z0-9|-]+", argument):
        choices = argument.split("|")
    name = re.split(r"[: =]", argument)[0]
    kind = "folder" if name == "DIR" else "file" if re.search(r"FILE|CORE|EXECUTABLE|INPUT", name) else ""
    many = " ..." if argument.endswith("...") else ""
    return Option(flags, argument if not braces and choices else name + many, choices, kind, text)


def parse_help(text):
    """The summary, the usage line, the groups of entries, and the examples."""
    lines = text.splitlines()
    summary, usage, examples, groups = lines[0], lines[1].removeprefix("Usage: "), [], []
    for number, line in enumerate(lines[2:], 2):
        if line == "EXAMPLES":
            examples = lines[number + 1:]
            break
        if re.match(r"\S.*:$", line):
            groups.append((line[:-1], []))
        elif re.match(r"  \S", line):
            match = re.match(r"  (.*?\S)(?:  +(\S.*))?$", line)
            groups[-1][1].append([match.group(1), match.group(2) or ""])
        elif line.strip():
            entry = groups[-1][1][-1]
            entry[1] = (entry[1] + " " + line.strip()).strip()
    return summary, usage, [(title, [parse_entry(*entry) for entry in entries]) for title, entries in groups], examples


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def man(name, version, summary, usage, groups, examples):
    # No date: the same bytes in every build.
    out = ['.TH %s 1 "" "sframe-utils %s" "User Commands"' % (name.upper(), version),
           ".SH NAME", "%s \\- %s" % (roff(name), roff(summary[0].lower() + summary[1:].rstrip("."))),
           ".SH SYNOPSIS", ".B " + roff(name), roff(usage.removeprefix(name).strip()),
           ".SH DESCRIPTION", roff(summary)]
    for title, options in groups:
        positional = title == "Positionals"
        out += [".SH " + ("ARGUMENTS" if positional else title.upper())]
        for option in options:
            flags = ", ".join("\\fB%s\\fR" % roff(flag) for flag in option.flags)
            argument = " \\fI%s\\fR" % roff(option.argument) if option.argument and not positional else ""
            out += [".TP", flags + argument, roff(option.text)]
    out += [".SH EXIT STATUS", ".TP", "0", "Done, and nothing is wrong.", ".TP", "1",
            "Done, and something wrong was found or left out.", ".TP", "2",
            "It could not be done: an input cannot be read, an output cannot be written, or the command line is wrong."]
    out += [".SH EXAMPLES", ".nf"] + [roff(line[2:] if line.startswith("  ") else line) for line in examples] + [".fi"]
    others = ["sframe-dump", "sframe-gen", "sframe-verify", "sframe-unwind", "sframe-sweep", "sframe-conformance"]
    out += [".SH SEE ALSO", ",\n".join("\\fB%s\\fR(1)" % roff(other) for other in others if other != name)]
    return "\n".join(out) + "\n"


def bash(name, options):
    cases = []
    for option in options:
        action = ('mapfile -t COMPREPLY < <(compgen -W "%s" -- "$word")' % " ".join(option.choices) if option.choices else
                  "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$word\")" if option.kind == "folder" else
                  "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$word\")" if option.kind == "file" else
                  "COMPREPLY=()")
        if option.argument:
            cases.append("    %s) %s; return ;;" % ("|".join(option.flags), action))
    words = " ".join(flag for option in options for flag in option.flags if flag.startswith("--"))
    function = "_" + name.replace("-", "_")
    return """# bash completion for %s
%s() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  # "--option=word" is three words for bash.
  [ "$word" != = ] || word=
  [ "$before" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}
  case $before in
%s
  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "%s" -- "$word")
  else
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -F %s %s
""" % (name, function, "\n".join(cases), words, function, name)


def zsh(name, options):
    lines = []
    for option in options:
        text = re.sub(r"([\[\]:\\])", r"\\\1", option.text).replace("'", "'\\''")
        action = ("(%s)" % " ".join(option.choices) if option.choices else
                  "_files -/" if option.kind == "folder" else "_files" if option.kind == "file" else " ")
        for flag in option.flags:
            value = "=" if option.argument and flag.startswith("--") else "+" if option.argument else ""
            label = re.sub(r"[^A-Za-z]+", " ", option.argument).strip().lower() or "value"
            lines.append("  '*%s%s[%s]%s'" % (flag, value, text, ":%s:%s" % (label, action) if option.argument else ""))
    return "#compdef %s\n_arguments -s \\\n%s \\\n  '*:file:_files'\n" % (name, " \\\n".join(lines))


def fish(name, options):
    lines = ["# fish completion for " + name]
    for option in options:
        flags = " ".join("-l " + flag[2:] if flag.startswith("--") else "-s " + flag[1:] for flag in option.flags)
        values = (" -x -a '%s'" % " ".join(option.choices) if option.choices else
                  " -x -a '(__fish_complete_directories)'" if option.kind == "folder" else
                  " -r" if option.kind == "file" else " -x" if option.argument else "")
        text = option.text.replace("\\", "\\\\").replace("'", "\\'")
        lines.append("complete -c %s %s%s -d '%s'" % (name, flags, values, text))
    return "\n".join(lines) + "\n"


def main():
    program, folder = sys.argv[1:]
    name = os.path.basename(program)

    def output(argument):
        return subprocess.run([program, argument], check=True, capture_output=True, encoding="utf-8",
                              env=dict(os.environ, LC_ALL="C", NO_COLOR="1")).stdout

    summary, usage, groups, examples = parse_help(output("--help"))
    version = output("--version").split()[-1]
    options = [option for title, entries in groups if title != "Positionals" for option in entries]
    pages = {"man1/%s.1" % name: man(name, version, summary, usage, groups, examples),
             "bash/%s" % name: bash(name, options), "zsh/_%s" % name: zsh(name, options),
             "fish/%s.fish" % name: fish(name, options)}
    for path, text in pages.items():
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
