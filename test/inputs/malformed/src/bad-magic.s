# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# The magic number is 0xdee3.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, magic=0xdee3
	fde	start=0x1000
	one_row
