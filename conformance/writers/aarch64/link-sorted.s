#: about   The flag SORTED is set, and the functions are sorted.
#: level   minimal
#: link    -shared -o out.so one.o two.o
#: check   sorted
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
