// A sample: what the BPF program walked, and what it walked over.
#include <sframe/bpf/stack.h>
enum { PAGES = 17, PAGE = 4096 };
struct sample {
  struct sframe_bpf_stack stack;
  __u64 registers[17]; // by DWARF number, the pc last
  __u64 first;         // address of the first page of the copy
  __u32 tid, pages;
  unsigned char copy[PAGES * PAGE];
};
