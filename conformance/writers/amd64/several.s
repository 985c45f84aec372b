#: about   Several functions, one without call frame information, and one in a section of its own.
#: level   minimal
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: end     f+2
#: cannot  bare+0 nothing describes it
#: end     bare+2
#: row     g+0 cfa=sp+16 ra=fixed fp=same
#: end     g+1
#: row     h+0 cfa=sp+24 ra=fixed fp=same
#: end     h+1
#: check   one-section
	.text
f:
	.cfi_startproc
	nop
	nop
	.cfi_endproc
bare:
	nop
	nop
g:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	nop
	.cfi_endproc
	.section .text.h, "ax", %progbits
h:
	.cfi_startproc
	.cfi_def_cfa_offset 24
	nop
	.cfi_endproc
