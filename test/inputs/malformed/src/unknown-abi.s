# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# ABI 9.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, abi=9
	fde	start=0x1000
	one_row
