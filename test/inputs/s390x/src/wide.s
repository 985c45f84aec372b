# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions of each size class at its borders, in a section without contents so that the file stays small.
# 254, 256, 65,534 and 65,536 bytes: 1-, 2-, 2- and 4-byte row addresses.

	.section .wide,"ax",@nobits

	.macro	sized name, size
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.skip	2
	.cfi_def_cfa_offset 320
	.cfi_offset %r14, -48
	.skip	4
	.cfi_offset %r11, -72
	.skip	\size - 8
	.cfi_def_cfa_offset 160
	.skip	2
	.cfi_endproc
	.size	\name, .-\name
	.endm

	sized	size_254, 254
	sized	size_256, 256
	sized	size_65534, 65534
	sized	size_65536, 65536

	.section .note.GNU-stack,"",@progbits
