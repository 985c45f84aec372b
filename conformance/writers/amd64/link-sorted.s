#: about   The flag SORTED is set, and the functions are sorted.
#: level   minimal
#: link    -shared -o out.so one.o two.o
#: check   sorted
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+16 ra=fixed fp=[cfa-16]
#: end     f+2
#: row     g+0 cfa=sp+24 ra=fixed fp=same
#: end     g+1
#: part    one
	.globl f
f:	.cfi_startproc
	nop
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	nop
	.cfi_endproc
#: part    two
	.globl g
g:	.cfi_startproc
	.cfi_def_cfa_offset 24
	nop
	.cfi_endproc
