# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# The header counts 7 rows, the function entries 1.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, num_fres=7
	fde	start=0x1000
	fres
	func
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	done
