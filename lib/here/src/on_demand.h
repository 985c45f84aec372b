// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: tables for one module, made during a walk. No lock is taken, not even the loader's: the module is
// found by _dl_find_object() and its sections are read in place. It cannot be unloaded meanwhile, because a
// frame of the calling thread is in it.

#pragma once

#include <cstdint>

namespace sframe::here {

/// Adds tables for the module at `pc`. True if there are some afterwards, made by this or another thread.
/// False if the loader has no module there, memory ran out, or the stack has too little room.
bool add_tables_for(std::uint64_t pc);

/// Counts a walk that ended at `pc` for lack of tables, if there is a module that could have some.
void count_left_out(std::uint64_t pc);

} // namespace sframe::here
