# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Function entries in falling order, and the SORTED flag honestly clear.

	.text
f:	.skip	16, 0x90
g:	.skip	16, 0x90
h:	.skip	16, 0x90

	.include "fields.inc"
	sframe
	header	flags=4, fixed_ra=-8, num_fdes=3, num_fres=3
	fde	start=h-., rows=a
	fde	start=f-., rows=b
	fde	start=g-., rows=c
	fres
	func	a
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	func	b
	row1	start=0, words=1
	.byte	16			# CFA = SP + 16
	func	c
	row1	start=0, words=1
	.byte	24			# CFA = SP + 24
	done
