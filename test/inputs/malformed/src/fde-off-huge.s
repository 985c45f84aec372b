# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# sfh_fdeoff is 0xfffffff0: added to the header size it overflows 32 bits.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, fdeoff=0xfffffff0
	fde	start=0x1000
	one_row
