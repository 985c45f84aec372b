# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# sfh_num_fdes is 0xffffffff: times the entry size it overflows 32 bits.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, num_fdes=0xffffffff
	fde	start=0x1000
	one_row
