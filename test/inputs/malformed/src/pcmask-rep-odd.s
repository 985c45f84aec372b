# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# PCMASK: 16 bytes in blocks of 7.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000, info=0x10, rep_size=7
	one_row
