# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Version 2 errata 1 on s390x, which no producer writes. The CFA word holds (offset - 160) / 8; an RA or FP word with
# bit 0 set names a register: register << 1 | 1; an RA word of 0 is "not saved".

	.text
f:	.skip	64, 0x07
g:	.skip	32, 0x07
h:	.skip	16, 0x07

	.include "fields.inc"
	sframe
	header	flags=5, abi=4, num_fdes=3, num_fres=10
	fde	start=f-., size=64, rows=a, num_fres=6
	fde	start=g-., size=32, rows=b, num_fres=3
	fde	start=h-., size=16, rows=c, num_fres=1
	fres
	func	a
	row1	start=0, words=1
	.byte	0			# CFA = SP + 160
	row1	start=6, words=3
	.byte	0, -48, -72		# CFA = SP + 160, RA at CFA - 48, FP at CFA - 72
	row1	start=10, words=3
	.byte	20, -48, -72		# CFA = SP + 320
	row1	start=14, words=3, sp=0
	.byte	20, -48, -72		# CFA = FP + 320
	row1	start=24, words=2
	.byte	20, -48			# RA saved, FP not
	row1	start=30, words=3
	.byte	0, 0, -72		# FP saved, RA not
	func	b
	row1	start=0, words=2
	.byte	0, 16<<1|1		# RA in f0 (DWARF 16)
	row1	start=4, words=3
	.byte	0, 16<<1|1, 17<<1|1	# RA in f0, FP in f2 (DWARF 17)
	row1	start=8, words=3, wsize=1
	.2byte	1024, 0, 18<<1|1	# CFA = SP + 8352, FP in f4 (DWARF 18)
	func	c
	row1	start=0, words=0	# RA undefined (errata 2)
	done
