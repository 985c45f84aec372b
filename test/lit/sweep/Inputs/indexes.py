"""indexes.py FOLDER: package indexes made to need memory or time, or cut."""
import lzma
import os
import sys

(folder,) = sys.argv[1:]
os.makedirs(os.path.join(folder, "repodata"))
os.makedirs(os.path.join(folder, "dists"))
MEGABYTE = 1 << 20


def write(name, parts, keep=None):
    machine = lzma.LZMACompressor()
    data = b"".join([machine.compress(part) for part in parts] + [machine.flush()])
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data[:keep])


begin, end = b'<metadata xmlns="http://linux.duke.edu/metadata/common">', b"</metadata>"
place = b'<package><location href="gone-1-1.x.rpm"/></package>'
write("repodata/elements-primary.xml.xz", [begin, place, *[b"<a/>" * (MEGABYTE // 4)] * 16, end])
write("repodata/text-primary.xml.xz", [begin, place, *[b"a" * MEGABYTE] * 64, end])
write("repodata/attribute-primary.xml.xz", [begin, b"<a b='", *[b"a" * MEGABYTE] * 64, b"'/>", end])
write(
    "repodata/entities-primary.xml.xz",
    [b"<!DOCTYPE a [<!ENTITY a '%s'>]>" % (b"a" * 1000), begin, b"&a;" * 100_000, end],
)
write(
    "repodata/names-primary.xml.xz",
    [begin, *(b'<location href="%s%d"/>' % (b"a" * 4000, i) for i in range(20_000)), end],
)
write(
    "repodata/packages-primary.xml.xz",
    [begin, *(b'<location href="%d.rpm"/>' % i for i in range(500_001)), end],
)
write("repodata/open-primary.xml.xz", [begin, place])
write("repodata/cut-primary.xml.xz", [begin, place, end], -4)
write("dists/line_Packages.xz", [b"Filename: gone_1_x.deb\nA: ", *[b"a" * MEGABYTE] * 64])
write(
    "dists/sound_Packages.xz",
    [b"Filename: gone_1_x.deb\n", *[b"a" * (MEGABYTE - 1) + b"\n"] * 64, b"Filename: last_1_x.deb"],
)
