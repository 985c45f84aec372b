# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# The row claims two words; the section ends after the first.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000
	fres
	func
	row1	start=0, words=2
	.byte	8			# CFA = SP + 8; FP's word is missing
	done
