# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare-unwind.py CORE [EXECUTABLE] | --pid PID: compares stacks with the JSON of sframe-unwind:
frames, names, modules, registers and source lines; and the code at each pc with the module's
file."""
import json
import subprocess
import sys

import sframe


def described(frame):
    made = {
        "pc": hex(frame.pc),
        "stepper": frame.found_by,
        "trust": "heuristic" if frame.heuristic else "exact",
        "signal_frame": frame.signal_frame,
        "registers": {name: hex(value) for name, value in frame.registers.items()},
    }
    if frame.cfa is not None:
        made["cfa"] = hex(frame.cfa)
    if frame.function:
        made["function"], made["offset"] = frame.function
    module = frame.module
    if module:
        made["module"], made["module_offset"] = module.path, frame.pc - module.start
    lines = frame.source
    if lines:
        made["file"], made["line"] = lines[-1].file, lines[-1].line
        made["inlined"] = [
            {"function": line.function or None, "file": line.file, "line": line.line}
            for line in lines[:-1]
        ]
    return made


def compare(process, expected):
    assert (process.pid, process.signal) == (expected["pid"], expected["signal"])
    threads = process.threads()
    assert [thread.tid for thread in threads] == [thread["tid"] for thread in expected["threads"]]
    frames = 0
    for thread, theirs in zip(threads, expected["threads"]):
        assert thread.name == theirs["name"]
        ours = thread.walk()
        for frame, wanted in zip(ours, theirs["frames"]):
            wanted.pop("build_id", None), wanted.pop(
                "fde", None
            )  # what the interface does not have
            assert described(frame) == wanted, (described(frame), wanted)
            frames += 1
        assert len(ours) == len(theirs["frames"])
        assert {"complete": thread.end.complete, "reason": thread.end.reason} == theirs["end"]
    modules = process.modules()
    assert [(hex(module.start), hex(module.end), module.path) for module in modules] == [
        (module["start"], module["end"], module["path"]) for module in expected["modules"]
    ][: len(modules)]
    for module, theirs in zip(modules, expected["modules"]):
        assert module.build_id.hex() == theirs["build_id"] or not theirs["build_id"]
        if module.path != "[vdso]" and not module.problem:
            assert process.read(module.start, 4) == b"\x7fELF", module
    print(
        "%d threads, %d frames, %d modules as sframe-unwind finds them"
        % (len(threads), frames, len(modules))
    )


arguments = sys.argv[1:]
if arguments[0] == "--pid":
    process = sframe.attach(int(arguments[1]))
else:
    process = sframe.core(arguments[0], executable=arguments[1] if len(arguments) > 1 else None)
expected = json.loads(
    subprocess.run(
        ["sframe-unwind", "--format=json", "--registers", "--source", *arguments],
        check=False,
        capture_output=True,
    ).stdout
)
with process:
    compare(process.stop(), expected)
