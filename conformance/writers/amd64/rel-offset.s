#: about   FP's slot is given relative to the CFA register: CFA is rsp + 32, the slot rsp + 8.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+32 ra=fixed fp=[cfa-24]
#: end     f+2
	nop
	.cfi_def_cfa_offset 32
	.cfi_rel_offset %rbp, 8
	nop
	.cfi_endproc
	.size f, .-f
