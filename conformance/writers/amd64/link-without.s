#: about   An object without .sframe among others: its functions have no rows, the others keep theirs.
#: link    -shared -o out.so one.o two.o
#: check   one-section no-stray
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: end     f+1
#: cannot  bare+0 nothing describes it
#: end     bare+1
#: part    one
	.globl bare
bare:	nop
#: part    two
	.globl f
f:	.cfi_startproc
	nop
	.cfi_endproc
