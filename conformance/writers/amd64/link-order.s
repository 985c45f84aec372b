#: about   The object that comes first has the higher addresses: the index is sorted.
#: link    -shared --section-start=.text.high=0x800000 -o out.so one.o two.o
#: check   one-section sorted no-stray
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: row     f+1 cfa=sp+16 ra=fixed fp=[cfa-16]
#: end     f+2
#: row     g+0 cfa=sp+24 ra=fixed fp=same
#: end     g+1
#: part    one
	.section .text.high, "ax"
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
