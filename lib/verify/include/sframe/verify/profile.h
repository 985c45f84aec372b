// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one reader requires beyond the specification: findings P401 to P411. Finds sections that a reader
// would reject before they ship.

#pragma once

#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

#include <optional>
#include <string_view>

namespace sframe::verify {

enum class Profile : std::uint8_t {
  spec,  ///< the specification alone: no further requirements
  linux, ///< the kernel's unwinding of user-space programs
  glibc, ///< backtrace() of the GNU C library
};

/// "spec", "linux", "glibc"; empty for other names.
std::optional<Profile> find_profile(std::string_view name);

/// Reports what the reader does not accept. Linear in the functions.
void check_profile(const Input& input, Profile profile, Sink& sink);

} // namespace sframe::verify
