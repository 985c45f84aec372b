# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiled from cc.c by make --compile.

	.file	"cc.c"
	.text
	.section	.text.tail,"ax",@progbits
	.p2align 4
	.globl	tail
	.type	tail, @function
tail:
.LFB0:
	.cfi_startproc
	addl	$1, %edi
	jmp	get@PLT
	.cfi_endproc
.LFE0:
	.size	tail, .-tail
	.section	.text.frame,"ax",@progbits
	.p2align 4
	.globl	frame
	.type	frame, @function
frame:
.LFB1:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	movl	%edi, %ebx
	subq	$64, %rsp
	.cfi_def_cfa_offset 80
	movq	%rsp, %rdi
	call	use@PLT
	movl	%ebx, %edi
	andl	$63, %ebx
	call	get@PLT
	movl	%eax, %edx
	movsbl	(%rsp,%rbx), %eax
	addq	$64, %rsp
	.cfi_def_cfa_offset 16
	popq	%rbx
	.cfi_def_cfa_offset 8
	addl	%edx, %eax
	ret
	.cfi_endproc
.LFE1:
	.size	frame, .-frame
	.section	.text.big_frame,"ax",@progbits
	.p2align 4
	.globl	big_frame
	.type	big_frame, @function
big_frame:
.LFB2:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	movslq	%edi, %rbx
	subq	$40000, %rsp
	.cfi_def_cfa_offset 40016
	movq	%rsp, %rdi
	call	use@PLT
	movsbl	(%rsp,%rbx), %eax
	addq	$40000, %rsp
	.cfi_def_cfa_offset 16
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
.LFE2:
	.size	big_frame, .-big_frame
	.section	.text.variable,"ax",@progbits
	.p2align 4
	.globl	variable
	.type	variable, @function
variable:
.LFB3:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movl	%edi, %edi
	addq	$23, %rdi
	shrq	$4, %rdi
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	pushq	%rbx
	salq	$4, %rdi
	subq	$8, %rsp
	.cfi_offset 3, -24
	subq	%rdi, %rsp
	leaq	15(%rsp), %rbx
	andq	$-16, %rbx
	movq	%rbx, %rdi
	call	use@PLT
	movsbl	(%rbx), %eax
	movq	-8(%rbp), %rbx
	leave
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
.LFE3:
	.size	variable, .-variable
	.section	.text.aligned,"ax",@progbits
	.p2align 4
	.globl	aligned
	.type	aligned, @function
aligned:
.LFB4:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	pushq	%r12
	pushq	%rbx
	.cfi_offset 12, -24
	.cfi_offset 3, -32
	movl	%edi, %ebx
	andq	$-64, %rsp
	subq	$64, %rsp
	movq	%rsp, %rdi
	call	use@PLT
	movl	%ebx, %eax
	movl	%ebx, %edi
	andl	$15, %eax
	movl	(%rsp,%rax,4), %r12d
	call	get@PLT
	leaq	-16(%rbp), %rsp
	addl	%r12d, %eax
	popq	%rbx
	popq	%r12
	popq	%rbp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
.LFE4:
	.size	aligned, .-aligned
	.section	.text.aligned_variable,"ax",@progbits
	.p2align 4
	.globl	aligned_variable
	.type	aligned_variable, @function
aligned_variable:
.LFB5:
	.cfi_startproc
	leaq	8(%rsp), %r10
	.cfi_def_cfa 10, 0
	andq	$-64, %rsp
	movl	%edi, %eax
	pushq	-8(%r10)
	pushq	%rbp
	movq	%rsp, %rbp
	.cfi_escape 0x10,0x6,0x2,0x76,0
	pushq	%r12
	pushq	%r10
	.cfi_escape 0xf,0x3,0x76,0x70,0x6
	.cfi_escape 0x10,0xc,0x2,0x76,0x78
	leaq	-112(%rbp), %rdi
	pushq	%rbx
	.cfi_escape 0x10,0x3,0x2,0x76,0x68
	movq	%rax, %rbx
	addq	$23, %rax
	shrq	$4, %rax
	andl	$15, %ebx
	salq	$4, %rax
	subq	$88, %rsp
	subq	%rax, %rsp
	call	use@PLT
	leaq	15(%rsp), %r12
	andq	$-16, %r12
	movq	%r12, %rdi
	call	use@PLT
	movsbl	(%r12), %eax
	addl	-112(%rbp,%rbx,4), %eax
	leaq	-24(%rbp), %rsp
	popq	%rbx
	popq	%r10
	.cfi_def_cfa 10, 0
	popq	%r12
	popq	%rbp
	leaq	-8(%r10), %rsp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
.LFE5:
	.size	aligned_variable, .-aligned_variable
	.section	.text.unlikely.saves,"ax",@progbits
.LCOLDB0:
	.section	.text.saves,"ax",@progbits
.LHOTB0:
	.p2align 4
	.globl	saves
	.type	saves, @function
saves:
.LFB6:
	.cfi_startproc
	pushq	%r15
	.cfi_def_cfa_offset 16
	.cfi_offset 15, -16
	pushq	%r14
	.cfi_def_cfa_offset 24
	.cfi_offset 14, -24
	pushq	%r13
	.cfi_def_cfa_offset 32
	.cfi_offset 13, -32
	pushq	%r12
	.cfi_def_cfa_offset 40
	.cfi_offset 12, -40
	pushq	%rbp
	.cfi_def_cfa_offset 48
	.cfi_offset 6, -48
	pushq	%rbx
	.cfi_def_cfa_offset 56
	.cfi_offset 3, -56
	subq	$24, %rsp
	.cfi_def_cfa_offset 80
	movl	%edx, 12(%rsp)
	cmpl	$42, %edi
	je	.L14
	movl	%edi, %ebp
	movl	%esi, %r12d
	movl	%ecx, %r14d
	xorl	%r13d, %r13d
	xorl	%ebx, %ebx
	testl	%edi, %edi
	jle	.L13
	.p2align 4,,10
	.p2align 3
.L15:
	movl	%r13d, %edi
	addl	$1, %r13d
	call	get@PLT
	movl	12(%rsp), %edi
	imull	%r12d, %eax
	movl	%eax, %r15d
	call	get@PLT
	imull	%r14d, %eax
	addl	%r15d, %eax
	addl	%eax, %ebx
	cmpl	%r13d, %ebp
	jne	.L15
.L13:
	addq	$24, %rsp
	.cfi_def_cfa_offset 56
	movl	%ebx, %eax
	popq	%rbx
	.cfi_def_cfa_offset 48
	popq	%rbp
	.cfi_def_cfa_offset 40
	popq	%r12
	.cfi_def_cfa_offset 32
	popq	%r13
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%r15
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.section	.text.unlikely.saves
	.cfi_startproc
	.type	saves.cold, @function
saves.cold:
.LFSB6:
.L14:
	.cfi_def_cfa_offset 80
	.cfi_offset 3, -56
	.cfi_offset 6, -48
	.cfi_offset 12, -40
	.cfi_offset 13, -32
	.cfi_offset 14, -24
	.cfi_offset 15, -16
	call	die@PLT
	.cfi_endproc
.LFE6:
	.section	.text.saves
	.size	saves, .-saves
	.section	.text.unlikely.saves
	.size	saves.cold, .-saves.cold
.LCOLDE0:
	.section	.text.saves
.LHOTE0:
	.section	.note.GNU-stack,"",@progbits
