# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# PCMASK with rep_size 0: a division by zero for the careless.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000, info=0x10, rep_size=0
	fres
	func
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	done
