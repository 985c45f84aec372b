#: about   A COMDAT function that two objects have is in the section once.
#: link    -shared -o out.so one.o two.o
#: check   one-section no-stray
#: row     f+0 cfa=sp+160 ra=same fp=same
#: end     f+2
#: row     g+0 cfa=sp+176 ra=same fp=same
#: end     g+2
#: row     inline+0 cfa=sp+168 ra=same fp=same
#: end     inline+2
#: part    one
	.globl f
f:	.cfi_startproc
	nopr %r0
	.cfi_endproc
	.section .text.inline, "axG", %progbits, inline, comdat
	.weak inline
inline:	.cfi_startproc
	.cfi_def_cfa_offset 168
	nopr %r0
	.cfi_endproc
#: part    two
	.globl g
g:	.cfi_startproc
	.cfi_def_cfa_offset 176
	nopr %r0
	.cfi_endproc
	.section .text.inline, "axG", %progbits, inline, comdat
	.weak inline
inline:	.cfi_startproc
	.cfi_def_cfa_offset 168
	nopr %r0
	.cfi_endproc
