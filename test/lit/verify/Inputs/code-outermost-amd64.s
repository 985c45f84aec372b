# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A function whose only row is outermost, which is right for any state, then one whose only row is wrong for a
# part of it, also after a branch. The rows of the second are where those of the first were in memory.
	.include "code-head-amd64.inc"

	function start
	.cfi_undefined %rip
	call	pushes
	ud2
	done	start

	function pushes
	push	%rbx
	.cfi_adjust_cfa_offset 8*(1-BAD)
	test	%edi, %edi
	je	1f
	nop
1:	pop	%rbx
	.cfi_adjust_cfa_offset -8*(1-BAD)
	ret
	done	pushes
