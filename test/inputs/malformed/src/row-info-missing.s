# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# The section ends between a row's address and its info byte.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000
	fres
	func
	.byte	0			# sfre_start_address; sfre_info is missing
	done
