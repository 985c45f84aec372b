// A JIT compiler's last steps, by hand: loads the object of jit-code.s, registers it in the way that the second
// argument names, and dies in main > outer > generated_code > die. With a third argument "memfd" the code is in a
// file that is mapped; with "change" the program does not die, but see change(). Layouts are those of GDB's manual ("JIT Compilation Interface") and libunwind-dynamic.h.
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

struct jit_code_entry {
  struct jit_code_entry *next_entry, *prev_entry;
  const void* symfile_addr;
  uint64_t symfile_size;
};
struct jit_descriptor {
  uint32_t version, action_flag;
  struct jit_code_entry *relevant_entry, *first_entry;
} __jit_debug_descriptor = {1, 0, 0, 0};
KEEP void __jit_debug_register_code(void) {
  __asm__ volatile("");
}

enum { stop, save_reg, spill_fp_rel, spill_sp_rel, add, pop_frames, label_state, copy_state, alias };
struct op {
  int8_t tag, qp;
  int16_t reg;
  int32_t when;
  uint64_t val;
};
struct region {
  struct region* next;
  int32_t insn_count;
  uint32_t op_count;
  struct op op[8];
};
struct dyn_info {
  struct dyn_info *next, *prev;
  uint64_t start_ip, end_ip, gp;
  int32_t format, pad;
  uint64_t load_offset;
  const char* name;
  uint64_t handler_or_segbase, flags_or_table_len;
  const void* regions_or_table;
};
struct {
  uint32_t version, generation;
  struct dyn_info* first;
} _U_dyn_info_list;

volatile int sink;

/// The object: as it was read, and where its parts are after loading. The code is in the first page of `memory`,
/// .eh_frame in the second.
static struct {
  char* file;
  uint64_t size;
  char* memory;
  uint64_t code_size;
  char* strings;
  uint64_t strings_size;
} object;

/// Loads the code and .eh_frame, the latter relocated; writes the addresses into the object's section headers, as
/// LLVM does, and leaves its own bytes as they are.
static void load(const char* path, int in_file) {
  const int fd = open(path, O_RDONLY);
  struct stat info;
  if (fd < 0 || fstat(fd, &info)) exit(77);
  object.size = info.st_size;
  object.file = malloc(object.size);
  if (read(fd, object.file, object.size) != (ssize_t)object.size) exit(77);
  const int memory_fd = in_file ? memfd_create("code", 0) : -1;
  if (in_file && ftruncate(memory_fd, 8192)) exit(77);
  object.memory = mmap(0, 8192, PROT_READ | PROT_WRITE, in_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, memory_fd, 0);
  Elf64_Ehdr* header = (void*)object.file;
  Elf64_Shdr* sections = (void*)(object.file + header->e_shoff);
  const char* names = object.file + sections[header->e_shstrndx].sh_offset;
  char* place = object.memory;
  for (int i = 0; i < header->e_shnum; ++i) {
    Elf64_Shdr* section = &sections[i];
    const char* name = names + section->sh_name;
    if (!strcmp(name, ".strtab")) object.strings = object.file + section->sh_offset, object.strings_size = section->sh_size;
    if (!(section->sh_flags & SHF_ALLOC) || !section->sh_size) continue;
    if (section->sh_flags & SHF_EXECINSTR) object.code_size = section->sh_size;
    if (!strcmp(name, ".eh_frame")) place = object.memory + 4096;
    memcpy(place, object.file + section->sh_offset, section->sh_size);
    section->sh_addr = (uint64_t)place;
    place += (section->sh_size + 15) / 16 * 16;
  }
  for (int i = 0; i < header->e_shnum; ++i) {
    if (strcmp(names + sections[i].sh_name, ".rela.eh_frame")) continue;
    const Elf64_Rela* relocations = (void*)(object.file + sections[i].sh_offset);
    for (uint64_t j = 0; j < sections[i].sh_size / sizeof *relocations; ++j) { // R_X86_64_PC32 against .text
      char* where = object.memory + 4096 + relocations[j].r_offset;
      const int32_t value = (int32_t)((uint64_t)object.memory + relocations[j].r_addend - (uint64_t)where);
      memcpy(where, &value, sizeof value);
    }
  }
  mprotect(object.memory, 4096, PROT_READ | PROT_EXEC);
}

static struct jit_code_entry entry;
static void tell_gdb(uint32_t action) {
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_descriptor.relevant_entry = &entry;
  __jit_debug_descriptor.first_entry = action == 1 ? &entry : 0;
  __jit_debug_register_code();
}
static void gdb(void) {
  entry = (struct jit_code_entry){0, 0, object.file, object.size};
  tell_gdb(1);
}

static void none(void) {}
static void gdb_circle(void) {
  static struct jit_code_entry second;
  gdb();
  second = (struct jit_code_entry){&entry, &entry, "no ELF file", 64};
  entry.next_entry = &second;
}
static void gdb_wild(void) {
  gdb();
  entry.next_entry = (void*)0x123456789abcdef0;
}
static void gdb_huge(void) {
  gdb();
  entry.symfile_size = UINT64_MAX;
}
static void gdb_unreadable(void) {
  gdb();
  entry.symfile_addr = (void*)16;
}
static void gdb_version(void) {
  gdb();
  __jit_debug_descriptor.version = 7;
}
static void gdb_headers(void) {
  gdb();
  ((Elf64_Ehdr*)object.file)->e_shoff = UINT64_MAX - 64;
}

static struct dyn_info info;
static void tell_libunwind(int32_t format) {
  info.start_ip = (uint64_t)object.memory;
  info.end_ip = info.start_ip + object.code_size;
  info.format = format;
  ++_U_dyn_info_list.generation;
  _U_dyn_info_list.first = &info;
}

/// push %rbx (1 byte), mov %rsp, %rbx (3): the same as in the CFI. Registers 3 and 7 are rbx and rsp.
static struct region prologue = {0, 100, 8, {{add, 0, 7, 0, -8ull}, {spill_sp_rel, 0, 3, 0, 0}, {save_reg, 0, 7, 1, 3}}};
static void procedure(void) {
  info.name = "a_procedure";
  info.regions_or_table = &prologue;
  tell_libunwind(0);
}
static void procedure_circle(void) {
  procedure();
  prologue.insn_count = 0;
  prologue.next = &prologue;
}
static void procedure_wild(void) {
  procedure();
  info.regions_or_table = (void*)0x123456789abcdef0;
}
static void procedure_huge(void) {
  procedure();
  prologue.op_count = UINT32_MAX;
  for (int i = 0; i < 8; ++i) prologue.op[i].tag = add;
}

static int32_t table[2];
/// The one FDE is after the CIE.
static void make_table(int32_t format, const char* start_base) {
  const char* frames = object.memory + 4096;
  uint32_t cie_length;
  memcpy(&cie_length, frames, 4);
  table[0] = (int32_t)(object.memory - start_base);
  table[1] = 4 + cie_length;
  info.name = "a_table.so";
  info.handler_or_segbase = (uint64_t)frames;
  info.flags_or_table_len = 1;
  info.regions_or_table = table;
  tell_libunwind(format);
}
static void a_table(void) {
  make_table(2, object.memory + 4096);
}
static void ip_offset_table(void) {
  make_table(4, object.memory);
}
static void table_huge(void) {
  a_table();
  info.flags_or_table_len = UINT64_MAX / 8;
}
static void arm_table(void) {
  make_table(3, object.memory);
}

/// Goes back and forth between two names for the same code at the same address, in the same entry.
static struct timespec rest = {0, 2000000};
KEEP void in_first(void) {
  nanosleep(&rest, 0);
  ++sink;
}
KEEP void in_other(void) {
  nanosleep(&rest, 0);
  ++sink;
}
static void rename_code(const char* from, const char* to) {
  memcpy(memmem(object.strings, object.strings_size, from, strlen(from) + 1), to, strlen(to) + 1);
}
static void change(void) {
  void (*generated)(void (*)(void)) = (void*)object.memory;
  for (;;) {
    generated(in_first);
    tell_gdb(2);
    rename_code("generated_code", "renamed_code_2");
    tell_gdb(1);
    generated(in_other);
    tell_gdb(2);
    rename_code("renamed_code_2", "generated_code");
    tell_gdb(1);
  }
}

KEEP void die(void) {
  abort();
}
KEEP void outer(void) {
  ((void (*)(void (*)(void)))object.memory)(die);
  ++sink;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*function)(void);
  } ways[] = {
      {"none", none},
      {"gdb", gdb},
      {"gdb-circle", gdb_circle},
      {"gdb-wild", gdb_wild},
      {"gdb-huge", gdb_huge},
      {"gdb-unreadable", gdb_unreadable},
      {"gdb-version", gdb_version},
      {"gdb-headers", gdb_headers},
      {"procedure", procedure},
      {"procedure-circle", procedure_circle},
      {"procedure-wild", procedure_wild},
      {"procedure-huge", procedure_huge},
      {"table", a_table},
      {"ip-offset-table", ip_offset_table},
      {"table-huge", table_huge},
      {"arm-table", arm_table},
  };
  if (argc < 3) return 77;
  load(argv[1], argc > 3 && !strcmp(argv[3], "memfd"));
  for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; ++i)
    if (!strcmp(argv[2], ways[i].name)) ways[i].function();
  if (argc > 3 && !strcmp(argv[3], "change")) change();
  outer();
  return 0;
}
