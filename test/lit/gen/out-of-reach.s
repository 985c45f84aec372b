# Start fields of versions 1 and 2 have 32 bits: a function more than 2 GiB from the section is left out, the others stay.

# RUN: rm -rf %t && mkdir %t && llvm-mc -filetype=obj -triple=x86_64 %s -o %t/a.o
# RUN: ld.lld %t/a.o -o %t/a --entry=near --image-base=0x400000 -Ttext=0x401000 --section-start=.eh_frame=0x78000000 --section-start=.far=0xe0000000
# RUN: sh -e -c 'for v in 1 2; do sframe-gen %t/a -o %t/v$v --emit=section --section-address=0x410000 --sframe-version=$v --report=json > %t/$v.json; done'
# RUN: FileCheck %s --check-prefix=REPORT < %t/1.json
# RUN: FileCheck %s --check-prefix=REPORT < %t/2.json
# REPORT: "functions": {"total": 2, "converted": 1, "partial": 0, "skipped": 1},
# REPORT: "pc_bytes": {"total": 6, "covered": 4,
# REPORT: "reasons": {"out-of-reach": 1},
# REPORT: {"start": "0xe0000000", "size": 2, "name": "distant", "reason": "out-of-reach"}
# RUN: sframe-verify --check=cfi %t/a --sframe %t/v2 | FileCheck %s --check-prefix=AGREE
# AGREE: 0 contradictions{{.*}} 0 errors
# RUN: sframe-gen %t/a -o %t/v3 --emit=section --section-address=0x410000 --report=json | FileCheck %s --check-prefix=V3
# V3: "functions": {"total": 2, "converted": 2,

# Nothing is in reach: there is no section to write.
# RUN: not sframe-gen %t/a -o %t/none --emit=section --section-address=0x900000000 --sframe-version=2 2>&1 | FileCheck %s --check-prefix=NONE
# NONE: sframe-gen: error: {{.*}}a: function is more than 2 GiB from the section; set the section's address with --section-address
# RUN: not test -e %t/none

        .text
        .globl near
near:
        .cfi_startproc
        nop
        nop
        nop
        ret
        .cfi_endproc

        .section .far, "ax", @progbits
        .globl distant
distant:
        .cfi_startproc
        nop
        ret
        .cfi_endproc
