# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2
# Version 0, otherwise a good version 2.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, version=0
	fde	start=0x1000
	fres
	func
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	done
