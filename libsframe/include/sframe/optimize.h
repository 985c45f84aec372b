// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Smaller sections, or faster lookups, from the functions of a Builder: Builder::optimize().
//
// Forms new FDEs from the functions and their rows. Every address keeps its rules; padding between joined
// functions gets those of the code before it. Functions are joined only if they have the same kind and key;
// default functions become flexible, or parts of functions get another type, where that is smaller; signal
// frames and PCMASK functions are left alone. A reader sees other functions than there are. With
// share_rows, in versions 1 and 2, a function's rows can be the first rows of another. If the section would
// not become smaller, nothing changes (except for Goal::lookup). The result depends on what was added, not
// on the order. N log N in the functions, linear in the rows; needs memory for a second copy of the encoded
// rows, and for Goal::smallest about 150 bytes per row.

#pragma once

#include "sframe/address.h"
#include "sframe/builder.h"
#include "sframe/error.h"
#include "sframe/expected.h"
#include "sframe/section.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe {

/// How Builder::optimize() forms FDEs.
struct OptimizeOptions {
  enum class Goal : std::uint8_t {
    size,   ///< a small section: joins neighbouring functions, and splits large ones where that is smaller
    lookup, ///< no FDE has more than max_rows rows: splits functions that have
    /// Smaller than `size`, or as small: FDEs may start at any row, so that more of them have equal rows.
    /// About twenty times the cost of `size`: linear in the rows times max_rows (at most 128 count), sorting
    /// N log N in the rows. As `size` if sharing gives a section more rows than it has bytes.
    smallest,
  };
  Goal goal = Goal::size;
  /// Rows of an FDE that is made from several functions or, for `lookup`, from a part of one. Readers search
  /// them one by one. At least 1.
  std::uint32_t max_rows = 40;
  /// Goal::size: repeats until the size no longer falls, so that another call changes nothing. Three to four
  /// times the cost, for some tenths of a percent. Goal::smallest: the same, but a search by rows has to save
  /// 1/1024.
  bool repeat = false;
  /// Bytes between functions that are joined: alignment to a cache line, with room to spare.
  static constexpr std::uint64_t max_gap = 256;
  /// True if the functions before and after this range, which may be empty, may be in one FDE. The range, at
  /// most max_gap bytes, gets the rules of the code before it, so no code may be executed there. Called once
  /// for each pair of neighbours, in the order of addresses (repeat: once for each search); with for_each by
  /// its threads, but by one at a time. Not given: only adjacent functions are joined.
  std::function<bool(const AddressRange& between)> may_join;
  /// Called with the end of a function some calls before may_join() may be called with what follows it, so
  /// that the bytes there can be loaded in time; by the same thread. Not given: nothing is announced.
  std::function<void(std::uint64_t end)> expect;
  /// Calls work(piece) for each piece in [0, pieces), in any order, at the same time if it likes, and returns
  /// when all are done. Not given: they are done one by one. The result is the same. may_join() must not wait
  /// for other pieces.
  std::function<void(std::size_t pieces, const std::function<void(std::size_t piece)>& work)> for_each;
  /// Goal::smallest: asked before each search by row (repeat: there are several) of a section with this many
  /// rows. If false, the section stays as `size` or the search before made it. Not given: all are searched.
  std::function<bool(std::uint64_t rows)> may_search;
};

/// The section with FDEs that Builder::optimize() forms (with `repeat`), for linkers and tools that have a
/// section only: the same version, byte order, address and rules. Rows are shared in little-endian sections.
/// The result is the section itself unless it becomes smaller (or the goal is `lookup`); so another call
/// changes nothing. Fails on malformed input. N log N in the functions, linear in the rows.
expected<std::vector<std::byte>, Error> optimize(const Section& section, OptimizeOptions options);

} // namespace sframe

#pragma GCC visibility pop
