#: about   A signal frame with ordinary rules.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+320 ra=[cfa-48] fp=[cfa-72] signal
#: end     f+2
	.cfi_signal_frame
	.cfi_def_cfa_offset 320
	.cfi_offset %r11, -72
	.cfi_offset %r14, -48
	nopr %r0
	.cfi_endproc
	.size f, .-f
