// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: tables for one module, while a walk waits for them. No lock is taken, not even the loader's: the
// module is found by _dl_find_object() and its sections are read where they are. It stays, because a frame of
// the calling thread is in it.

#pragma once

#include <cstdint>

namespace sframe::here {

/// Adds tables for the module at `pc`. True where there are some afterwards, by us or another thread; false
/// where the loader knows no module there, memory ran out, or the stack has no room for making them.
bool add_tables_for(std::uint64_t pc);

/// A walk ended at `pc` because tables are missing. Counts it, if there is a module that could have some.
void count_left_out(std::uint64_t pc);

} // namespace sframe::here
