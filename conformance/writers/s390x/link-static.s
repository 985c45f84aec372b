#: about   Two objects become one section, in a static executable at fixed addresses.
#: link    -static -e f -o out one.o two.o
#: check   one-section no-stray
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
