# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# make_core.py IMAGE BIAS CORE [PATH [IMAGE BIAS PATH]...]: a core file of a process that has the
# ELF file IMAGE mapped at BIAS under the name PATH, and others: its PT_LOAD segments, page by page,
# and NT_FILE. As much of a core as finding mapped images takes.
import sys

from core_writer import PAGE, core, files
from elf_writer import PT_LOAD, aligned, program_headers


def segments(path, bias):
    """Address, bytes, their number and flags, and the offset in the file of each, in whole
    pages."""
    with open(path, "rb") as file:
        image = file.read()
    for kind, flags, offset, address, _, size, *_ in program_headers(image):
        if kind == PT_LOAD:
            first = offset & -PAGE
            content = aligned(image[first : offset + size], PAGE)
            yield bias + (address & -PAGE), content, len(content), flags, first


image, bias, target, name, *others = sys.argv[1:] + ["/mapped/image"] * (len(sys.argv) == 4)
loads, mapped = [], []
for image, bias, name in [(image, bias, name), *zip(others[::3], others[1::3], others[2::3])]:
    for address, content, size, flags, first in segments(image, int(bias, 0)):
        loads.append((address, content, size, flags))
        mapped.append((address, address + size, first // PAGE, name))
with open(target, "wb") as file:
    file.write(core(files(*mapped), loads))
