"""check-names.py OURS THEIRS: the program's functions have the same names in both stacks, except
for how GNU spells lambdas and "> >", and whether the function of a lambda has its return type."""
import re
import sys


def names(path):
    with open(path, encoding="utf-8") as file:
        found = re.findall(
            "^#[0-9]+ +0x[0-9a-f]+  (.*) [+] 0x[0-9a-f]+  [(]program[)]", file.read(), re.MULTILINE
        )
    found = [name.replace("> >", ">>") for name in found]
    found = [
        name.removeprefix("std::vector<int, std::allocator<int>> ") if "lambda" in name else name
        for name in found
    ]
    return [re.sub(r"\{lambda(\(.*?\))#1\}", r"'lambda'\1", name) for name in found]


ours, theirs = names(sys.argv[1]), names(sys.argv[2])
assert ours == theirs, (ours, theirs)
print(len(ours), "names")
