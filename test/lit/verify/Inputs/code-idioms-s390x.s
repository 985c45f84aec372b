# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What compilers do with stacks. All is described rightly; with BAD=1 the row at each `check` is 8 bytes off, so that an idiom which stops
# the analysis shows, too. BAD does not change the code.
	.include "code-head-s390x.inc"

	function multiple		# registers are saved and restored together
	frame
	brasl	%r14, helper
	check
	no_frame
	br	%r14
	done	multiple

	function jump_table
	frame
	clgfi	%r2, 1
	jh	3f
	larl	%r1, .Ltable
	sllg	%r2, %r2, 3
	lg	%r2, 0(%r2,%r1)
	agr	%r2, %r1
	br	%r2
1:	check
	j	3f
2:	lghi	%r2, 1
3:	no_frame
	br	%r14
	.section .rodata
	.balign	8
.Ltable:
	.8byte	1b-.Ltable, 2b-.Ltable
	.text
	done	jump_table

	function jump_table_of_words	# as gcc writes it for newer machines
	frame
	clfi	%r2, 1
	jh	3f
	risbg	%r2, %r2, 29, 128+60, 3
	larl	%r1, .Ltable_of_words
	lg	%r2, 0(%r2,%r1)
	b	0(%r2,%r1)
1:	check
	j	3f
2:	lghi	%r2, 1
3:	no_frame
	br	%r14
	.section .rodata
.Ltable_of_words:
	.8byte	1b-.Ltable_of_words, 2b-.Ltable_of_words
	.text
	done	jump_table_of_words

	function tail_call
	frame
	check
	no_frame
	ltr	%r2, %r2
	jgne	helper
	br	%r1
	done	tail_call

	function hot			# with a cold part, which comes back
	frame
	ltr	%r2, %r2
	jge	hot.cold
.Lback:
	check
	no_frame
	br	%r14
	done	hot
	function hot.cold
	.cfi_def_cfa_offset 328+8*BAD
	saved
	brasl	%r14, helper
	.cfi_def_cfa_offset 328
	jg	.Lback
	done	hot.cold

	function no_return		# only another path comes after the call
	ltr	%r2, %r2
	jne	1f
	br	%r14
1:	frame
	check
	brasl	%r14, abort@PLT
	done	no_return

	function alloca
	frame
	lgr	%r11, %r15
	.cfi_def_cfa_register 11
	lcgr	%r2, %r2
	la	%r15, 0(%r2,%r15)
	brasl	%r14, helper
	check
	lmg	%r6, %r15, 216(%r11)
	restored
	br	%r14
	done	alloca

	function in_float_registers	# a leaf
	ldgr	%f0, %r11
	.cfi_register 11, 16
	lgr	%r11, %r15
	.cfi_def_cfa_register 11
	check
	lgdr	%r11, %f0
	.cfi_restore 11
	.cfi_def_cfa_register 15
	br	%r14
	done	in_float_registers

	function float_saved		# call-saved ones, too
	frame
	std	%f8, 160(%r15)
	.cfi_offset 24, -168
	brasl	%r14, helper
	ld	%f8, 160(%r15)
	.cfi_restore 24
	check
	no_frame
	br	%r14
	done	float_saved

	function shrink_wrapped		# and returns under a condition
	ltr	%r2, %r2
	ber	%r14
	frame
	brasl	%r14, helper
	check
	no_frame
	br	%r14
	done	shrink_wrapped

	function landing_pad
	.cfi_personality 0x1b, helper
	.cfi_lsda 0x1b, .Llsda
	frame
.Lfrom:	brasl	%r14, helper
.Lto:	no_frame
	br	%r14
.Lpad:	.cfi_def_cfa_offset 328
	saved
	check
	brasl	%r14, _Unwind_Resume@PLT
	.section .gcc_except_table, "a", @progbits
.Llsda:
	.byte	0xff, 0xff, 1			# no landing pad base, no types, call sites in ULEB128
	.uleb128 .Lsites_end-.Lsites
.Lsites:
	.uleb128 .Lfrom-landing_pad, .Lto-.Lfrom, .Lpad-landing_pad, 0
.Lsites_end:
	.text
	done	landing_pad

	function table_by_link_register	# LLVM adds the entry to the table's address, in any register
	frame
	clgfi	%r2, 1
	jh	3f
	sllg	%r2, %r2, 2
	larl	%r14, .Ltable_by_link_register
	agf	%r14, 0(%r2,%r14)
	br	%r14
1:	check
	j	3f
2:	lghi	%r2, 1
3:	no_frame
	br	%r14
	.section .rodata
	.balign	4
.Ltable_by_link_register:
	.4byte	1b-.Ltable_by_link_register, 2b-.Ltable_by_link_register
	.text
	done	table_by_link_register

	function valgrind_request	# SP is copied to itself
	frame
	lr	%r15, %r15
	lr	%r1, %r1
	lr	%r2, %r2
	lr	%r3, %r3
	check
	no_frame
	br	%r14
	done	valgrind_request

	function warn			# the kernel's WARN comes back
	frame
	mc	0, 0
	check
	no_frame
	br	%r14
	done	warn

	function bug			# and BUG does not: another path comes after it
	ltr	%r2, %r2
	je	1f
	frame
	check
	mc	0, 0
	restored
1:	br	%r14
	done	bug

	function jump_label		# a jump, once the kernel has patched it
	frame
	brcl	0, 1f
	check
	no_frame
	br	%r14
1:	.cfi_def_cfa_offset 328
	saved
	lghi	%r3, 0
	no_frame
	br	%r14
	done	jump_label

	function clears_in_a_loop	# r11 is no frame pointer; the array is smaller than the loop's step
	frame
	la	%r11, 160(%r15)
1:	xc	0(256,%r11), 0(%r11)
	la	%r11, 256(%r11)
	brctg	%r2, 1b
	check
	no_frame
	br	%r14
	done	clears_in_a_loop

	function probes_stack		# LLVM, for frames of many pages
	stmg	%r6, %r15, 48(%r15)
	saved
	lgr	%r0, %r15
	aghi	%r0, -20480
	.cfi_def_cfa 0, 20640
1:	aghi	%r15, -4096
	cg	%r0, 4088(%r15)
	clgrjh	%r15, %r0, 1b
	.cfi_def_cfa_register 15
	check
	aghi	%r15, -40
	.cfi_def_cfa_offset 20680
	check
	lmg	%r6, %r15, 20568(%r15)
	restored
	br	%r14
	done	probes_stack

	function eh_return		# gcc up to 13: the handler's address becomes the return address
	frame
	brasl	%r14, helper
	stg	%r2, 280(%r15)
	check
	no_frame
	br	%r14
	done	eh_return

	function exits			# by system call: another path comes after it
	ltr	%r2, %r2
	je	1f
	frame
	check
	svc	248
	restored
1:	br	%r14
	done	exits

	function exits_by_register	# the number of the call in r1
	ltr	%r2, %r2
	je	1f
	frame
	check
	lghi	%r1, 248
	svc	0
	restored
1:	br	%r14
	done	exits_by_register

	function returns.cold		# a cold part that takes the frame down itself
	.cfi_def_cfa_offset 328
	saved
	brasl	%r14, helper
	check
	no_frame
	br	%r14
	done	returns.cold

	function helper
	.cfi_adjust_cfa_offset 8*BAD
	br	%r14
	done	helper
