# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# FLEX rows that GNU as does not make: 2- and 4-byte words, an outermost row, FP without RA, a signal frame.
# Control word: register << 3 | deref << 1 | register-based.

	.text
f:	.skip	16, 0x90
sig:	.skip	16, 0x90

	.include "fields.inc"
	sframe
	header	flags=5, fixed_ra=-8, num_fdes=2, num_fres=5
	fde	start=f-., rows=a, num_fres=4, info2=1
	fde	start=sig-., rows=b, num_fres=1, info=0x80, info2=1
	fres
	func	a
	row1	start=0, words=2
	.byte	7<<3|1, 8		# CFA = rsp + 8
	row1	start=2, words=5, wsize=1
	.2byte	6<<3|3, -512		# CFA = *(rbp - 512)
	.2byte	0			# RA: fixed offset
	.2byte	6<<3|3, 0		# FP = *(rbp + 0)
	row1	start=4, words=4, wsize=2
	.4byte	3<<3|1, 0x12345		# CFA = rbx + 0x12345
	.4byte	1<<1, -0x10000		# RA = *(CFA - 0x10000)
	row1	start=6, words=0	# RA undefined
	func	b
	row1	start=0, words=6, wsize=1
	.2byte	7<<3|3, 160		# CFA = *(rsp + 160)
	.2byte	7<<3|3, 168		# RA = *(rsp + 168)
	.2byte	7<<3|3, 120		# FP = *(rsp + 120)
	done
