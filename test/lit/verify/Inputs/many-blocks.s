# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A PCMASK function against CFI of ROWS rows: so many pieces to compare as only a large section may ask for. EXTRA bytes that nothing uses make it so.
	.set	ROWS, 1200000

	.section .blocks,"ax",@nobits
	.globl	many
	.hidden	many
	.type	many, @function
many:
	.skip	ROWS
	.size	many, .-many
	.section .eh_frame,"a",@progbits
cie:
	.4byte	cie_end-cie_id
cie_id:
	.4byte	0
	.byte	1
	.asciz	"zR"
	.byte	1, 0x78, 16		# code and data alignment (-8), RA column
	.byte	1, 0x1b			# pcrel, sdata4
	.byte	0x0c, 7, 8		# def_cfa rsp + 8
	.byte	0x90, 1			# offset rip: CFA - 8
	.balign	4, 0
cie_end:
	.4byte	fde_end-fde_id
fde_id:
	.4byte	.-cie
	.4byte	many-., ROWS
	.byte	0
	.fill	ROWS-1, 3, 0x080e41	# advance_loc 1, def_cfa_offset 8
	.balign	4, 0
fde_end:
	.4byte	0

	.include "fields.inc"
	sframe
	header	flags=5, fixed_ra=-8
	fde	start=many-., size=ROWS, rows=a, num_fres=1, info=1<<4, rep_size=16
	fres
	func	a
	row1	start=0, words=1
	.byte	8			# CFA = SP + 8
	.skip	EXTRA
	done
