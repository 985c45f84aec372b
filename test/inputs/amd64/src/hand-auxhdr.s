# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# An auxiliary header of 12 bytes: the sub-section offsets count from its end.

	.text
f:	.skip	16, 0x90

	.include "fields.inc"
	sframe
	header	flags=5, fixed_ra=-8, auxhdr_len=12
	.ascii	"auxiliary..."		# nothing defines these bytes; a reader skips them
	auxhdr_end
	fde	start=f-., size=16
	one_row
