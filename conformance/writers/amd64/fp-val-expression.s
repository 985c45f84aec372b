#: about   FP is computed by an expression that SFrame cannot say.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: cannot  f+1 FP is the sum of two registers
#: end     f+2
	nop
	.cfi_escape 0x16, 6, 5, 0x73, 0, 0x7c, 0, 0x22
	nop
	.cfi_endproc
	.size f, .-f
