"""c-declarations.py INCLUDE HEADER...: what programs in C rely on, a line each, in an order that
additions do not change: functions and types with their text, members of structs and enumerators
with their number. A struct that does not start with its size cannot grow: the line of its name has
the number of its members."""
import re
import subprocess
import sys

include, *headers = sys.argv[1:]
source = "".join('#include "%s"\n' % header for header in headers)
done = subprocess.run(
    ["gcc", "-E", "-I", include, "-"], input=source, capture_output=True, text=True, check=True
)
own, text = False, ""
for line in done.stdout.splitlines():
    if marker := re.match(r'# \d+ "([^"]*)"', line):
        own = marker[1].startswith(include)
    elif own:
        text += line + " "


def plain(part):
    return (
        re.sub(r"\s*([*(),;])\s*", r"\1 ", " ".join(part.split()))
        .strip()
        .replace("( ", "(")
        .replace(" )", ")")
    )


def enumerators(body):
    value = -1
    for one in filter(None, map(plain, body.split(","))):
        name, _, given = one.partition("=")
        value = int(given, 0) if given else value + 1
        yield "%s = %d" % (name.strip(), value)


found = set()
for keyword, name, body in re.findall(r"typedef (struct|enum) (\w+) \{([^{}]*)\}", text):
    if keyword == "enum":
        found |= {"enum %s: %s" % (name, one) for one in enumerators(body)}
        continue
    members = [plain(one) for one in body.split(";") if one.strip()]
    found |= {"struct %s, %d: %s" % (name, number, member) for number, member in enumerate(members)}
    if members[0] != "size_t size":
        found.add("struct %s: %d members" % (name, len(members)))
others = re.sub(r"typedef (?:struct|enum) \w+ \{[^{}]*\} \w+;", "", text)
found |= {plain(one) for one in others.split(";") if one.strip()}
print(*sorted(found), sep="\n")
