# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# mark-signal.py SECTION ADDRESS FIRST LAST: marks the functions of a raw section (version 3, for
# ADDRESS) that start at these addresses as signal frames; prints how many.
import sys

from section_fields import SectionFields

data = bytearray(open(sys.argv[1], "rb").read())
address, first, last = (int(text, 16) for text in sys.argv[2:])
marked = 0
for function in SectionFields(bytes(data), address).functions():
    if first <= function["start"] <= last:
        data[function["info"]] |= 0x80
        marked += 1
open(sys.argv[1], "wb").write(data)
print(marked)
