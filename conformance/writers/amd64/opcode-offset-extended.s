#: about   DW_CFA_offset_extended and _sf as bytes: rbp at CFA - 16, then at CFA - 24.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+32 ra=fixed fp=same
#: row     f+1 cfa=sp+32 ra=fixed fp=[cfa-16]
#: row     f+2 cfa=sp+32 ra=fixed fp=[cfa-24]
#: end     f+3
	.cfi_def_cfa_offset 32
	nop
	.cfi_escape 0x05, 6, 2
	nop
	.cfi_escape 0x11, 6, 3
	nop
	.cfi_endproc
	.size f, .-f
