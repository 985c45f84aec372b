# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# The header counts 7 rows, the function entries 1.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, num_fres=7
	fde	start=0x1000
	one_row
