# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 3
# FLEX rows that name registers the ABI does not have (200; bit 2 set too).

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000, info2=1
	fres
	func
	row1	start=0, words=2, wsize=1
	.2byte	200<<3|4|1, 8		# CFA = register 200 + 8
	done
