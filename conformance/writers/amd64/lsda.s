#: about   A personality routine and landing pads change no rows.
#: row     f+0 cfa=sp+16 ra=fixed fp=same
#: end     f+1
	.text
f:
	.cfi_startproc
	.cfi_personality 0x1b, personality
	.cfi_lsda 0x1b, table
	.cfi_def_cfa_offset 16
	nop
	.cfi_endproc
	.data
table:	.byte 0xff, 0xff, 1, 0
	.text
personality:
	nop
