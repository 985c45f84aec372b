// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The packages that files belong to: as the file itself says (an ELF note of the distribution's build), else
// as dpkg's database does.

#pragma once

#include "sframe/modules/module.h"

#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::crash {

struct Package {
  std::string name, version; ///< as in the note or database; both empty if unknown

  /// "server 1.2-3"; empty if unknown.
  std::string text() const { return version.empty() ? name : name + ' ' + version; }
};

/// The installed packages that have files of these paths, one for each path; empty if none has. Reads the
/// lists of all packages, if a path is where packages have files: some milliseconds.
std::vector<Package> installed_packages(std::span<const std::string> paths);

/// The packages of modules' files; the first module is the program. dpkg's database is read only for files of
/// this machine that have the build ID in the process and are where packages have theirs; if the program's is
/// not, for none.
std::vector<Package> packages_of(std::span<modules::Module* const> modules);

} // namespace sframe::crash

#pragma GCC visibility pop
