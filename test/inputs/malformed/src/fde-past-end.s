# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# sfh_fdeoff points past the end of the section.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, fdeoff=0x1000
	fde	start=0x1000
	one_row
