#: about   The state is remembered for an early return, and restored after it.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
	nopr %r0
#: row     f+0 cfa=sp+160 ra=same fp=same
#: row     f+2 cfa=sp+320 ra=[cfa-48] fp=[cfa-72]
#: row     f+4 cfa=sp+160 ra=same fp=same
#: row     f+6 cfa=sp+320 ra=[cfa-48] fp=[cfa-72]
#: end     f+8
	.cfi_def_cfa_offset 320
	.cfi_offset %r11, -72
	.cfi_offset %r14, -48
	nopr %r0
	.cfi_remember_state
	.cfi_restore %r11
	.cfi_restore %r14
	.cfi_def_cfa_offset 160
	nopr %r0
	.cfi_restore_state
	nopr %r0
	.cfi_endproc
	.size f, .-f
