#: about   Two objects become one section, in a static executable at fixed addresses.
#: link    -static -e f -o out one.o two.o
#: check   one-section no-stray
#: row     f+0 cfa=sp+0 ra=same fp=same
#: row     f+4 cfa=sp+160 ra=[cfa-8] fp=[cfa-16]
#: end     f+8
#: row     g+0 cfa=sp+16 ra=same fp=same
#: end     g+4
#: part    one
	.globl f
f:	.cfi_startproc
	nop
	.cfi_def_cfa_offset 160
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	nop
	.cfi_endproc
#: part    two
	.globl g
g:	.cfi_startproc
	.cfi_def_cfa_offset 16
	nop
	.cfi_endproc
