# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# Data word size 3.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000
	fres
	func
	row1	start=0, words=1, wsize=3
	.byte	8, 0, 0, 0, 0, 0, 0, 0
	done
