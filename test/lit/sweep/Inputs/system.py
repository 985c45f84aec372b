"""system.py INPUTS FOLDER: root folders with dpkg's database, and a local mirror with an index for
Debian and one for rpm."""
import gzip
import lzma
import os
import shutil
import sys

inputs, folder = sys.argv[1:]


def write(path, text):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with (gzip.open if path.endswith(".gz") else lzma.open if path.endswith(".xz") else open)(
        path, "wt", encoding="utf-8"
    ) as file:
        file.write(text)


def paragraph(name, version, status="install ok installed"):
    return (
        "Package: %s\nStatus: %s\nArchitecture: amd64\nVersion: %s\nDescription: a package\n Version: no field, but text\n\n"
        % (name, status, version)
    )


# usr/lib is also named lib, by a link, as on merged systems; a link leads out of the root.
write(
    "root/var/lib/dpkg/status",
    paragraph("here", "1:2.0")
    + paragraph("gone", "1.0", "deinstall ok config-files")
    + paragraph("none", "3.0"),
)
write(
    "root/var/lib/dpkg/info/here:amd64.list",
    "/.\n/usr\n/usr/lib\n/usr/lib/a.so\n/lib/a.so\n/usr/lib/out.so\n/usr/out/a.so\n/usr/lib/missing.so\n/opt/linked/b.so\n/usr/lib/b.so\n/opt/loop\n/opt/loop/a.so\n/usr/share/text\n",
)
write("root/var/lib/dpkg/info/gone.list", "/usr/lib/a.so\n")
write("root/var/lib/dpkg/info/none.list", "/.\n/usr/share/text\n")
write("root/usr/share/text", "text\n")
os.makedirs(os.path.join(folder, "root/usr/lib"))
os.makedirs(os.path.join(folder, "outside"))
shutil.copy(os.path.join(inputs, "amd64/v3-gas247.so"), os.path.join(folder, "root/usr/lib/a.so"))
shutil.copy(os.path.join(inputs, "aarch64/v3-gas247.so"), os.path.join(folder, "outside/a.so"))
os.symlink("usr/lib", os.path.join(folder, "root/lib"))
os.symlink("../../../outside/a.so", os.path.join(folder, "root/usr/lib/out.so"))
os.symlink("../../outside", os.path.join(folder, "root/usr/out"))
# Absolute links lead to places inside of the root: /opt/inside.so is /usr/lib/b.so. A loop of links
# is no file.
shutil.copy(os.path.join(inputs, "s390x/v3-gas247.so"), os.path.join(folder, "root/usr/lib/b.so"))
os.makedirs(os.path.join(folder, "root/opt"))
os.symlink("/usr/lib", os.path.join(folder, "root/opt/linked"))
os.symlink("/opt/loop", os.path.join(folder, "root/opt/loop"))
# Databases that lead out of the root, have no name of a package or are no regular files.
outside = os.path.join(folder, "outside")
write("outside/status", paragraph("stranger", "1.0"))
for root, status in (
    ("linked", paragraph("here", "1")),
    ("nameless", "Status: install ok installed\nVersion: 1\n"),
    ("escaping", paragraph("../../../../outside/x", "1")),
):
    write(root + "/var/lib/dpkg/status", status)
os.makedirs(os.path.join(folder, "linked/var/lib/dpkg/info"))
os.symlink(
    os.path.join(outside, "status"), os.path.join(folder, "linked/var/lib/dpkg/info/here.list")
)
os.makedirs(os.path.join(folder, "stranger/var/lib/dpkg"))
os.symlink(os.path.join(outside, "status"), os.path.join(folder, "stranger/var/lib/dpkg/status"))
os.makedirs(os.path.join(folder, "pipe/var/lib/dpkg"))
os.mkfifo(os.path.join(folder, "pipe/var/lib/dpkg/status"))

write(
    "mirror/dists/stable/main/binary-amd64/Packages.xz",
    "Package: one\nFilename: pool/one_1.0_amd64.deb\n\nPackage: lost\nFilename: pool/lost_1.0_amd64.deb\n",
)
write(
    "mirror/repodata/0123-primary.xml.gz",
    '<?xml version="1.0"?>\n<metadata xmlns="http://linux.duke.edu/metadata/common" packages="1"><package type="rpm">'
    '<name>three</name><location href="pool/three-3.0-1.s390x.rpm"/></package></metadata>\n',
)
