# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# long-name-archive.py ARCHIVE MEMBERS SIZE [OBJECT]: an archive of so many empty members, all of
# which name the same SIZE bytes of the table of long names. OBJECT comes last, under the same name.
import sys


def header(name, size):
    return b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"644", size)


def main():
    members, size = int(sys.argv[2]), int(sys.argv[3])
    table = b"n" * size + b"/\n"
    data = b"!<arch>\n" + header(b"//", len(table)) + table + b"\n" * (len(table) % 2)
    data += header(b"/0", 0) * members
    if len(sys.argv) > 4:
        object_bytes = open(sys.argv[4], "rb").read()
        data += header(b"/0", len(object_bytes)) + object_bytes
    open(sys.argv[1], "wb").write(data)


main()
