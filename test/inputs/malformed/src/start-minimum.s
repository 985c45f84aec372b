# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# The smallest start offset there is: adding the section address to it must not overflow.

	.include "fields.inc"
	.if	V >= 3
	.set	LOWEST, -0x8000000000000000
	.else
	.set	LOWEST, -0x80000000
	.endif
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=LOWEST, size=16
	one_row
