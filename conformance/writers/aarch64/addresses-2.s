#: about   Rows at offsets of 2 bytes.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+0 ra=same fp=same
#: row     f+256 cfa=sp+16 ra=same fp=same
#: row     f+65528 cfa=sp+0 ra=same fp=same
#: end     f+65532
	.skip 256
	.cfi_def_cfa_offset 16
	.skip 65272
	.cfi_def_cfa_offset 0
	.skip 4
	.cfi_endproc
	.size f, .-f
