# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A fixed FP offset in the header: the caller's FP is at CFA - 16 in every row. No ABI uses this today.

	.text
f:	.skip	16, 0x90

	.include "fields.inc"
	sframe
	header	flags=5, fixed_fp=-16, fixed_ra=-8, num_fres=2
	fde	start=f-., size=16, num_fres=2
	fres
	func
	row1	start=0, words=1
	.byte	16			# CFA = SP + 16
	row1	start=4, words=1, sp=0
	.byte	16			# CFA = FP + 16
	done
