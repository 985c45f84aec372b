#: about   The same with key B.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+0 ra=same fp=same key=b
#: row     f+4 cfa=sp+0 ra=same fp=same signed key=b
#: end     f+8
	.cfi_b_key_frame
	nop
	.cfi_negate_ra_state
	nop
	.cfi_endproc
	.size f, .-f
