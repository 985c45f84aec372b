#: about   What --gc-sections removes has no function in the section; what stays has its own.
#: link    -static --gc-sections -e start -o out one.o
#: check   one-section no-stray
#: row     start+0 cfa=sp+0 ra=same fp=same
#: end     start+4
#: row     used+0 cfa=sp+24 ra=same fp=same
#: end     used+4
#: gone    unused
#: part    one
	.section .text.unused, "ax", %progbits
	.globl unused
unused:	.cfi_startproc
	.cfi_def_cfa_offset 8
	nop
	.cfi_endproc
	.section .text.start, "ax", %progbits
	.globl start
start:	.cfi_startproc
	bl used
	.cfi_endproc
	.section .text.used, "ax", %progbits
	.globl used
used:	.cfi_startproc
	.cfi_def_cfa_offset 24
	nop
	.cfi_endproc
