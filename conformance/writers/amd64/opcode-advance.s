#: about   DW_CFA_advance_loc, _loc1, _loc2 and _loc4 as bytes: rows between labels.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+16 ra=fixed fp=same
#: row     f+2 cfa=sp+24 ra=fixed fp=same
#: row     f+3 cfa=sp+32 ra=fixed fp=same
#: row     f+4 cfa=sp+40 ra=fixed fp=same
#: end     f+5
	.cfi_escape 0x41, 0x0e, 16, 0x02, 1, 0x0e, 24, 0x03, 1, 0, 0x0e, 32, 0x04, 1, 0, 0, 0, 0x0e, 40
	nop
	nop
	nop
	nop
	nop
	.cfi_endproc
	.size f, .-f
