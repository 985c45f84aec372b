# Coverage counts all executable bytes; the share of the bytes that CFI describes is a figure of its own.
#
# .text holds 16 bytes, 4 of them with CFI: coverage 25 %, of the bytes with CFI 100 %.

# RUN: rm -rf %t && mkdir %t && llvm-mc -filetype=obj -triple=x86_64 %s -o %t/a.o && ld.lld -shared %t/a.o -o %t/a.so
# RUN: sframe-gen %t/a.so -o %t/out --emit=section 2>&1 | FileCheck %s --check-prefix=TEXT
# TEXT:      a.so: 25.00 % of 16 executable bytes covered, 75.00 % are padding{{$}}
# TEXT-NEXT:   with CFI: 100.00 % of 4 bytes covered
# RUN: sframe-gen %t/a.so -o %t/out --emit=section --report=json | FileCheck %s --check-prefix=JSON
# RUN: sframe-gen %t/a.o -o %t/out --report=json | FileCheck %s --check-prefix=JSON
# JSON: "pc_bytes": {"total": 4, "covered": 4, "stubs": 0, "stubs_with_wrong_cfi": 0, "code": 0},
# JSON: "executable_bytes": {"total": 16, "covered": 4, "padding": 12},

# A gap that ends with another instruction is none that pads.
# RUN: llvm-mc -filetype=obj -triple=x86_64 --defsym CODE=1 %s -o %t/code.o && ld.lld -shared %t/code.o -o %t/code.so
# RUN: sframe-gen %t/code.so -o %t/out --emit=section --report=json | FileCheck %s --check-prefix=CODE
# CODE: "executable_bytes": {"total": 16, "covered": 4, "padding": 0},
# RUN: sframe-gen %t/code.so -o %t/out --emit=section 2>&1 | FileCheck %s --check-prefix=NO-PADDING
# NO-PADDING: code.so: 25.00 % of 16 executable bytes covered{{$}}

# The same figures from the section that is in the file, and what sframe-dump counts.
# RUN: sframe-gen %t/a.so -o %t/b.so --report=none
# RUN: sframe-gen %t/b.so -o %t/out --from=sframe --emit=section 2>&1 | FileCheck %s --check-prefix=SFRAME
# SFRAME:      b.so: 25.00 % of 16 executable bytes covered
# SFRAME-NEXT:   sections: 100.00 % of 4 bytes covered
# RUN: sframe-dump --stats --format=json %t/b.so | FileCheck %s --check-prefix=STATS
# STATS: "executable_bytes": 16
# STATS: "covered_bytes": 4
# STATS: "cfi_bytes": 4
# STATS: "covered_cfi_bytes": 4
# RUN: sframe-gen %t/a.o -o %t/b.o --report=none && sframe-dump --stats %t/b.o | FileCheck %s --check-prefix=TABLE
# TABLE:      executable bytes {{ *}}16
# TABLE-NEXT:   covered {{ *}}4 {{ *}}25.0 %
# TABLE-NEXT: bytes with CFI {{ *}}4
# TABLE-NEXT:   covered {{ *}}4 {{ *}}100.0 %
# RUN: sframe-verify --format=json %t/b.so > %t/json && FileCheck %s --check-prefix=VERIFY --input-file=%t/json
# RUN: sframe-verify --format=json %t/b.o > %t/json && FileCheck %s --check-prefix=VERIFY --input-file=%t/json
# VERIFY:      "executable_bytes": {
# VERIFY-NEXT:   "total": 16,
# VERIFY-NEXT:   "covered": 4
# VERIFY-NEXT: },
# VERIFY-NEXT: "pc_bytes": {
# VERIFY-NEXT:   "total": 4,
# VERIFY-NEXT:   "covered": 4

# sframe-verify has the same limits; each finding has both figures. Version 2 cannot represent the function with a flexible rule.
# RUN: sframe-verify %t/b.so --min-coverage=25 --min-cfi-coverage=100
# RUN: not sframe-verify %t/b.so --check=structure --min-coverage=25.01 | FileCheck %s --check-prefix=LESS
# LESS: error: P412 covers 25.00 % of 16 executable bytes, 100.00 % of 4 bytes with CFI; required: 25.01 % of the executable bytes
# RUN: llvm-mc -filetype=obj -triple=x86_64 --defsym FLEXIBLE=1 %s -o %t/flexible.o && ld.lld -shared %t/flexible.o -o %t/flexible.so
# RUN: sframe-gen %t/flexible.so -o %t/flexible.so --sframe-version=2 --report=none
# RUN: sh -c 'sframe-verify %t/flexible.so --check=structure --min-cfi-coverage=80.01 --min-coverage=25 > %t/text; test $? = 1' && \
# RUN:   FileCheck %s --check-prefix=BELOW --input-file=%t/text
# BELOW-NOT: P412
# BELOW:     error: P412 covers 25.00 % of 16 executable bytes, 80.00 % of 5 bytes with CFI; required: 80.01 % of the bytes with CFI
# BELOW-NOT: P412
# RUN: sframe-verify %t/flexible.so --check=structure --min-cfi-coverage=80 --min-coverage=25
# RUN: sframe-gen %t/a.so -o %t/raw --emit=section --report=none && not sframe-verify %t/raw --min-coverage=0 | FileCheck %s --check-prefix=NO-FILE
# NO-FILE: error: P412 a raw section has no executable bytes: pass the ELF file, and the section with --sframe
# RUN: not sframe-verify %t/b.so --min-cfi-coverage=nan 2>&1 | FileCheck %s --check-prefix=NUMBER
# NUMBER: sframe-verify: error: --min-cfi-coverage: must be a number from 0 to 100, not 'nan'

# Both are limits.
# RUN: sframe-gen %t/a.so -o %t/out --emit=section --report=none --min-coverage=25 --min-cfi-coverage=100 2>&1 | count 0
# RUN: sh -c 'sframe-gen %t/a.so -o %t/out --emit=section --report=none --min-coverage=26 2> %t/err; test $? = 1'
# RUN: FileCheck %s --check-prefix=LIMIT < %t/err
# LIMIT: sframe-gen: error: {{.*}}a.so: covers 25.00 % of the executable bytes, less than the required 26.00 %

# A raw section has no executable bytes.
# RUN: sframe-gen %t/out -o %t/raw --from=sframe --emit=section 2>&1 | FileCheck %s --check-prefix=RAW
# RAW: out: 100.00 % of 4 bytes of functions covered
# RUN: sh -c 'sframe-gen %t/out -o %t/raw --from=sframe --emit=section --report=none --min-coverage=1 2> %t/err; test $? = 1'
# RUN: FileCheck %s --check-prefix=NEEDS < %t/err
# NEEDS: sframe-gen: error: {{.*}}out: --min-coverage needs an ELF file

# An FDE for addresses that are not code is listed. It is none of the bytes that coverage counts.
# RUN: llvm-mc -filetype=obj -triple=x86_64 --defsym STRAY=1 %s -o %t/stray.o && ld.lld -shared %t/stray.o -o %t/stray.so
# RUN: sframe-gen %t/stray.so -o %t/out --emit=section --report=json | FileCheck %s --check-prefix=STRAY
# STRAY: "functions": {"total": 2, "converted": 1, "partial": 0, "skipped": 1},
# STRAY: "executable_bytes": {"total": 16, "covered": 4, "padding": 12},
# STRAY: "reasons": {"not-in-code": 1},
# STRAY: {"start": "0x{{[0-9a-f]+}}", "size": 8, "name": "", "reason": "not-in-code"}

# Code of archive members and files without CFI counts: it is not covered. A limit that is no number is refused.
# RUN: sh -c 'printf ".text\nnop\nnop\nnop\nnop\n" | llvm-mc -filetype=obj -triple=x86_64 - -o %t/bare.o' && llvm-ar rc %t/mixed.a %t/a.o %t/bare.o
# RUN: sh -c 'sframe-gen %t/mixed.a -o %t/out.a --min-coverage=25 > %t/text 2>&1; test $? = 1' && FileCheck %s --check-prefix=MIXED < %t/text
# MIXED: covers 20.00 % of the executable bytes, less than the required 25.00 %
# MIXED: mixed.a: 20.00 % of 20 executable bytes covered
# RUN: sframe-gen %t/bare.o -o %t/out.o --allow-missing --min-coverage=0 --report=json | FileCheck %s --check-prefix=BARE
# BARE: "executable_bytes": {"total": 4, "covered": 0, "padding": 0}
# RUN: sh -c 'sframe-gen %t/bare.o -o %t/out.o --allow-missing --min-coverage=1 2> %t/err; test $? = 1'
# RUN: not sframe-gen %t/a.so -o %t/out --emit=section --min-coverage=nan 2>&1 | FileCheck %s --check-prefix=NAN
# NAN: sframe-gen: error: --min-{{(cfi-)?}}coverage: must be a number from 0 to 100, not 'nan'

        .text
        .globl described
described:
        .cfi_startproc
        nop
        nop
        nop
        ret
        .cfi_endproc
.ifdef FLEXIBLE
        .cfi_startproc
        .cfi_def_cfa rbx, 16
        ret
        .cfi_endproc
        .fill 11, 1, 0x90
.else
        .fill 11, 1, 0x90
.ifdef CODE
        ret
.else
        nop
.endif
.endif

.ifdef STRAY
        .data
        .globl data
data:
        .cfi_startproc
        .fill 8, 1, 0
        .cfi_endproc
.endif
