# Files whose debug information LLVM's reader cannot be given, for it would end the program: findings come without source lines.
#
# REQUIRES: python3
# The rows are those of a function that has saved another register, so that they contradict the CFI.
# RUN: rm -rf %t && mkdir %t
# RUN: llvm-mc -triple=x86_64-linux-gnu -filetype=obj -g -defsym=OFFSET=16 %s -o %t/cfi.o
# RUN: llvm-mc -triple=x86_64-linux-gnu -filetype=obj -g -defsym=OFFSET=24 %s -o %t/other.o
# RUN: sframe-gen -q %t/other.o -o %t/sframe.o
# RUN: llvm-objcopy --dump-section=.eh_frame=%t/eh_frame %t/cfi.o
# RUN: llvm-objcopy --update-section=.eh_frame=%t/eh_frame %t/sframe.o %t/whole.o
# RUN: not sframe-verify %t/whole.o | FileCheck %s --check-prefixes=FOUND,LINES
# RUN: python3 %S/../Inputs/damage-for-llvm.py huge %t/whole.o %t/huge.o
# RUN: not sframe-verify %t/huge.o | FileCheck %s --check-prefixes=FOUND,NONE
# RUN: python3 %S/../Inputs/damage-for-llvm.py link %t/whole.o %t/link.o
# RUN: not sframe-verify %t/link.o | FileCheck %s --check-prefixes=FOUND,NONE
# RUN: python3 %S/../Inputs/damage-for-llvm.py entsize %t/whole.o %t/entsize.o
# RUN: not sframe-verify %t/entsize.o | FileCheck %s --check-prefixes=FOUND,NONE
# RUN: python3 %S/../Inputs/damage-for-llvm.py unit %t/whole.o %t/unit.o
# RUN: not sframe-verify %t/unit.o | FileCheck %s --check-prefixes=FOUND,NONE
# FOUND: error: C1{{.*}} work
# LINES: damaged-for-llvm.s:
# NONE-NOT: damaged-for-llvm.s:

        .globl work
        .type work,@function
work:   .cfi_startproc
        pushq %rbx
        .cfi_def_cfa_offset OFFSET
        popq %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size work, .-work
