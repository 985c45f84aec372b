#: about   A segment of type PT_GNU_SFRAME has the section, and nothing else.
#: spec    1.1
#: link    -shared -o out.so one.o two.o
#: check   segment
#: row     f+0 cfa=sp+160 ra=same fp=same
#: row     f+2 cfa=sp+320 ra=[cfa-48] fp=[cfa-72]
#: end     f+4
#: row     g+0 cfa=sp+176 ra=same fp=same
#: end     g+2
#: part    one
	.globl f
f:	.cfi_startproc
	nopr %r0
	.cfi_def_cfa_offset 320
	.cfi_offset %r11, -72
	.cfi_offset %r14, -48
	nopr %r0
	.cfi_endproc
#: part    two
	.globl g
g:	.cfi_startproc
	.cfi_def_cfa_offset 176
	nopr %r0
	.cfi_endproc
