# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Frames of cores in LLDB 22 or later, found by libsframe-c.so: docs/gdb.md.

    (lldb) command script import DIR/sframe_lldb.py
    (lldb) target frame-provider register -C sframe_lldb.Frames

LLDB gives a provider the frames that it has found itself, with their registers, and no way to step
by its tables. So all frames come from a walk over the core file, as sframe-unwind makes it; those
that LLDB has found, too, are LLDB's."""
import os
import sys

from lldb.plugins.scripted_frame_provider import ScriptedFrameProvider

_folder = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "python")
if os.path.exists(os.path.join(_folder, "sframe", "__init__.py")) and _folder not in sys.path:
    sys.path.insert(0, _folder)
import sframe  # noqa: E402


def core_of(process):
    core = process.GetCoreFile()
    return core.fullpath if core.IsValid() else None


class Frames(ScriptedFrameProvider):
    """-k sframe_dir -v DIR: sidecars in DIR/.build-id."""

    @staticmethod
    def applies_to_thread(thread):
        return core_of(thread.GetProcess()) is not None

    @staticmethod
    def get_description():
        return "frames of cores by SFrame, call frame information and code analysis"

    def __init__(self, input_frames, args):
        super().__init__(input_frames, args)
        self.frames = []
        try:
            self.walk()
        except (sframe.Error, MemoryError, StopIteration) as error:
            print(
                "sframe_lldb: %s" % (str(error) or "the core has no such thread"), file=sys.stderr
            )
            self.frames = list(range(len(self.input_frames)))

    def walk(self):
        given = self.args.GetValueForKey("sframe_dir") if self.args else None
        folder = given.GetStringValue(4096) if given and given.IsValid() else None
        program = self.target.GetExecutable().fullpath
        with sframe.core(core_of(self.process), executable=program, sframe_dir=folder) as process:
            own = next(
                thread for thread in process.threads() if thread.tid == self.thread.GetThreadID()
            )
            pcs = [frame.pc for frame in own.walk()]
        at = 0  # in LLDB's list, as long as both agree
        for pc in pcs:
            same = at
            while (
                same is not None
                and same < len(self.input_frames)
                and self.input_frames[same].IsInlined()
            ):
                same += 1
            if (
                same is not None
                and same < len(self.input_frames)
                and self.input_frames[same].GetPC() == pc
            ):
                self.frames += range(at, same + 1)
                at = same + 1
            else:
                self.frames.append({"idx": len(self.frames), "pc": pc})
                at = len(self.input_frames)

    def get_frame_at_index(self, index):
        return self.frames[index] if index < len(self.frames) else None
