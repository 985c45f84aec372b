// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source names of symbols, whatever the mangling: C++ (Itanium C++ ABI), Rust (RFC 2603, and the legacy
// mangling), D and Swift. Over LLVM's demanglers, within limits.

#pragma once

#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe {
class Budget;
}

namespace sframe::names {

/// The source name: C++, Rust, D and Swift (without types) names demangled, any other name unchanged. Without
/// the symbol version that linkers append ("name@@GLIBC_2.34"), and without the hash of Rust's legacy
/// mangling. A name costs at most about a millisecond, 64 KiB of text and 128 KiB of stack; one that needs
/// more is left unchanged. `budget`, if given, is charged name_bytes for the text; when these are used up,
/// names stay mangled.
std::string demangle(std::string_view name, Budget* budget = nullptr);

} // namespace sframe::names

#pragma GCC visibility pop
