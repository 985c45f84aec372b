# Dies below functions whose rows have each kind of rule (DWARF 5, section 6.4.1), and below one whose CFA is found
# by a register that SFrame loses (with gas's --gsframe). AMD64; no libraries.
	.text
	.globl	_start
	.type	_start, @function
_start:	.cfi_startproc
	.cfi_undefined %rip
	and	$-16, %rsp
	call	aligned
	nop
	.cfi_endproc
	.size	_start, . - _start

	.macro	function name, next
	.type	\name, @function
\name:	.cfi_startproc
	.endm
	.macro	end name
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	function aligned
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	mov	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	and	$-64, %rsp
	call	clears
	mov	%rbx, %rsp
	pop	%rbx
	.cfi_def_cfa %rsp, 8
	end aligned

	function clears
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	xor	%ebx, %ebx
	call	counted
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	end clears

# The CFA by an expression: rsp + 16.
	function counted
	sub	$8, %rsp
	.cfi_escape 0x0f, 2, 0x77, 16
	call	stored
	add	$8, %rsp
	.cfi_def_cfa %rsp, 8
	end counted

# rbx where an expression says: at the CFA - 16. Return address by a value expression: what is at rsp + 8.
	function stored
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_escape 0x10, 3, 2, 0x40, 0x1c
	.cfi_escape 0x16, 16, 3, 0x77, 8, 0x06
	call	moved
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	end stored

# r12 in r13, rbp is the CFA - 16 (val_offset), r14 is lost, r15 is kept; r12 once by an expression that fails.
	function moved
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	mov	%r12, %r13
	.cfi_register %r12, %r13
	.cfi_escape 0x14, 6, 2
	.cfi_undefined %r14
	.cfi_same_value %r15
	call	failing
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	end moved

	function failing
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	.cfi_escape 0x10, 12, 1, 0xff
	.cfi_escape 0x16, 13, 3, 0x08, 8, 0x06
	.cfi_escape 0x10, 14, 2, 0x30, 0x06
	call	linked
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	end failing

# The return address in rbx.
	function linked
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rbx
	call	ends
	jmp	*%rbx
	.cfi_endproc
	.size	linked, . - linked

	.type	ends, @function
ends:	.cfi_startproc
	ud2
	.cfi_endproc
	.size	ends, . - ends
	.section .note.GNU-stack, "", @progbits
