// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the targets of indirect jumps. The data flow determines what is jumped to: an entry read from
// constant data, with or without an added base, and the limit of its index. For AMD64's
//
//     cmp $7,%edi; ja ...             the index is 0 to 7 (Value::Base::bounded)
//     movslq (%rdx,%rdi,4),%rax       load(): an entry of the table at %rdx, 4 bytes, signed, 8 of them
//     add %rdx,%rax                   add_base(): relative to %rdx
//     jmp *%rax                       targets()
//
// That covers the tables of gcc and clang on all ABIs, since they differ only in how the sum is written.
//
// If an index has no bound, or only that of its type (the compiler proved one), the table is read while its
// entries point to instructions of the function. Such targets are guesses: they add code that nothing else
// reaches, and change nothing elsewhere.

#pragma once

#include "instructions.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sframe::code {

class JumpTables {
public:
  JumpTables(const Subject& subject, Instructions& instructions, Effort& effort)
      : subject_(subject), code_(instructions), effort_(effort) {}

  /// Before a run.
  void reset() {
    tables_.clear();
    leads_to_ = 0;
  }

  /// The value of a load from constants (Effect::Kind::load_table): an entry of a table, Value::Base::table.
  /// `base` is a number, `index` any value. `decoded` keeps its table's number.
  Value load(const Effect& effect, Decoded& decoded, const Value& base, const Value& index);
  /// The sum of an entry, times a factor, and a number.
  Value add_base(const Value& entry, const Value& base, std::int64_t factor);
  /// The first bytes of an entry, extended.
  Value extend(const Value& entry, std::uint32_t size, bool is_signed);

  struct Targets {
    std::span<const std::uint64_t> addresses; ///< sorted, at least one; valid until the next question
    bool is_guess = false;
  };
  /// Where a jump to an entry leads. Empty if the table cannot be right.
  std::optional<Targets> targets(const Value& entry);
  /// Results::tables_lead_to().
  std::uint64_t leads_to() const { return leads_to_; }

private:
  /// As an instruction reads it: target = base + entry * factor.
  struct Table {
    std::uint64_t address = 0;
    std::uint64_t base = 0;
    std::int64_t factor = 1;
    std::uint32_t max_index = no_index; ///< no_index = no bound
    std::uint32_t step = 0;             ///< bytes from one entry to the next
    std::uint8_t size = 0;              ///< bytes of an entry
    bool is_signed = false;
    bool is_bound_firm = false; ///< from a compare
  };

  std::optional<Targets> read(const Table& table);
  std::optional<std::uint64_t> read_target(const Table& table, std::uint64_t address);
  std::uint64_t next_table(const Table& table) const;
  void note_outside(std::uint64_t target);
  void keep_longer_run();

  const Subject& subject_;
  Instructions& code_;
  Effort& effort_;
  std::vector<Table> tables_;
  std::vector<std::uint64_t> targets_;     ///< of the last question
  std::vector<std::uint64_t> longest_run_; ///< of entries that may have others before them
  std::uint64_t leads_to_ = 0;
};

} // namespace sframe::code
