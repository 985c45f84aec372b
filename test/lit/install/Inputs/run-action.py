# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run-action.py ACTION.YML [INPUT=VALUE...]

Runs the shell steps of a composite action as the runner does: `bash --noprofile --norc -eo
pipefail`, inputs in the environment, outputs by $GITHUB_OUTPUT. Steps that use another action are
named. Knows the part of YAML that the file uses."""
import os
import re
import subprocess
import sys
import tempfile

text = open(sys.argv[1]).read()
inputs = {}
for name, body in re.findall(
    r"^  ([a-z-]+):\n((?:    .*\n)+)",
    re.search(r"^inputs:\n((?:  .*\n)+)", text, re.M).group(1),
    re.M,
):
    default = re.search(r"default: '?([^'\n]*)'?", body)
    inputs[name] = default.group(1) if default else None
for argument in sys.argv[2:]:
    name, value = argument.split("=", 1)
    assert name in inputs, name
    inputs[name] = value
missing = [name for name, value in inputs.items() if value is None]
assert not missing, missing

outputs = {}


def expand(value):
    def one(match):
        scope, _, name = match.group(1).partition(".")
        return (
            inputs[name]
            if scope == "inputs"
            else outputs.get(name.removeprefix("verify.outputs."), "")
        )

    return re.sub(r"\$\{\{ (\S+) \}\}", one, value)


steps = re.split(r"^    - ", text[text.index("  steps:\n") :], flags=re.M)[1:]
for step in steps:
    step = "      " + step
    uses = re.search(r"^ +uses: (.*)", step, re.M)
    if uses:
        print(
            "uses",
            uses.group(1),
            *[expand(v) for v in re.findall(r"^        \S+: (.*)", step, re.M)]
        )
        sys.stdout.flush()
        continue
    assert "shell: bash" in step
    script = "".join(
        line[8:] + "\n"
        for line in re.search(r"^      run: \|\n((?: {8}.*\n|\n)+)", step, re.M)
        .group(1)
        .split("\n")
    )
    environment = dict(os.environ)
    for name, value in re.findall(r"^        ([A-Z]+): (.*)", step.split("      run:")[0], re.M):
        environment[name] = expand(value)
    with tempfile.NamedTemporaryFile("r+") as output, tempfile.NamedTemporaryFile(
        "w", suffix=".sh"
    ) as file:
        file.write(script)
        file.flush()
        environment["GITHUB_OUTPUT"] = output.name
        code = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", file.name], env=environment
        ).returncode
        outputs.update(line.rstrip("\n").split("=", 1) for line in output)
    if code:
        sys.exit("step failed: exit code %d" % code)
