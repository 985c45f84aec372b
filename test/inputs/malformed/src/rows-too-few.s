# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# The function claims 3 rows; the section ends after one.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, num_fres=3
	fde	start=0x1000, num_fres=3
	one_row
