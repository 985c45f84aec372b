#: about   The usual frame: FP and RA are saved, FP becomes the base, all is restored.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+0 ra=same fp=same
#: row     f+4 cfa=sp+160 ra=[cfa-8] fp=[cfa-16]
#: row     f+8 cfa=fp+160 ra=[cfa-8] fp=[cfa-16]
#: row     f+16 cfa=sp+0 ra=same fp=same
#: end     f+20
	nop
	.cfi_def_cfa_offset 160
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	nop
	.cfi_def_cfa_register x29
	nop
	nop
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa sp, 0
	nop
	.cfi_endproc
	.size f, .-f
