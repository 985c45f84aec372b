#: about   A CFA that SFrame cannot say: rbx + (r12 << 3).
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: cannot  f+1 the CFA is a sum of registers
#: end     f+2
	nop
	.cfi_escape 0x0f, 7, 0x73, 0, 0x7c, 0, 0x33, 0x24, 0x22
	nop
	.cfi_endproc
	.size f, .-f
