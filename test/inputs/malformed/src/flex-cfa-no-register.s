# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 3
# A FLEX row whose CFA is not relative to a register: its base would be itself.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000, info2=1
	fres
	func
	row1	start=0, words=2
	.byte	1<<1, 8			# CFA = *(CFA + 8)
	done
