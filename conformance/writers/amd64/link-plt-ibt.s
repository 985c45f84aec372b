#: about   The PLT for indirect branch tracking: entries of .plt push after endbr64 and 5 bytes, those of .plt.sec push nothing.
#: spec    2.3.3.1
#: optional
#: link    -shared -z lazy -z ibtplt -o out.so one.o
#: check   one-section no-stray
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: end     f+5
#: row     .plt+0 cfa=sp+16 ra=fixed fp=same
#: row     .plt+6 cfa=sp+24 ra=fixed fp=same
#: row     .plt+16 cfa=sp+8 ra=fixed fp=same
#: row     .plt+25 cfa=sp+16 ra=fixed fp=same
#: row     .plt+32 cfa=sp+8 ra=fixed fp=same
#: row     .plt+41 cfa=sp+16 ra=fixed fp=same
#: end     .plt+48
#: row     .plt.sec+0 cfa=sp+8 ra=fixed fp=same
#: end     .plt.sec+32
#: part    one
	.globl f
f:	.cfi_startproc
	call one@plt
	.cfi_endproc
	call two@plt
