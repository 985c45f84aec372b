# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# Starts before the section: -0x2000 and -0x1000, as in a text before the section. Valid.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, num_fdes=2, num_fres=2
	fde	start=-0x2000, size=16, rows=a
	fde	start=-0x1000, size=16, rows=b
	fres
	func	a
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	func	b
	row1	start=0, words=1
	.byte	16			# CFA = SP + 16
	done
