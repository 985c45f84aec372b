# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# damage-plt.py SECTION: the CFA of the last row of the first PCMASK function becomes 8 bytes
# larger; prints its address and the row's offset.
import sys

from section_fields import SectionFields

data = bytearray(open(sys.argv[1], "rb").read())
fields = SectionFields(bytes(data), 0)
function = next(f for f in fields.functions() if f["block"])
offset, at, _ = function["rows"][-1]
fields.add(data, at + 1, 1, 8)
open(sys.argv[1], "wb").write(data)
print("%#x %d" % (function["start"], offset))
