# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# 15 words, where the ABI knows 2.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000
	fres
	func
	row1	start=0, words=15
	.byte	8, -16, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	done
