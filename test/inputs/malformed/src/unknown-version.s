# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2
# Version 4, otherwise a good version 2.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, version=4
	fde	start=0x1000
	one_row
