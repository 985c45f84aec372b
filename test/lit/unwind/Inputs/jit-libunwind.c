// Registers generated code by libunwind's own functions, and dies in it.
#include <libunwind.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

volatile int sink;

__attribute__((noinline)) void die(void) {
  abort();
}

/// push %rbx (1 byte); sub $48, %rsp (4); call *%rdi (2); add $48, %rsp; pop %rbx; ret
static const unsigned char code[] = {0x53, 0x48, 0x83, 0xec, 0x30, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x30, 0x5b, 0xc3};

int main(void) {
  char* memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(memory, code, sizeof code);
  mprotect(memory, 4096, PROT_READ | PROT_EXEC);

  unw_dyn_region_info_t* region = calloc(1, _U_dyn_region_info_size(4));
  region->insn_count = sizeof code;
  region->op_count = 4;
  _U_dyn_op_add(&region->op[0], _U_QP_TRUE, 0, UNW_X86_64_RSP, -8);
  _U_dyn_op_spill_sp_rel(&region->op[1], _U_QP_TRUE, 0, UNW_X86_64_RBX, 0);
  _U_dyn_op_add(&region->op[2], _U_QP_TRUE, 1, UNW_X86_64_RSP, -48);
  _U_dyn_op_stop(&region->op[3]);
  static unw_dyn_info_t info;
  info.start_ip = (unw_word_t)memory;
  info.end_ip = info.start_ip + sizeof code;
  info.format = UNW_INFO_FORMAT_DYNAMIC;
  info.u.pi.name_ptr = (unw_word_t)"registered";
  info.u.pi.regions = region;
  _U_dyn_register(&info);

  ((void (*)(void (*)(void)))memory)(die);
  ++sink;
  return 0;
}
