# What jit.c loads as generated code, once: it needs no relocation but those of its tables. No frame pointer, and SP is
# found again in a register only.
	.text
	.globl	generated_code
	.type	generated_code, @function
generated_code:                         # calls *%rdi, which must not return
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	movq	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	subq	$40, %rsp
	andq	$-64, %rsp
	callq	*%rdi
	movq	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	popq	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore %rbx
	retq
	.cfi_endproc
	.size	generated_code, . - generated_code
	.section	.note.GNU-stack,"",@progbits
