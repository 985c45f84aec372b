#: about   A lazy PLT: PLT0 has pushed one word more; each entry pushes after 11 bytes.
#: spec    2.3.3.1
#: optional
#: link    -shared -z lazy -z noibtplt -o out.so one.o
#: check   one-section no-stray
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: end     f+5
#: row     .plt+0 cfa=sp+16 ra=fixed fp=same
#: row     .plt+6 cfa=sp+24 ra=fixed fp=same
#: row     .plt+16 cfa=sp+8 ra=fixed fp=same
#: row     .plt+27 cfa=sp+16 ra=fixed fp=same
#: row     .plt+32 cfa=sp+8 ra=fixed fp=same
#: row     .plt+43 cfa=sp+16 ra=fixed fp=same
#: end     .plt+48
#: part    one
	.globl f
f:	.cfi_startproc
	call one@plt
	.cfi_endproc
	call two@plt
