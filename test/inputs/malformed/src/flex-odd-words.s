# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 3
# A FLEX row whose last control word has no offset.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000, info2=1
	fres
	func
	row1	start=0, words=3
	.byte	7<<3|1, 8		# CFA = rsp + 8
	.byte	1<<1			# RA = *(CFA + ?)
	done
