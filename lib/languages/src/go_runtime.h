// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: where the data of Go's runtime is in the process: src/runtime/runtime2.go has the structures.

#pragma once

#include "debug_types.h"
#include "runtime_memory.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sframe::languages {

/// An integer in a structure.
struct Number {
  std::uint32_t offset = 0, size = 8; ///< bytes
};

struct GoLayout {
  std::uint64_t allgs = 0;        ///< []*g: address, length
  std::uint64_t allm = 0;         ///< *m
  std::uint64_t wait_reasons = 0; ///< [wait_reason_count]string
  std::uint64_t wait_reason_count = 0;
  std::uint64_t modules = 0; ///< moduledata

  struct {
    Number stack_low, stack_high, panic, m, pc, sp, bp, status, id, wait_since, wait_reason, locked_m, signal,
        signal_code1, signal_pc, creator_pc, start_pc;
  } g;
  struct {
    Number g0, current, thread, next;
  } m;
  struct {
    std::optional<std::uint64_t> argument; ///< an interface; nothing: panics cannot be read
    Number link, recovered, goexit;
  } panic;
  struct {
    Number kind, flags, name;
  } type;
  struct {
    Number types, types_end, next;
  } module;
};

class GoRuntime {
public:
  GoRuntime(modules::ModuleSpace& space, modules::Module& main, modules::DebugInfoCache& cache);

  modules::ModuleSpace& space;
  modules::Module& main;
  RuntimeMemory memory;
  GoLayout layout;
  std::string version; ///< may be empty
  std::string problem; ///< why there is no layout; empty if there is

  std::optional<std::uint64_t> load(std::uint64_t structure, Number field) {
    return memory.number(structure + field.offset, field.size);
  }
  /// A string, cut after `most` bytes.
  std::optional<std::string> string(std::uint64_t address, std::size_t most);

  /// Calls `each(m)` for each thread of the runtime until it returns false.
  template <class Each> void each_m(Each&& each) {
    constexpr unsigned most = 1 << 16;
    auto m = memory.word(layout.allm);
    for (unsigned i = 0; m && *m && i < most; ++i) {
      if (!each(*m)) return;
      m = load(*m, layout.m.next);
    }
  }

  /// The m of a thread; 0 if it has none.
  std::uint64_t m_of(std::uint32_t tid);
  /// The value of an interface without methods, as the runtime prints it when it panics.
  std::optional<std::string> text_of(std::uint64_t interface);

private:
  bool find_variables();
  bool find_fields(modules::DebugInfoCache& cache);
  std::optional<std::string> type_name(std::uint64_t type);
};

} // namespace sframe::languages
