# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each function is named for the finding that its code brings about where BAD is 1; where it is 0 it has what comes near.
	.include "code-head-amd64.inc"

	.macro	two_paths
	test	%edi, %edi
	je	1f
	frame
	.if	BAD
	.cfi_adjust_cfa_offset -8
	.else
	no_frame
	.endif
1:
	.endm

	function k207			# paths with different frames meet
	two_paths
	call	helper
	ret
	done	k207

	function k208			# they do, before a trap
	two_paths
	mov	$1, %eax
	ud2
	done	k208

	function k209			# a return with the frame still there
	frame
	call	helper
	.if	!BAD
	no_frame
	.endif
	ret
	done	k209

	function k210			# a tail call with the frame still there
	frame
	call	helper
	.if	!BAD
	no_frame
	.endif
	jmp	helper
	done	k210

	function k301			# a jump to unknown places; without a frame it would be a tail call
	.if	BAD
	frame
	.endif
	jmp	*%rdi
	done	k301

	function k302			# bytes after the last instruction; no-operations are padding
	ret
	.if	BAD
	.byte	6, 6, 6, 6
	.else
	nop
	nop
	.endif
	done	k302

	function k303			# SP from elsewhere, or there and back
	mov	%rsp, %rax
	.if	BAD
	mov	(%rdi), %rsp
	.else
	mov	%rax, %rsp
	.endif
	call	helper
	ret
	done	k303

	function k303_eh_return		# the frame that is described at the end is not the caller's
	frame
	.if	BAD
	lea	16(%rsp,%rax), %rcx
	.cfi_def_cfa %rcx, 8
	mov	%rcx, %rsp
	.cfi_def_cfa %rsp, 8
	pop	%rcx
	.cfi_def_cfa_offset 0
	.cfi_register %rip, %rcx
	jmp	*%rcx
	.else
	no_frame
	ret
	.endif
	done	k303_eh_return

	function k304			# no instruction, or one that traps
	test	%edi, %edi
	je	1f
	ret
1:
	.if	BAD
	.byte	6
	.else
	ud2
	.endif
	done	k304

	function k305			# starts with a frame
	.if	BAD
	.cfi_def_cfa_offset 48
	.endif
	ud2
	done	k305

	function k306			# the row after a call fits only if it does not return
	test	%edi, %edi
	je	1f
	frame
	call	helper
	.if	BAD
	.cfi_def_cfa_offset 8
	.else
	no_frame
	.endif
1:
	ret
	done	k306

	function helper
	ret
	done	helper
