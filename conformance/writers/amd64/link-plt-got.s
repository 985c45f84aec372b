#: about   Entries of .plt.got push nothing: the frame is that of the call.
#: spec    2.3.3.1
#: optional
#: link    -shared -z lazy -z noibtplt -o out.so one.o
#: check   one-section no-stray
#: row     f+0 cfa=sp+8 ra=fixed fp=same
#: end     f+1
#: row     .plt.got+0 cfa=sp+8 ra=fixed fp=same
#: end     .plt.got+8
#: part    one
	.globl f
f:	.cfi_startproc
	nop
	.cfi_endproc
	call one@plt
	movq one@GOTPCREL(%rip), %rax
