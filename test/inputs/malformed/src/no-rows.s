# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# A function with no rows: in version 3 outermost, before that nothing at all.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, num_fres=0
	fde	start=0x1000, num_fres=0
	fres
	func
	done
