# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# The first row starts at 2: nothing describes the first two bytes. Unusual, readable.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, num_fres=3
	fde	start=0x1000, num_fres=3
	fres
	func
	row1	start=2, words=1
	.byte	8			# CFA = SP + 8
	row1	start=4, words=1
	.byte	16			# CFA = SP + 16
	row1	start=8, words=1
	.byte	8			# CFA = SP + 8
	done
