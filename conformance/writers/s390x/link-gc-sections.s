#: about   What --gc-sections removes has no function in the section; what stays has its own.
#: link    -static --gc-sections -e start -o out one.o
#: check   one-section no-stray
#: row     start+0 cfa=sp+160 ra=same fp=same
#: end     start+6
#: row     used+0 cfa=sp+184 ra=same fp=same
#: end     used+2
#: gone    unused
#: part    one
	.section .text.unused, "ax", %progbits
	.globl unused
unused:	.cfi_startproc
	.cfi_def_cfa_offset 168
	nopr %r0
	.cfi_endproc
	.section .text.start, "ax", %progbits
	.globl start
start:	.cfi_startproc
	brasl %r14,used
	.cfi_endproc
	.section .text.used, "ax", %progbits
	.globl used
used:	.cfi_startproc
	.cfi_def_cfa_offset 184
	nopr %r0
	.cfi_endproc
