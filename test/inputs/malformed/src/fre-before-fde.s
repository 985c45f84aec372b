# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# The row sub-section lies before the function sub-section: no overlap, only the order is unusual.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, auxhdr_len=0, fdeoff=.Lfdes2-.Lfdes, freoff=0, fre_len=.Lfdes2-.Lfres
	.if	V >= 3
	.set	.Lnum_a, 1
	.set	.Linfo_a, 0
	.set	.Linfo2_a, 0
	.set	.Lrep_a, 0
	.endif
	fres
	func
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	.balign	4, 0
.Lfdes2:
	fde	start=0x1000
	done
