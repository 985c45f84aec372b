# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# The function's size is 0xffffffff: start + size leaves 32 bits.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000, size=0xffffffff
	fres
	func
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	done
