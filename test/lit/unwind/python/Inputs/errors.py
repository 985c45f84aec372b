# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""errors.py INPUTS CORES"""
import sys

import sframe

inputs, cores = sys.argv[1:]


def raised(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError("no %s" % kind.__name__)


with open(inputs + "/amd64/v3-gas247.sframe", "rb") as file:
    data = file.read()

# From bytes, bytearrays and views; the section keeps them.
for given in (data, bytearray(data), memoryview(data)):
    section = sframe.Section(given, 0x400000)
    del given
    assert (len(section), section.address, section.version) == (16, 0x400000, 3)
assert len(list(section)) == 16 and section[-1] == section[15]
raised(IndexError, lambda: section[16])
assert section.find(0) is None

# Malformed: the kind and the place.
error = raised(sframe.Error, lambda: sframe.Section(b""))
assert error.status == "bad-table" and error.offset == 0, error
error = raised(sframe.Error, lambda: sframe.Section(data[:100]))
assert error.status == "bad-table" and error.function is None, error
broken = bytearray(data)
place = data.index(bytes([0, 3, 8]), 0x11C)  # a row: offset 0, SP-based, one byte: 8
broken[place + 1] |= 0x60  # a size of data words that does not exist
failed = []
for function in sframe.Section(bytes(broken)):
    try:
        list(function.rows())
    except sframe.Error as error:
        failed.append((function.index, error))
assert (
    len(failed) == 1 and failed[0][1].offset == place and failed[0][1].function == failed[0][0]
), failed

# Closed objects.
section.close()
section.close()
raised(ValueError, lambda: section[0])
with sframe.File(inputs + "/amd64/v3-gas247.so") as file:
    kept = file.sections[0]
raised(ValueError, lambda: kept.find(0x4FE))
raised(ValueError, lambda: file.sections)
error = raised(sframe.Error, lambda: sframe.File("/nowhere"))
assert (
    error.status == "unreadable"
    and str(error) == "/nowhere: cannot open: No such file or directory"
), error
error = raised(sframe.Error, lambda: sframe.File(inputs + "/amd64/v2-gas244.a"))
assert error.status == "invalid" and "archive" in str(error), error

# Processes.
error = raised(sframe.Error, lambda: sframe.core("/nowhere"))
error = raised(sframe.Error, lambda: sframe.attach(1 << 30))
assert "no such process" in str(error) or "not" in str(error), error
process = sframe.core(cores + "/s390x.core.zst", executable=cores + "/s390x.elf")
thread = process.threads()[0]
frames = thread.walk()
assert frames[0].name == "die" and frames[0].registers["r15"] % 8 == 0
assert frames[0].module.is_main and frames[0].lookup_pc in frames[0].module
assert frames[0].source == []
assert process.read(8, 100) == b"" and len(process.read(frames[0].module.start, 100)) == 100
process.close()
raised(ValueError, lambda: frames[0].name)
raised(ValueError, thread.walk)

# An exception in a callback ends the walk and arrives.
process = sframe.core(cores + "/s390x.core.zst", executable=cores + "/s390x.elf")
make, sframe.Frame = sframe.Frame, lambda *_: 1 / 0
raised(ZeroDivisionError, process.threads()[0].walk)
sframe.Frame = make
assert len(process.threads()[0].walk()) == len(frames)
