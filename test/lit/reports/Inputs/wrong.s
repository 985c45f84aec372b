# Functions whose CFI the code contradicts: a row is missing after push (late), and one is a word too high (high).
        .text
        .macro function name
        .globl "\name"
        .type "\name",@function
"\name":
        .cfi_startproc
        .endm
        .macro done name
        .cfi_endproc
        .size "\name", .-"\name"
        .endm

        function "late</script><img src=x onerror=alert(1)>"
        pushq %rbx
        movl %edi, %ebx
        leal (%rbx,%rbx), %eax
        .cfi_def_cfa_offset 16
        popq %rbx
        .cfi_def_cfa_offset 8
        ret
        done "late</script><img src=x onerror=alert(1)>"

        function high
        subq $24, %rsp
        .cfi_def_cfa_offset 40
        movl %edi, 12(%rsp)
        movl 12(%rsp), %eax
        addq $24, %rsp
        .cfi_def_cfa_offset 8
        ret
        done high

        .rept 40
        nop
        .endr
        function good
        pushq %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq %rsp, %rbp
        .cfi_def_cfa_register %rbp
        popq %rbp
        .cfi_def_cfa %rsp, 8
        ret
        done good
