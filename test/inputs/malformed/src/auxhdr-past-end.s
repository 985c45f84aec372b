# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# An auxiliary header of 255 bytes that the section does not have.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, auxhdr_len=255, num_fdes=0, num_fres=0, fre_len=0, freoff=0
	.ascii	"short"			# 5 of 255
