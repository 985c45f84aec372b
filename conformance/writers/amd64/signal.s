#: about   A signal frame with ordinary rules.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+160 ra=fixed fp=[cfa-40] signal
#: end     f+2
	.cfi_signal_frame
	.cfi_def_cfa_offset 160
	.cfi_offset %rbp, -40
	nop
	nop
	.cfi_endproc
	.size f, .-f
