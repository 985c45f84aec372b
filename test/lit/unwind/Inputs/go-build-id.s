# The note of Go's linker with its build ID (cmd/internal/buildid); nine bytes here.
        .section .note.go.buildid, "a", @note
        .p2align 2
        .long   4, 9, 4
        .asciz  "Go\0"
        .ascii  "ID"
        .p2align 2
        .section .note.GNU-stack, "", @progbits
