# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# PCMASK: the second row starts at 16 in blocks of 16.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, num_fres=2
	fde	start=0x1000, size=64, num_fres=2, info=0x10, rep_size=16
	fres
	func
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	row1	start=16, words=1
	.byte	16			# CFA = SP + 16
	done
