# Six functions, of which three touch and have the same row all through.
        .text
        .macro  leaf name, pad=0
\name:  .cfi_startproc
        nop
        .fill   \pad, 1, 0x90
        ret
        .cfi_endproc
        .endm

        leaf    first
        leaf    second
        leaf    third, 100
        nop                     # a byte that belongs to no function
        leaf    apart

framed: .cfi_startproc
        push    %rbp
        .cfi_adjust_cfa_offset 8
        pop     %rbp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc

handler: .cfi_startproc
        .cfi_signal_frame
        nop
        ret
        .cfi_endproc
