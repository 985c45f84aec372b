// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of functions for people, and for signatures of crashes. Both start from the symbol as it is in the
// symbol table. What compilers add to it, and what is only readable as a whole, is left out by its text: C++
// (Itanium C++ ABI), Rust (RFC 2603), OCaml.

#pragma once

#include "sframe/base/budget.h"

#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::names {

enum class NameStyle : std::uint8_t {
  shortened, ///< long template arguments and parameter lists are folded
  full,      ///< demangled
  raw,       ///< as in the symbol table
};

/// The name of a symbol. The budget pays for demangling; nullptr: no limit.
std::string function_name(std::string_view symbol, NameStyle style, Budget* budget);

/// True for names that demangle() leaves as they are, but function_name() does not.
bool is_ocaml(std::string_view symbol);

/// A demangled name, shortened: for functions whose symbol is not known.
std::string shortened_name(std::string_view demangled);

/// The name in a signature: the same for all builds of a function. No version, no compiler's suffix, no
/// parameter list, no return type, template arguments as "<>".
std::string signature_name(std::string_view symbol, Budget* budget);

} // namespace sframe::names

#pragma GCC visibility pop
