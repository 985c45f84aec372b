# REQUIRES: python3

# CFI from .debug_frame: every DWARF version and length format that LLVM writes, plain and compressed; in linked files it is
# not loaded, and kernels have no other.

# RUN: for format in -dwarf-version=2 -dwarf-version=3 -dwarf-version=4 -dwarf-version=5 \
# RUN:             "-dwarf-version=3 -dwarf64" "-dwarf-version=4 -dwarf64" "-dwarf-version=5 -dwarf64"; do \
# RUN:   llvm-mc -filetype=obj -triple=x86_64 $format %s -o %t.o && \
# RUN:   ld.lld --entry=leaf --image-base=0 -Ttext=0x1000 %t.o -o %t.plain && \
# RUN:   sframe-gen %t.plain -o %t.sframe --emit=section --report=none --strict && \
# RUN:   sframe-dump %t.sframe | FileCheck %s && \
# RUN:   for compression in zlib zstd; do \
# RUN:     llvm-objcopy --compress-debug-sections=$compression %t.plain %t.small && \
# RUN:     sframe-gen %t.small -o %t.same --emit=section --report=none --strict && \
# RUN:     cmp %t.sframe %t.same || exit 1; \
# RUN:   done || exit 1; \
# RUN: done
# RUN: llvm-readelf -S %t.small | FileCheck %s --check-prefix=COMPRESSED
# COMPRESSED: .debug_frame {{.*}} C

# CHECK:      0x1000-0x1001
# CHECK:        0x1000 sp+8 fixed same
# CHECK:      0x1001-0x1003
# CHECK:        0x1001 sp+8 fixed same
# CHECK-NEXT:   0x1002 sp+16 fixed [cfa-16]
        .cfi_sections .debug_frame
        .globl leaf
leaf:   .cfi_startproc
        ret
        .cfi_endproc
        .cfi_startproc
        pushq %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        ret
        .cfi_endproc
        .zero 0x800, 0x90               # large enough to be worth compressing
        .rept 50
        .cfi_startproc
        pushq %rbx
        .cfi_def_cfa_offset 16
        ret
        .cfi_endproc
        .endr

# Damaged compression: an error with the place, and no output.
# RUN: python3 -c "import sys; d = open(sys.argv[1], 'rb').read(); m = b'\x28\xb5\x2f\xfd'; assert m in d; \
# RUN:             open(sys.argv[2], 'wb').write(d.replace(m, b'zstd'))" %t.small %t.damaged
# RUN: rm -f %t.none
# RUN: not sframe-gen %t.damaged -o %t.none --emit=section 2> %t.errors
# RUN: FileCheck %s --check-prefix=DAMAGED < %t.errors
# RUN: not ls %t.none
# DAMAGED: sframe-gen: error: {{.*}}.damaged: cannot decompress section: {{.*}}(section .debug_frame)
