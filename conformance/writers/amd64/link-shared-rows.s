#: about   An object whose functions share their rows, in version 3. A linker may write them once or twice, and nothing beyond its section.
#: spec    2.3.1
#: link    -shared -o out.so one.o two.o
#: check   one-section no-stray
#: row     a+0 cfa=sp+8 ra=fixed fp=same
#: row     a+1 cfa=sp+16 ra=fixed fp=same
#: end     a+4
#: row     b+0 cfa=sp+8 ra=fixed fp=same
#: row     b+1 cfa=sp+16 ra=fixed fp=same
#: end     b+4
#: row     f+0 cfa=sp+24 ra=fixed fp=same
#: end     f+1
#: part    one
	.globl a, b
	.hidden a, b
a:	nop
	nop
	nop
	nop
b:	nop
	nop
	nop
	nop
	.section .sframe, "a", @0x6ffffff4
	.balign 8
	.2byte 0xdee2
	.byte 3, 4, 3, 0, -8, 0
	.4byte 2, 4, 5+3+3, 0, 32
1:	.8byte a - 1b
	.4byte 4, 0
2:	.8byte b - 2b
	.4byte 4, 0
	.2byte 2
	.byte 0, 0, 0
	.byte 0, 0x03, 8
	.byte 1, 0x03, 16
#: part    two
	.globl f
f:	.cfi_startproc
	.cfi_def_cfa_offset 24
	nop
	.cfi_endproc
