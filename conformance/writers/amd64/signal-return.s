#: about   A signal trampoline: CFA = *(rsp + 160), RA = *(rsp + 168), FP = *(rsp + 120), by expressions.
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=[sp+160] ra=[sp+168] fp=[sp+120] signal
#: end     f+2
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06
	.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0x00
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 0x01
	nop
	nop
	.cfi_endproc
	.size f, .-f
