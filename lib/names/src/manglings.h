// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manglings supported by demangle(). LLVM's demanglers trust their input: a name may refer back to its
// own parts, each reference may double the text, and a hundred characters can request more text than there is
// memory. So each of these functions stays within the limits below on any input, and returns no text for a
// name that exceeds them: it is shown mangled. The limits are far above what compilers write; the deepest
// names in Debian's libraries need a sixth of the depth.

#pragma once

#include <sframe/expected.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sframe::names {

constexpr std::size_t max_mangled = 8192;
constexpr std::size_t max_demangled = std::size_t(64) << 10; ///< bytes

/// The cost limit for one name, in steps of some nanoseconds: a printed byte is one step.
constexpr std::uint64_t max_demangle_work = 4 * max_demangled;

/// Why there is no text, and the cost of finding out.
enum class NotDemangled : std::uint8_t {
  malformed, ///< or too deep: linear in the name's size
  too_long,  ///< up to max_demangle_work
};
using Demangled = expected<std::string, NotDemangled>;

/// C++ (Itanium C++ ABI, section 5.1).
Demangled demangle_itanium(std::string_view name);

/// Rust's manglings: "v0" (RFC 2603), and the legacy one, which resembles C++'s nested names.
Demangled demangle_rust(std::string_view name);
std::optional<std::string> demangle_legacy_rust(std::string_view name);

/// Swift: the context and the name of a function, without types. Linear in the name's size.
bool is_mangled_swift(std::string_view name);
Demangled demangle_swift(std::string_view name);

} // namespace sframe::names
