#: about   An object without .sframe among others: its functions have no rows, the others keep theirs.
#: link    -shared -o out.so one.o two.o
#: check   one-section no-stray
#: row     f+0 cfa=sp+160 ra=same fp=same
#: end     f+2
#: cannot  bare+0 nothing describes it
#: end     bare+2
#: part    one
	.globl bare
bare:	nopr %r0
#: part    two
	.globl f
f:	.cfi_startproc
	nopr %r0
	.cfi_endproc
