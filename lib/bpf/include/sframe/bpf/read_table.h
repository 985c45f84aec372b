// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A checked table of table.h. The lookup needs no check: it is bounded, and reads nothing outside of the
// words, whatever they are. But a table that is damaged would give wrong callers.

#pragma once

#include "sframe/abi.h"
#include "sframe/base/problem.h"
#include "sframe/bpf/table.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::bpf {

/// A view of a table's bytes, which must outlive it.
class Table {
public:
  /// Checks everything that table.h states about the format. Linear in the bytes; allocates nothing.
  static Result<Table> parse(std::span<const std::byte> bytes);

  const AbiTraits& abi() const { return *abi_; }
  std::vector<std::byte> build_id() const;
  const sframe_bpf_table& header() const { return header_; }
  sframe_bpf_words words() const { return words_; }

  /// The rule for a link address. Its kind is SFRAME_BPF_NONE if there is none.
  sframe_bpf_rule find(std::uint64_t address) const;

private:
  Table() = default;

  sframe_bpf_words words_{};
  sframe_bpf_table header_{};
  const AbiTraits* abi_ = nullptr;

  class [[gnu::visibility("hidden")]] Check;
};

} // namespace sframe::bpf

#pragma GCC visibility pop
