# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2
# The 2 padding bytes are not zero.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000, padding=0xabcd
	one_row
