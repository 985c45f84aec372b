// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The package that a file belongs to, as the distribution's build recorded it in the file (UAPI Group,
// "Package Metadata for Executable Files"): an ELF note with owner "FDO" and JSON.

#pragma once

#include "sframe/elf/image.h"

#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace sframe::elf {

/// Texts are as in the file; those that it does not have are empty.
struct PackageNote {
  std::string type; ///< "rpm", "deb"
  std::string name; ///< never empty
  std::string version;
  std::string os; ///< "fedora", "opensuse-tumbleweed", as ID in os-release(5)
};

/// The note of an image; nothing if it has none or it is damaged. The image may be only the first page of a
/// file. Reads at most 16 notes' segments, and 4 KiB of JSON.
std::optional<PackageNote> package_note(const Image& image);

} // namespace sframe::elf

#pragma GCC visibility pop
