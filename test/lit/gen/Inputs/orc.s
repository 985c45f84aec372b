# Functions with the kernel's unwind table (ORC) in one of its layouts: --defsym layout_420=1, 63, 64 or ax.
# Registers and types by layout. In Linux 4.20 and 6.3, an entry without a base is the outermost one, if it says so.
        .ifdef layout_ax
        .equ PREV_SP, 8
        .equ BP, 4
        .equ SP, 3
        .equ R10, 6
        .equ BP_INDIRECT, 10
        .equ SP_INDIRECT, 9
        .else
        .equ PREV_SP, 1
        .equ BP, 4
        .equ SP, 5
        .equ R10, 6
        .equ BP_INDIRECT, 8
        .equ SP_INDIRECT, 9
        .endif
        .ifdef layout_420
        .equ CALL, 0
        .equ REGS, 1 << 8
        .equ IRET, 2 << 8
        .equ OUTERMOST, 1 << 10
        .equ UNDEFINED, 0
        .endif
        .ifdef layout_63
        .equ CALL, 0
        .equ REGS, 1 << 8 | 1 << 10
        .equ IRET, 2 << 8 | 1 << 10
        .equ OUTERMOST, 1 << 11
        .equ UNDEFINED, 0
        .endif
        .ifdef layout_64
        .equ MODERN, 1
        .section .orc_header, "a"
        .byte 0xfe, 0x5d, 0x32, 0xbf, 0x58, 0x1b, 0xd6, 0x3b, 0x2c, 0xa9, 0xa5, 0xc6, 0x5b, 0xa5, 0xa6, 0x25, 0xea, 0xb3, 0xfe, 0x24
        .endif
        .ifdef layout_ax
        .equ MODERN, 1
        .section .orc_header, "a"
        .byte 0x13, 0x7c, 0x36, 0xad, 0x76, 0x27, 0xc4, 0xdd, 0x55, 0x93, 0x21, 0x76, 0xbb, 0x0e, 0xcd, 0xbd, 0x50, 0x41, 0xfc, 0x82
        .endif
        .ifdef MODERN
        .equ UNDEFINED, 0
        .equ OUTERMOST, 1 << 8
        .equ CALL, 2 << 8
        .equ REGS, 3 << 8 | 1 << 11
        .equ IRET, 4 << 8 | 1 << 11
        .endif

        .macro orc offset, sp_offset, bp_offset, flags
        .section .orc_unwind_ip, "a"
        .long first + \offset - .
        .section .orc_unwind, "a"
        .short \sp_offset, \bp_offset
        .short \flags
        .endm

        .text
        .globl first
        .type first, @function
first:  push %rbp
        mov %rsp, %rbp
        nopl 0(%rax)
        nopl 0(%rax)
        pop %rbp
        ret
        .skip 16 - (. - first), 0x90
        .size first, 16
        .type second, @function
second: .skip 15, 0x90
        ret
        .size second, 16
        .type interrupt, @function
interrupt: .skip 15, 0x90
        ret
        .size interrupt, 16
        .type bottom, @function
bottom: .skip 8, 0x90
        .size bottom, 8
        .type odd, @function
odd:    xor %eax, %eax
        ret
        .skip 5, 0x90
        .size odd, 8
        .globl rest
        .type rest, @function
rest:   xor %eax, %eax
        ret
        .size rest, 3

        # In another order than the addresses: the kernel sorts them, if the build did not.
        orc 0x10, 8, 0, SP | CALL
        orc 0x11, 0, 0, R10 | BP << 4 | CALL
        orc 0x18, -8, 0, BP_INDIRECT | BP << 4 | CALL
        orc 0x0, 8, 0, SP | CALL
        orc 0x1, 16, -16, SP | PREV_SP << 4 | CALL
        orc 0x4, 16, -16, BP | PREV_SP << 4 | CALL
        orc 0xc, 8, 0, SP | CALL
        orc 0x20, 0, 0, SP | IRET
        orc 0x28, 16, 0, SP | REGS
        orc 0x30, 0, 0, OUTERMOST
        orc 0x38, 8, 0, SP_INDIRECT | CALL
        # The end of a section does not count where there is an entry.
        orc 0x38, 0, 0, UNDEFINED
        orc 0x40, 0, 0, UNDEFINED
