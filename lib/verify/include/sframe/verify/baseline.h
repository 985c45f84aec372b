// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A baseline: known findings, which are not counted. Its keys survive a rebuild: the file's name without
// folders, the identifier, and the function, with the number of such findings in it; no addresses. Notes are
// not kept.
//
// The file is text, one entry per line, sorted, so that version control can merge it:
//
//    # sframe-verify baseline
//    libfoo.so<TAB>C102<TAB>2<TAB>foo::bar(int)

#pragma once

#include "sframe/base/problem.h"

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sframe::verify {

class Baseline {
public:
  struct Key {
    std::string file, id, function;
    auto operator<=>(const Key&) const = default;
  };

  /// Parses the file's text. Empty lines and lines that start with # are ignored; counts of duplicate entries
  /// add up. A malformed line gives a Problem with its line number.
  static Result<Baseline> parse(std::string_view text);

  /// The text of the baseline file.
  std::string text() const;

  /// The key of a finding in the file at `path`.
  static Key key(std::string_view path, std::string_view id, std::string function);

  /// True if it is the first with this key.
  bool add(const Key& key) { return ++counts_[key] == 1; }

  /// Removes one finding; false if there is none.
  bool take(const Key& key);

  /// Keeps the larger number for each key: files of the same name in several folders share entries.
  void merge(Baseline other);

  bool empty() const { return counts_.empty(); }

private:
  std::map<Key, std::uint64_t> counts_;
};

} // namespace sframe::verify
