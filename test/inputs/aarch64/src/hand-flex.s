// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FLEX functions on aarch64 and aarch64_be: GNU as writes none, nothing in the format forbids them.
// Control word: register << 3 | deref << 1 | register-based.

	.text
f:	.skip	32, 0

	.include "fields.inc"
	sframe
	header	flags=5, abi=2-BE, num_fdes=1, num_fres=5
	fde	start=f-., size=32, rows=a, num_fres=5, info2=1
	fres
	func	a
	row1	start=0, words=2, wsize=1
	.2byte	31<<3|1, 0		// CFA = sp + 0
	row1	start=4, words=5, wsize=1
	.2byte	31<<3|1, 16		// CFA = sp + 16
	.2byte	0			// RA unchanged
	.2byte	1<<1, -16		// FP = *(CFA - 16)
	row1	start=8, words=4, wsize=1, signed=1
	.2byte	9<<3|1, 0		// CFA = x9 + 0
	.2byte	10<<3|1, 0		// RA = x10, signed
	row1	start=12, words=4
	.byte	9<<3|3, 16		// CFA = *(x9 + 16)
	.byte	1<<1, -8		// RA = *(CFA - 8)
	row1	start=16, words=0	// RA undefined
	done
