// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the searches of Builder::optimize() have in common: atoms, which FDEs are made of, and what an FDE of
// some of them costs. builder_optimize.cc makes the atoms, and FDEs of the result; builder_optimize_rows.cc
// is the search for Goal::smallest.

#pragma once

#include "format/version.h"
#include "refused.h"
#include "sframe/builder.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sframe {

/// Costs are in bytes times this, since prices are divided.
constexpr std::uint64_t cost_unit = 1024;
constexpr std::uint64_t no_cost = std::numeric_limits<std::uint64_t>::max();

/// What another search has to save to be worth it.
constexpr std::uint64_t least_gain(std::uint64_t size) {
  return size / 1024;
}

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (std::rotl(hash, 23) + value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

/// Rows of a function, all or some.
struct Atom {
  std::uint64_t start;         ///< of its addresses
  std::uint64_t key = 0;       ///< a hash of its run and which rows of it these are
  std::uint32_t size;          ///< bytes of code
  std::uint32_t function;      ///< number in the sorted functions
  std::uint32_t run;           ///< the function's
  std::uint32_t first_row = 0; ///< of the run
  std::uint32_t at = 0;        ///< where that begins, from the run's first row
  std::uint32_t rows = 0;
  std::uint32_t body = 0;       ///< bytes of rows without their offsets
  std::uint32_t first_body = 0; ///< the first row's share of them
  std::uint32_t last = 0;       ///< the last row's address from `start`
  std::uint32_t rules = 0;      ///< Goal::smallest: equal if FDE type, key and the first row's body are
  bool shared = false;          ///< other functions have the same run
  bool joins = false;           ///< may be in one FDE with the atom before
  bool repeats = false;         ///< the first row's rules are those of the last row before

  bool starts_function() const { return first_row == 0; }
};

/// An FDE to be: atoms [first, end).
struct Cut {
  std::uint32_t first, end;
};

/// An FDE to which atoms are added one by one.
class Group {
public:
  Group(std::uint32_t attribute_size, const Atom& first, bool has_key = true)
      : start_(first.start), bytes_(std::uint64_t{attribute_size} + first.body), rows_(first.rows),
        last_(first.last), shared_(has_key && first.shared), key_(first.key) {}

  void add(const Atom& next) {
    rows_ += next.rows - next.repeats;
    bytes_ += next.body - (next.repeats ? next.first_body : 0);
    if (next.rows > next.repeats) last_ = static_cast<std::uint32_t>(next.start + next.last - start_);
    shared_ = shared_ && next.shared;
    if (shared_) key_ = mix(mix(key_, next.key), next.start - start_);
  }

  /// False if it would be larger than an FDE can be.
  bool fits(const Atom& next) const { return next.start + next.size - start_ <= max_u32; }
  std::uint32_t rows() const { return rows_; }
  /// Bytes of attributes and rows.
  std::uint64_t run_bytes() const {
    return bytes_ + (std::uint64_t{rows_} << static_cast<std::uint32_t>(format::fre_type_for(last_)));
  }
  /// True if other functions have the same rows in all its atoms, so that other FDEs may have its key.
  bool shared() const { return shared_; }
  std::uint64_t key() const { return key_; }

private:
  std::uint64_t start_, bytes_;
  std::uint32_t rows_, last_;
  bool shared_;
  std::uint64_t key_;
};

/// True if these atoms are one function.
inline bool is_whole(std::span<const Atom> atoms, Cut cut) {
  const Atom &first = atoms[cut.first], &last = atoms[cut.end - 1];
  return first.starts_function() && first.function == last.function &&
         (cut.end == atoms.size() || atoms[cut.end].function != last.function);
}

/// For Goal::smallest: a cut of `atoms`, most of which have one row.
struct RowSearchOptions {
  std::uint32_t entry_size, attribute_size; ///< of the version
  std::uint32_t max_rows;                   ///< of an FDE that is no whole function
  bool share_rows;
  std::span<const std::uint32_t> uses_of_run; ///< how many functions have it
};
std::vector<Cut> search_rows(std::span<const Atom> atoms, const RowSearchOptions& options);

} // namespace sframe
