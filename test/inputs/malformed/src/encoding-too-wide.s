# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# versions: 2 3
# 4-byte row addresses and 4-byte words where 1 byte each would do. Wasteful, valid.

	.include "fields.inc"
	sframe
	header	flags=1, fixed_ra=-8
	fde	start=0x1000, info=2
	fres
	func
	row4	start=0, words=1, wsize=2
	.4byte	8			# CFA = SP + 8
	done
