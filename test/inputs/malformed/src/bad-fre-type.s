# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# Row type 5.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000, info=5
	one_row
