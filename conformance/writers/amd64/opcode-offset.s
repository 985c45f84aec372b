#: about   DW_CFA_offset, DW_CFA_restore and DW_CFA_restore_extended as bytes.
	.text
	.type f, %function
f:
	.cfi_startproc
	nop
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+32 ra=fixed fp=[cfa-16]
#: row     f+2 cfa=sp+32 ra=fixed fp=same
#: row     f+3 cfa=sp+32 ra=fixed fp=[cfa-16]
#: row     f+4 cfa=sp+32 ra=fixed fp=same
#: end     f+5
	.cfi_def_cfa_offset 32
	.cfi_escape 0x86, 2
	nop
	.cfi_escape 0xc6
	nop
	.cfi_escape 0x86, 2
	nop
	.cfi_escape 0x06, 6
	nop
	.cfi_endproc
	.size f, .-f
