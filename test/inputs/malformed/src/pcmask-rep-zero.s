# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# PCMASK with rep_size 0: a division by zero for the careless.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000, info=0x10, rep_size=0
	one_row
