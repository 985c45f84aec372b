# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 3
# Function type 7 in the second info byte (0 and 1 are defined).

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000, info2=7
	one_row
