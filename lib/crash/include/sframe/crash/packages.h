// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The packages that files belong to: as the file itself says (an ELF note of the distribution's build), else
// as dpkg's database does.

#pragma once

#include "sframe/modules/module.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::crash {

struct Package {
  /// How the distribution installs packages.
  enum class Manager : std::uint8_t { unknown, apt, dnf, zypper };

  std::string name, version; ///< as in the note or database; both empty if unknown
  Manager manager = Manager::unknown;

  /// "server 1.2-3"; empty if unknown.
  std::string text() const { return version.empty() ? name : name + ' ' + version; }
};

/// The installed packages that have files of these paths, one for each path; empty if none has. Reads the
/// lists of all packages, if a path is where packages have files: some milliseconds.
std::vector<Package> installed_packages(std::span<const std::string> paths);

/// The same for many questions, which are asked once each. May be used by several threads.
class InstalledPackages {
public:
  std::vector<Package> find(std::span<const std::string> paths);

private:
  std::mutex mutex_;
  std::map<std::string, Package> known_; ///< by path
};

/// The package that a module's file names in a note (elf::package_note); nothing if it has none. Looks at the
/// file.
std::optional<Package> noted_package(modules::Module& module);

/// The packages of modules' files; the first module is the program. dpkg's database is read only for files of
/// this machine that have the build ID in the process and are where packages have theirs; if the program's is
/// not, for none.
std::vector<Package> packages_of(std::span<modules::Module* const> modules, InstalledPackages& installed);

/// The command that installs the debug symbols of packages, each named once, in the order of their names:
/// "apt install bash-dbgsym libc6-dbg", "dnf debuginfo-install bash-5.2-1.fc39". One for each manager; none
/// for packages whose manager is unknown.
std::vector<std::string> commands_for_symbols(std::span<const Package> packages);

} // namespace sframe::crash

#pragma GCC visibility pop
