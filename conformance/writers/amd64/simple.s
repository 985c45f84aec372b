#: about   No initial rules (.cfi_startproc simple): the function gives all of them.
#: row     f+0 cfa=sp+16 ra=fixed fp=same
#: end     f+2
	.text
f:
	.cfi_startproc simple
	.cfi_def_cfa %rsp, 16
	.cfi_offset %rip, -8
	nop
	nop
	.cfi_endproc
