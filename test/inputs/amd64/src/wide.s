# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions of each size class at its borders, in a section without contents so that the file stays small.
# 255, 256, 65,535 and 65,536 bytes: 1-, 2-, 2- and 4-byte row addresses.

	.section .wide,"ax",@nobits

	.macro	sized name, size
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.skip	1
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	.skip	3
	.cfi_def_cfa_register %rbp
	.skip	\size - 5
	.cfi_def_cfa %rsp, 8
	.skip	1
	.cfi_endproc
	.size	\name, .-\name
	.endm

	sized	size_255, 255
	sized	size_256, 256
	sized	size_65535, 65535
	sized	size_65536, 65536

	.section .note.GNU-stack,"",@progbits
