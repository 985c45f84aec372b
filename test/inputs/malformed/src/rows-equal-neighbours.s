# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# Two neighbouring rows are equal. Wasteful, valid.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, num_fres=2
	fde	start=0x1000, num_fres=2
	fres
	func
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	row1	start=4, words=1
	.byte	8			# the same
	done
