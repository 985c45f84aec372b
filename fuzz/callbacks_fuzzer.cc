// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as the answers of callbacks, for the C interface (sframe/c/walk.h) and libunwind's: the
// memory of a target, at 0x10000, its registers and its search table. The first byte selects what is missing.
// Properties: walks end, a frame is found only from answers that were given, and both interfaces find the
// same first frame.

#include "cost.h"

#include "sframe/c/walk.h"

#include "libunwind-x86_64.h"

#include <cstring>

namespace {

using sframe::fuzz::require;

constexpr std::uint64_t base = 0x10000;

struct Target {
  const std::uint8_t* data;
  std::size_t size;
  unsigned what;
  std::uint64_t registers[17];
  std::uint64_t table_size;
  std::uint64_t asked = 0;

  bool word(std::uint64_t address, std::uint64_t& value) {
    ++asked;
    if (address - base >= size || size - (address - base) < sizeof value) return false;
    std::memcpy(&value, data + (address - base), sizeof value);
    return true;
  }
};

sframe_status c_table(uint64_t, sframe_table* table, void* arg) {
  auto& target = *static_cast<Target*>(arg);
  if (target.what & 1) return SFRAME_NO_INFO;
  *table = {sizeof *table, base, target.table_size, base};
  return SFRAME_OK;
}
sframe_status c_word(uint64_t address, uint64_t* value, void* arg) {
  return static_cast<Target*>(arg)->word(address, *value) ? SFRAME_OK : SFRAME_INVALID;
}
sframe_status c_register(uint16_t reg, uint64_t* value, void* arg) {
  auto& target = *static_cast<Target*>(arg);
  if (reg == SFRAME_PC) reg = 16;
  if (reg > 16 || (target.what & 2 && reg != 7 && reg != 16)) return SFRAME_BAD_REGISTER;
  *value = target.registers[reg];
  return SFRAME_OK;
}
sframe_status c_name(uint64_t address, char* buffer, size_t size, uint64_t* offset, void* arg) {
  auto& target = *static_cast<Target*>(arg);
  if (size == 0 || target.what & 4) return SFRAME_NO_INFO;
  const std::size_t length = std::min(size - 1, target.size);
  std::memcpy(buffer, target.data, length);
  buffer[length] = '\0';
  *offset = address;
  return SFRAME_OK;
}

struct Frames {
  sframe_process* process;
  unsigned most = 200;
  unsigned count = 0;
  std::uint64_t first_pc = 0;
};

int take(const sframe_frame* frame, void* arg) {
  auto& frames = *static_cast<Frames*>(arg);
  require(frame->number == frames.count, "a number is left out");
  if (frames.count == 0) frames.first_pc = frame->pc;
  char name[64];
  uint64_t offset = 0;
  const sframe_status named = sframe_function_name(frames.process, frame, name, sizeof name, &offset);
  if (named == SFRAME_OK || named == SFRAME_NO_MEMORY)
    require(std::memchr(name, 0, sizeof name), "no end of a name");
  char memory[24];
  size_t read = 0;
  if (sframe_read_memory(frames.process, frame->cfa, memory, sizeof memory, &read) == SFRAME_OK)
    require(read == sizeof memory, "less memory");
  return ++frames.count >= frames.most;
}

void walk_c(Target& target) {
  const sframe_callbacks callbacks{sizeof callbacks, c_table, c_word, c_register, c_name};
  sframe_error error{.size = sizeof error};
  require(!sframe_open_callbacks("vax", &callbacks, &target, &error) && *error.message, "an unknown ABI");
  Frames frames{sframe_open_callbacks("amd64", &callbacks, &target, &error)};
  require(frames.process, "no process");
  if (target.what & 32) frames.most = 2;
  sframe_set_caching(frames.process, target.what & 8 ? SFRAME_CACHE_GLOBAL : SFRAME_CACHE_NONE);
  sframe_end end{.size = sizeof end};
  const sframe_status status = sframe_walk(frames.process, 0, take, &frames, &end, &error);
  require(*sframe_status_text(status) && *sframe_reason_text(end.why), "no text");
  if (status == SFRAME_OK) {
    require(frames.count > 0 && frames.count <= frames.most && frames.first_pc == target.registers[16],
            "another first frame");
    require(std::memchr(end.reason, 0, sizeof end.reason), "no end of a reason");
  } else {
    require(std::memchr(error.message, 0, sizeof error.message), "no end of a message");
  }
  require(sframe_flush(frames.process, 0, ~std::uint64_t(0)) == SFRAME_OK, "not flushed");
  sframe_close(frames.process);
}

int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t* info, int need, void* arg) {
  auto& target = *static_cast<Target*>(arg);
  if (target.what & 1) return -UNW_ENOINFO;
  unw_dyn_info_t table{};
  table.start_ip = 0;
  table.end_ip = ~unw_word_t(0);
  table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  table.u.rti.segbase = base;
  table.u.rti.table_data = base;
  table.u.rti.table_len = target.table_size / sizeof(unw_word_t);
  return UNW_OBJ(dwarf_search_unwind_table)(space, ip, &table, info, need, arg);
}
void put_unwind_info(unw_addr_space_t, unw_proc_info_t*, void*) {}
int dynamic_list(unw_addr_space_t, unw_word_t* address, void* arg) {
  if (!(static_cast<Target*>(arg)->what & 16)) return -UNW_ENOINFO;
  *address = base + 64;
  return 0;
}
int access_mem(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* arg) {
  std::uint64_t word = 0;
  if (write || !static_cast<Target*>(arg)->word(address, word)) return -UNW_EINVAL;
  *value = word;
  return 0;
}
int access_reg(unw_addr_space_t, unw_regnum_t reg, unw_word_t* value, int write, void* arg) {
  auto& target = *static_cast<Target*>(arg);
  if (write || reg < 0 || reg > UNW_X86_64_RIP) return -UNW_EBADREG;
  *value = target.registers[reg];
  return 0;
}
int name_of(unw_addr_space_t, unw_word_t ip, char* buffer, size_t size, unw_word_t* offset, void* arg) {
  uint64_t from = 0;
  if (c_name(ip, buffer, size, &from, arg) != SFRAME_OK) return -UNW_ENOINFO;
  *offset = from;
  return 0;
}

void walk_libunwind(Target& target) {
  unw_accessors_t accessors{find_proc_info, put_unwind_info, dynamic_list, access_mem,
                            access_reg,     nullptr,         nullptr,      name_of};
  const unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
  require(space, "no address space");
  require(unw_get_accessors(space)->access_mem == access_mem, "other accessors");
  if (target.what & 8) {
    unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
    require(unw_set_cache_size(space, target.size % 64, 0) == 0, "no cache of this size");
  }
  unw_cursor_t cursor;
  if (unw_init_remote(&cursor, space, &target) == 0)
    for (unsigned count = 0; count < 200; ++count) {
      unw_word_t ip = 0, offset = 0;
      require(unw_get_reg(&cursor, UNW_REG_IP, &ip) == 0, "no ip");
      if (count == 0) require(ip == target.registers[16], "another first frame");
      char name[64];
      const int named = unw_get_proc_name(&cursor, name, sizeof name, &offset);
      if (named == 0 || named == -UNW_ENOMEM) require(std::memchr(name, 0, sizeof name), "no end of a name");
      unw_proc_info_t info;
      (void)unw_get_proc_info(&cursor, &info);
      const int stepped = unw_step(&cursor);
      require(*unw_strerror(stepped), "no text of an error");
      if (stepped <= 0) break;
    }
  unw_destroy_addr_space(space);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Target target{};
  constexpr std::size_t head = 2 + 2 * 17;
  if (size < head) return 0;
  // Frames number 200 at most, and each may search the table and execute one FDE. Both interfaces.
  const sframe::fuzz::Cost cost(size, {.seconds = 3});
  target.what = data[0];
  target.table_size = 8u * data[1];
  for (unsigned i = 0; i < 17; ++i)
    target.registers[i] = base + (data[2 + 2 * i] | unsigned(data[3 + 2 * i]) << 8);
  target.data = data + head;
  target.size = size - head;
  walk_c(target);
  walk_libunwind(target);
  return 0;
}
