# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# Four bytes between function entries and rows, and four after the rows, that nothing refers to.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, fre_len=.Lend-.Lfres
	fde	start=0x1000
	.4byte	0x22222222		# between
	fres
	func
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
.Lend:
	.4byte	0x11111111		# after the rows
	done
