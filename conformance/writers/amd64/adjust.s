#: about   The CFA's offset changes by amounts.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+48 ra=fixed fp=same
#: row     f+2 cfa=sp+40 ra=fixed fp=same
#: row     f+3 cfa=sp+8 ra=fixed fp=same
#: end     f+4
	nop
	.cfi_adjust_cfa_offset 40
	nop
	.cfi_adjust_cfa_offset -8
	nop
	.cfi_adjust_cfa_offset -32
	nop
	.cfi_endproc
	.size f, .-f
