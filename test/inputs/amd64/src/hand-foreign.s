# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The ABI amd64, but stored in big-endian byte order (assembled for a big-endian target, kept as a raw section).

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, num_fdes=2, num_fres=3
	fde	start=0x1000, size=0x40, rows=a, num_fres=2
	fde	start=0x1040, size=0x1040, rows=b, num_fres=1, info=1
	fres
	func	a
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	row1	start=1, words=2
	.byte	16, -16			# CFA = SP + 16, FP at CFA - 16
	func	b
	row2	start=0, words=1, wsize=1
	.2byte	0x1008			# CFA = SP + 4104
	done
