"""equal_names.py INPUTS FOLDER: packages with files of equal names, or names that differ in what is
not UTF-8 only; and different packages with the same file name."""
import os
import sys

import packages

inputs, folder = sys.argv[1:]
with open(os.path.join(inputs, "amd64/v3-gas247.so"), "rb") as file:
    elf = file.read()


def write(name, data):
    name = os.path.join(os.fsencode(folder), name)
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "wb") as file:
        file.write(data)


def tar(*names):
    """A program for each name, each with other contents."""
    return packages.tar(
        [(os.fsdecode(name), elf + b"%d" % number) for number, name in enumerate(names)]
    )


write(b"a/twice.tar", tar(b"p", b"q", b"p"))
write(b"a/bytes.tar", tar(b"\xfe", b"\xff"))
write(b"a/\xfe.tar", tar(b"p"))
write(b"a/\xff.tar", b"cut")
write(b"a/folder/\xfe", elf + b"a")
write(b"a/folder/\xff", elf + b"b")
write(b"b/0/name_1_amd64.deb", b"hostile")
for place in ("1", "2"):
    os.makedirs(os.path.join(folder, "b", place))
    packages.deb(
        os.path.join(folder, "b", place, "name_1_amd64.deb"), "name", "1", "amd64", [("p", elf)]
    )
