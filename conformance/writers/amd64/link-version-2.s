#: about   An object with a section of version 2 among those of the assembler. Both may be there, or one left out; no row may be wrong.
#: spec    2.1.2
#: optional
#: link    -shared -o out.so one.o two.o
#: check   no-stray
#: row     a+0 cfa=sp+8 ra=fixed fp=same
#: row     a+1 cfa=sp+16 ra=fixed fp=same
#: end     a+4
#: row     f+0 cfa=sp+24 ra=fixed fp=same
#: end     f+1
#: part    one
	.globl a
	.hidden a
a:	nop
	nop
	nop
	nop
	.section .sframe, "a", @0x6ffffff4
	.balign 8
	.2byte 0xdee2
	.byte 2, 4, 3, 0, -8, 0
	.4byte 1, 2, 3+3, 0, 20
1:	.4byte a - 1b, 4, 0, 2
	.byte 0, 0
	.2byte 0
	.byte 0, 0x03, 8
	.byte 1, 0x03, 16
#: part    two
	.globl f
f:	.cfi_startproc
	.cfi_def_cfa_offset 24
	nop
	.cfi_endproc
