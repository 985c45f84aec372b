# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Two functions that share their rows: allowed by the format, done by no producer. The header counts them once.

	.text
f:	.skip	16, 0x90
g:	.skip	16, 0x90

	.include "fields.inc"
	sframe
	header	flags=5, fixed_ra=-8, num_fdes=2, num_fres=2
	fde	start=f-., rows=a, num_fres=2
	fde	start=g-., rows=a, num_fres=2
	fres
	func	a
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	row1	start=1, words=2
	.byte	16, -16			# CFA = SP + 16, FP at CFA - 16
	done
