// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stacks that the BPF program has handed over, since a table was not loaded yet: they are walked here, by the
// same code (cursor.h), when it is. Only their copies are read: the process may have ended.

#pragma once

#include "file_tables.h"
#include "opener.h"

#include <array>
#include <cstdint>
#include <map>

namespace sframe::bpf {

class DeferredStacks {
public:
  DeferredStacks(FileTables& files, sframe_bpf_counts& counts) : files_(files), counts_(counts) {}

  void add(DeferredStack stack);
  /// As sframe_bpf_tables_finish().
  int finish(sframe_bpf_stack& stack);
  /// Changes of the numbers that the kernel has counted.
  void correct(std::uint64_t* ends) const;
  /// Drops those that nobody has asked for.
  void advance();

private:
  int walk(const DeferredStack& from, sframe_bpf_cursor& at, sframe_bpf_stack& stack);
  void drop(std::map<std::uint64_t, DeferredStack>::iterator at);

  FileTables& files_;
  sframe_bpf_counts& counts_;
  std::map<std::uint64_t, DeferredStack> waiting_; ///< by ticket: the oldest first
  std::size_t bytes_ = 0;
  std::array<std::uint64_t, SFRAME_BPF_NUM_ENDS> finished_{};
};

} // namespace sframe::bpf
