# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# sfh_num_fdes times the entry size is 2^32 + 16, + 4, + 16 in versions 1, 2, 3: a 32-bit product is small.

	.include "fields.inc"
	.if	V == 1
	.set	COUNT, 0x0f0f0f10	# times 17
	.elseif	V == 2
	.set	COUNT, 0x0ccccccd	# times 20
	.else
	.set	COUNT, 0x10000001	# times 16
	.endif
	sframe
	header	flags=1, fixed_ra=-8, num_fdes=COUNT
	fde	start=0x1000
	one_row
