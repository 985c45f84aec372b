# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 1 2 3
# sfh_freoff points past the end of the section.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, freoff=0x1000
	fde	start=0x1000
	fres
	func
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	done
