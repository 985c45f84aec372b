# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A function entry of type PCMASK: 4 blocks of 16 bytes, each with the same two rows. Version 1 has no field for
# the block size; a reader has to take 16.

	.text
plt:	.skip	64, 0x90

	.include "fields.inc"
	.if	V == 1
	.set	PCREL, 0
	.else
	.set	PCREL, 4
	.endif
	sframe
	header	flags=PCREL|1, fixed_ra=-8, num_fres=2
	.if	V == 1
	fde	start=plt-.Lsframe, size=64, num_fres=2, info=0x10
	.else
	fde	start=plt-., size=64, num_fres=2, info=0x10, rep_size=16
	.endif
	fres
	func
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	row1	start=11, words=1
	.byte	16			# CFA = SP + 16, after the push
	done
