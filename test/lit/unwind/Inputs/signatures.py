"""signatures.py FOLDER: walks FOLDER/*.core, checks each signature, and prints the cores that have
the same. signatures.py -: the same for a document on standard input, whose frames have no names."""
import glob
import hashlib
import json
import os
import re
import subprocess
import sys


def check(document):
    lines = [document["signal_name"], *document["signature_frames"]]
    digest = hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()
    assert document["signature"] == "3:" + digest[:16], (document["signature"], lines)
    assert len(document["signature_frames"]) <= 5
    return document["signature"]


if sys.argv[1] == "-":
    document = json.load(sys.stdin)
    check(document)
    # Those of libraries of the system are left out; the rest once each.
    places = [
        "%s:%s+0x%x"
        % (os.path.basename(frame["module"]), frame.get("build_id", ""), frame["module_offset"])
        for frame in document["threads"][0]["frames"]
        if not re.match("(/usr)?/lib(64)?/", frame["module"])
    ]
    places = list(dict.fromkeys(places))
    assert document["signature_frames"] == places[:5], (document["signature_frames"], places)
    print("\n".join(document["signature_frames"]))
    sys.exit()

groups = {}
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.core"))):
    walk = subprocess.run(["sframe-unwind", path, "--format=json"], capture_output=True, text=True)
    assert walk.returncode == 0, walk.stderr
    document = json.loads(walk.stdout)
    _, members = groups.setdefault(check(document), (document, []))
    members.append(os.path.basename(path).removesuffix(".core"))
for document, members in groups.values():
    print(document["signal_name"] + ":", ", ".join(document["signature_frames"]))
    print(*members)
