#: about   An object with a .sframe of no bytes, as crt1.o of some distributions has it.
#: link    -shared -o out.so one.o two.o
#: check   one-section no-stray
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: end     f+1
#: part    one
	.section .sframe, "a", @0x6ffffff4
	.text
	nop
#: part    two
	.globl f
f:	.cfi_startproc
	nop
	.cfi_endproc
