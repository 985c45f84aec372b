# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# All undefined flag bits set (0xf8), SORTED too.

	.include "fields.inc"
	sframe
	header	flags=0xf9, fixed_ra=-8
	fde	start=0x1000
	one_row
