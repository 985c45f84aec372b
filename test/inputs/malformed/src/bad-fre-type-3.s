# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# Row type 3.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000, info=3
	one_row
