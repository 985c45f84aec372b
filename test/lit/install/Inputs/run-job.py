# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run-job.py PAGE ROOT PROJECT [NAME=VALUE...]

Runs the job in the page (the first fenced yaml block with "jobs:") in the directory ROOT, which is
a system's root, as a runner does in a container: each `run` by `bash -eo pipefail` in the directory
that the project was checked out to. NAME=VALUE takes the place of a variable in the job's `env`.
Steps after one that failed are left out, but for those with `if: always()`; an upload needs its
file. Knows the part of YAML that the page uses."""
import os
import re
import shutil
import subprocess
import sys

page, root, project = sys.argv[1:4]
with open(page, encoding="utf-8") as file:
    job = next(
        block
        for block in re.findall(r"^```yaml\n(.*?)^```", file.read(), re.M | re.S)
        if "jobs:" in block
    )
environment = {
    name: value
    for name, value in re.findall(
        r"^  ([A-Z_]+): (.*)$", re.search(r"^env:\n((?:  .*\n)+)", job, re.M).group(1), re.M
    )
}
for argument in sys.argv[4:]:
    name, _, value = argument.partition("=")
    assert name in environment, name
    environment[name] = value
place = os.path.join(root, "work")
os.makedirs(place, exist_ok=True)
code = 0
for step in re.split(r"^      - ", job[job.index("    steps:\n") :], flags=re.M)[1:]:
    print(step.splitlines()[0], flush=True)
    if code and "if: always()" not in step:
        continue
    if step.startswith("uses: actions/checkout@"):
        shutil.copytree(project, place, dirs_exist_ok=True)
    elif step.startswith("uses: github/codeql-action/upload-sarif@"):
        report = re.search(r"sarif_file: (\S+)", step).group(1)
        print("uploads %s: %d bytes" % (report, os.path.getsize(os.path.join(place, report))))
    else:
        command = re.match(r"run: (.*)", step).group(1)
        code = (
            code
            or subprocess.run(
                [
                    "unshare",
                    "--mount",
                    "sh",
                    "-c",
                    'mount -t proc proc "$1/proc" && exec chroot "$@"',
                    "sh",
                    root,
                    "/usr/bin/env",
                    "-i",
                    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                    "DEBIAN_FRONTEND=noninteractive",
                    *("%s=%s" % item for item in environment.items()),
                    "bash",
                    "--noprofile",
                    "--norc",
                    "-eo",
                    "pipefail",
                    "-c",
                    "cd /work && " + command,
                ],
                stdin=subprocess.DEVNULL,
            ).returncode
        )
sys.exit(code)
