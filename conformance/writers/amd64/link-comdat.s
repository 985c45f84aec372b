#: about   A COMDAT function that two objects have is in the section once.
#: link    -shared -o out.so one.o two.o
#: check   one-section no-stray
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: end     f+1
#: row     g+0 cfa=sp+24 ra=fixed fp=same
#: end     g+1
#: row     inline+0 cfa=sp+16 ra=fixed fp=same
#: end     inline+1
#: part    one
	.globl f
f:	.cfi_startproc
	nop
	.cfi_endproc
	.section .text.inline, "axG", @progbits, inline, comdat
	.weak inline
inline:	.cfi_startproc
	.cfi_def_cfa_offset 16
	nop
	.cfi_endproc
#: part    two
	.globl g
g:	.cfi_startproc
	.cfi_def_cfa_offset 24
	nop
	.cfi_endproc
	.section .text.inline, "axG", @progbits, inline, comdat
	.weak inline
inline:	.cfi_startproc
	.cfi_def_cfa_offset 16
	nop
	.cfi_endproc
