# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# The row sub-section starts inside the function sub-section.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, freoff=8, fre_len=.Ldone-.Lfdes-8
	fde	start=0x1000
	one_row
