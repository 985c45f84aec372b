#: about   An object with a .sframe of no bytes, as crt1.o of some distributions has it.
#: link    -shared -o out.so one.o two.o
#: check   one-section no-stray
#: row     f+0 cfa=sp+160 ra=same fp=same
#: end     f+2
#: part    one
	.section .sframe, "a", %0x6ffffff4
	.text
	nopr %r0
#: part    two
	.globl f
f:	.cfi_startproc
	nopr %r0
	.cfi_endproc
