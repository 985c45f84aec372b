// s390x: `trapped` ends with what is no instruction, which leaves the pc in `behind`, whose frame is another one.
void trapped(void);
__asm__(".text\n.globl trapped\n.type trapped, @function\ntrapped:\n"
        ".cfi_startproc\n stmg %r14, %r15, 112(%r15)\n .cfi_offset 14, -48\n .cfi_offset 15, -40\n"
        " aghi %r15, -800\n .cfi_adjust_cfa_offset 800\n"
        " .short 0\n .cfi_endproc\n.size trapped, . - trapped\n"
        ".type behind, @function\nbehind:\n .cfi_startproc\n br %r14\n .cfi_endproc\n.size behind, . - behind\n");

__attribute__((noinline)) int outer(int n) {
  trapped();
  return n + 1;
}
int main(int argc, char** argv) {
  return outer(argc) + 1;
}
