# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# The function claims 0xffffffff rows (version 3: 0xffff).

	.include "fields.inc"
	.if	V >= 3
	.set	ROWS, 0xffff
	.else
	.set	ROWS, 0xffffffff
	.endif
	sframe
	header	flags=1, fixed_ra=-8, num_fres=0xffffffff
	fde	start=0x1000, num_fres=ROWS
	one_row
