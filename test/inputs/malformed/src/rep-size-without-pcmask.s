# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# rep_size 16 in a function that is not PCMASK.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000, rep_size=16
	one_row
