#: about   The return address is signed, saved, restored, and authenticated.
#: level   minimal
	.text
	.type f, %function
f:
	.cfi_startproc
#: row     f+0 cfa=sp+0 ra=same fp=same
#: row     f+4 cfa=sp+0 ra=same fp=same signed
#: row     f+8 cfa=sp+32 ra=[cfa-8] fp=[cfa-16] signed
#: row     f+12 cfa=sp+0 ra=same fp=same
#: end     f+16
	nop
	.cfi_negate_ra_state
	nop
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	nop
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	.cfi_negate_ra_state
	nop
	.cfi_endproc
	.size f, .-f
