// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// aarch64 (aarch64_be with BE=1) with start addresses relative to their field, in version 2 what no producer writes: signed return addresses
// with either key, RA without FP, FP without RA (a zero RA word), an outermost row.

	.text
f:	.skip	32, 0
g:	.skip	16, 0
h:	.skip	16, 0

	.include "fields.inc"
	sframe
	header	flags=5, abi=2-BE, num_fdes=3, num_fres=8
	fde	start=f-., size=32, rows=a, num_fres=5
	fde	start=g-., size=16, rows=b, num_fres=2, info=0x20	// key B
	fde	start=h-., size=16, rows=c, num_fres=1, info=1		// 2-byte row addresses without need
	fres
	func	a
	row1	start=0, words=1
	.byte	0			// CFA = SP + 0
	row1	start=4, words=2
	.byte	16, -8			// CFA = SP + 16, RA at CFA - 8
	row1	start=8, words=3, sp=0
	.byte	32, -24, -32		// CFA = FP + 32, RA at CFA - 24, FP at CFA - 32
	row1	start=12, words=3
	.byte	16, 0, -16		// CFA = SP + 16, RA unchanged, FP at CFA - 16
	row1	start=16, words=0	// RA undefined
	func	b
	row1	start=0, words=1, signed=1
	.byte	0			// CFA = SP + 0, RA signed
	row1	start=4, words=3, wsize=1, signed=1
	.2byte	512, -504, -512		// CFA = SP + 512, RA at CFA - 504 signed, FP at CFA - 512
	func	c
	row2	start=0, words=3, wsize=2
	.4byte	0x20000, -0x1fff8, -0x20000
	done
