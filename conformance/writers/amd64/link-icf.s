#: about   Two functions with equal code and frames that --icf=all makes one.
#: optional
#: link    -shared --icf=all -o out.so one.o
#: check   one-section no-stray
#: row     f+0 cfa=sp+16 ra=fixed fp=same
#: end     f+2
#: row     g+0 cfa=sp+16 ra=fixed fp=same
#: end     g+2
#: part    one
	.section .text.f, "ax", @progbits
	.globl f
f:	.cfi_startproc
	.cfi_def_cfa_offset 16
	nop
	ret
	.cfi_endproc
	.section .text.g, "ax", @progbits
	.globl g
g:	.cfi_startproc
	.cfi_def_cfa_offset 16
	nop
	ret
	.cfi_endproc
