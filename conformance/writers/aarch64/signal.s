#: about   A signal frame with ordinary rules.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+160 ra=[cfa-8] fp=[cfa-16] signal
#: end     f+4
	.cfi_signal_frame
	.cfi_def_cfa_offset 160
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	nop
	.cfi_endproc
	.size f, .-f
