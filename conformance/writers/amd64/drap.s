#: about   A realigned stack (DRAP): CFA = *(rbp - 8), FP = *(rbp + 0).
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=r10+0 ra=fixed fp=same
#: row     f+2 cfa=r10+0 ra=fixed fp=[fp+0]
#: row     f+3 cfa=[fp-8] ra=fixed fp=[fp+0]
#: row     f+4 cfa=sp+8 ra=fixed fp=[fp+0]
#: end     f+5
	nop
	.cfi_def_cfa %r10, 0
	nop
	.cfi_escape 0x10, 6, 2, 0x76, 0
	nop
	.cfi_escape 0x0f, 3, 0x76, 0x78, 0x06
	nop
	.cfi_def_cfa %rsp, 8
	nop
	.cfi_endproc
	.size f, .-f
