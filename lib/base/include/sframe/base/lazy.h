// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value that is made when it is first asked for, and kept: "not made yet" is a state of this class, and not
// a flag beside the value.
//
//   Lazy<Table> table_;
//   const Table& table() { return table_.get([&] { return Table::load(file_); }); }

#pragma once

#include <optional>
#include <utility>

namespace sframe {

template <class T> class Lazy {
public:
  /// The value. The first call makes it with `make()`, which must not ask for the same value.
  template <class Make> T& get(Make&& make) {
    if (!value_) value_.emplace(std::forward<Make>(make)());
    return *value_;
  }

  /// The value if it was made, else nullptr.
  T* made() { return value_ ? &*value_ : nullptr; }
  const T* made() const { return value_ ? &*value_ : nullptr; }

private:
  std::optional<T> value_;
};

} // namespace sframe
