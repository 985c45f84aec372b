# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Four functions of version 3 on AMD64 (header 28 bytes, index 4 * 16, so rows from 0x5c; 5 bytes of attributes before each function's rows):
# words of 2 bytes that need them; words of 2 bytes that fit one; flexible with a control word that fits one byte only
# without a sign, and an offset that does not; words of 4 bytes that fit two, RA signed.
	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8, num_fdes=4, num_fres=4
	fde	start=0x1000, rows=a
	fde	start=0x1010, rows=b
	fde	start=0x1020, rows=c, info2=1
	fde	start=0x1030, rows=d
	fres
	func	a
	row1	start=0, words=1, wsize=1
	.2byte	128
	func	b
	row1	start=0, words=1, wsize=1
	.2byte	127
	func	c
	row1	start=0, words=2, wsize=1
	.2byte	16<<3|1, 128
	func	d
	.byte	0, 0x80|2<<5|1<<1|1	# offset; signed, words of 4 bytes, one of them, CFA based on SP
	.4byte	0x100
	done
