# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Go on s390x has SP = CFA in its CFI, where SFrame has SP = CFA - 160: the rows are the CFI's with a CFA that is 160 bytes above. Exactly these agree
# with the CFI, and with the code.

# RUN: llvm-mc -filetype=obj -triple=s390x-linux-gnu --defsym=FRAME=96 --defsym=GO=1 %s -o %t.o && ld.lld -shared --section-start=.text=0x20000 %t.o -o %t.so
# RUN: llvm-mc -filetype=obj -triple=s390x-linux-gnu --defsym=FRAME=104 --defsym=GO=1 %s -o %t.wrong.o && \
# RUN:   ld.lld -shared --section-start=.text=0x20000 %t.wrong.o -o %t.wrong.so
# RUN: llvm-mc -filetype=obj -triple=s390x-linux-gnu --defsym=FRAME=96 --defsym=GO=0 %s -o %t.plain.o && \
# RUN:   ld.lld -shared --section-start=.text=0x20000 %t.plain.o -o %t.plain.so
# RUN: sframe-gen %t.so --emit=section -o %t.s --report=none
# RUN: sframe-gen %t.wrong.so --emit=section -o %t.wrong.s --report=none
# RUN: sframe-gen %t.plain.so --emit=section -o %t.plain.s --report=none

# RUN: sframe-verify --check=structure,cfi,code --sframe %t.s %t.so | FileCheck %s
# CHECK: 1 function: 1 agree, {{.*}} 0 errors, 0 warnings, {{.*}}; 28 addresses compared

# A frame of another size.
# RUN: not sframe-verify --check=cfi,code --sframe %t.wrong.s %t.so | FileCheck %s --check-prefix=WRONG
# WRONG-DAG: error: C102 {{.*}} go+0xc: CFA is sp+264 in SFrame, sp+256 in the CFI
# WRONG-DAG: error: K201 {{.*}} go+0xc: the CFA rule sp+264 yields CFA+8

# The CFA that the CFI names.
# RUN: not sframe-verify --check=cfi,code --sframe %t.plain.s %t.so | FileCheck %s --check-prefix=PLAIN
# PLAIN-DAG: error: C102 0x20000-0x2001b go: CFA is sp+0 in SFrame, sp+160 in the CFI
# PLAIN-DAG: error: K201 {{.*}} go: the CFA rule sp+0 yields CFA-160

	.globl	go
	.type	go, @function
go:	.cfi_startproc
	.cfi_def_cfa %r15, 0
	.if	GO
	.cfi_escape 0x14, 15, 0			# SP: val_offset 0
	.endif
	stg	%r14, -96(%r15)
	lay	%r15, -96(%r15)
	.cfi_def_cfa_offset FRAME
	.cfi_offset %r14, -FRAME
	lghi	%r2, 0
	lg	%r14, 0(%r15)
	.cfi_same_value %r14
	la	%r15, 96(%r15)
	.cfi_def_cfa_offset 0
	br	%r14
	.cfi_endproc
	.size	go, .-go
