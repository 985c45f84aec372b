// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A walk of libunwind's interface over a core, as its example programs do it. Compiled for each target, as
// the interface is: SFRAME_TARGET_HEADER is the header.

#include "ucd_walk.h"

#include "cost.h"

#include SFRAME_TARGET_HEADER
#include "libunwind-coredump.h"

#include <cstring>

namespace {

using sframe::fuzz::require;

void ask(unw_cursor_t& cursor) {
  for (unw_regnum_t reg = -1; reg <= UNW_TDEP_LAST_REG + 2; ++reg) {
    unw_word_t value = 0;
    unw_fpreg_t wide{};
    unw_save_loc_t place;
    const int known = unw_get_reg(&cursor, reg, &value);
    const int found = unw_get_save_loc(&cursor, reg, &place);
    (void)unw_get_fpreg(&cursor, reg, &wide);
    require(unw_regname(reg) != nullptr, "no name of a register");
    if (known == 0 && found == 0 && place.type == UNW_SLT_MEMORY)
      require(unw_set_reg(&cursor, reg, value) != 0 || unw_get_reg(&cursor, reg, &value) == 0,
              "a lost register");
  }
  char name[32];
  unw_word_t offset = 0;
  const int named = unw_get_proc_name(&cursor, name, sizeof name, &offset);
  if (named == 0 || named == -UNW_ENOMEM) require(std::memchr(name, 0, sizeof name), "no end of a name");
  unw_proc_info_t info;
  (void)unw_get_proc_info(&cursor, &info);
  (void)unw_is_signal_frame(&cursor);
}

} // namespace

void UNW_OBJ(fuzz_walk)(UCD_info* core, unsigned thread, std::vector<std::uint64_t>& pcs, std::size_t most) {
  _UCD_select_thread(core, static_cast<int>(thread));
  const unw_addr_space_t space = unw_create_addr_space(&_UCD_accessors, 0);
  require(space, "no address space");
  unw_set_caching_policy(space, thread % 2 ? UNW_CACHE_GLOBAL : UNW_CACHE_NONE);
  unw_cursor_t cursor;
  if (unw_init_remote(&cursor, space, core) == 0) do {
      unw_word_t ip = 0;
      require(unw_get_reg(&cursor, UNW_REG_IP, &ip) == 0, "no ip");
      pcs.push_back(ip);
      ask(cursor);
    } while (pcs.size() < most && unw_step(&cursor) > 0);
  unw_flush_cache(space, 0, 0);
  unw_destroy_addr_space(space);
}
