# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Outermost frames. Version 2 errata 2: a row with no words; version 3 also: a function without rows.

	.text
outer_row:				# ordinary first, outermost from byte 2 on
	.skip	8, 0x90
outer_all:				# outermost throughout
	.skip	8, 0x90

	.include "fields.inc"
	sframe
	header	flags=4, fixed_ra=-8, num_fdes=2, num_fres=5-V
	fde	start=outer_row-., size=8, rows=a, num_fres=2
	fde	start=outer_all-., size=8, rows=b, num_fres=3-V
	fres
	func	a
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	row1	start=2, words=0	# RA undefined
	func	b
	.if	V < 3
	row1	start=0, words=0	# RA undefined
	.endif
	done
