#: about   An object with 64 functions that share their rows, in version 3. A linker may write them once or many times, and nothing beyond its section.
#: spec    2.3.1
#: link    -shared -o out.so one.o two.o
#: check   one-section no-stray
#: row     a+0 cfa=sp+8 ra=fixed fp=same
#: row     a+1 cfa=sp+16 ra=fixed fp=same
#: row     a+4 cfa=sp+8 ra=fixed fp=same
#: row     a+5 cfa=sp+16 ra=fixed fp=same
#: row     a+8 cfa=sp+8 ra=fixed fp=same
#: end     a+9
#: row     a+252 cfa=sp+8 ra=fixed fp=same
#: row     a+253 cfa=sp+16 ra=fixed fp=same
#: end     a+256
#: row     f+0 cfa=sp+24 ra=fixed fp=same
#: end     f+1
#: part    one
	.globl a
	.hidden a
a:	.skip 256, 0x90
	.section .sframe, "a", @0x6ffffff4
	.balign 8
	.2byte 0xdee2
	.byte 3, 4, 3, 0, -8, 0
	.4byte 64, 128, 5+3+3, 0, 64*16
	.set i, 0
	.rept 64
	.8byte a + 4*i - .
	.4byte 4, 0
	.set i, i + 1
	.endr
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
