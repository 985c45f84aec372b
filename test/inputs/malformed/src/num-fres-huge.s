# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# sfh_num_fres in the header is 0xffffffff.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, num_fres=0xffffffff
	fde	start=0x1000
	one_row
