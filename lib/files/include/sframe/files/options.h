// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where files are looked for that belong to an image, and which of them may be opened: what a user decides.
// access.h applies it.

#pragma once

#include "sframe/base/budget.h"
#include "sframe/files/debug_file.h"
#include "sframe/files/file_server.h"
#include "sframe/files/open_files.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::files {

/// Which of the files named by a core are read. `executable` and the folders in FileOptions are chosen by
/// the user and always trusted.
enum class FileTrust : std::uint8_t {
  none,     ///< only files in FileOptions::sysroot, with the build ID that the core has
  build_id, ///< all with the build ID that the core has
  all,      ///< files for which the core has no build ID, too; also on network file systems
};

/// Where files are looked for. Each address space has its own copy.
struct FileOptions {
  bool open_files = true;       ///< false: use nothing but the process's memory
  std::string sysroot;          ///< root folder of the process's paths and of links in them; empty: "/"
  std::string executable;       ///< the main executable's file, instead of the path in the core
  std::string sframe_dir;       ///< sidecars: DIR/.build-id/xx/yyyy.sframe
  bool generate_sframe = false; ///< convert CFI if there is no SFrame; only in memory
  /// Folders of separate debug files, as for find_debug_file(): first these, then `debug_dir`, which is
  /// inside the sysroot, if there is one.
  std::vector<std::string> more_debug_dirs;
  std::string debug_dir = default_debug_folder;
  FileTrust trust = FileTrust::build_id;
  /// Asked for files that are missing here; nullptr: none are fetched. Copies of the options share it.
  std::shared_ptr<FileServer> server;
  /// Budget for all that is read for one core; nullptr: only the limits of the parts apply.
  std::shared_ptr<Budget> budget;
  /// What is open, for all that use it in one thread, one after the other; nullptr: each address space, and
  /// each module made without one, has its own. What one has read stays; each pays for its own lookups, so
  /// that the result of one does not depend on the others. If the budget of one was used up, start with an
  /// empty one: something may not have been read.
  std::shared_ptr<OpenFiles> shared;

  /// The limits of the budget, or those that apply if there is none.
  Limits limits() const { return budget ? budget->limits() : Limits::standard; }
  /// Makes a budget with these limits for an input of `size` bytes, unless there is one.
  void add_budget(std::uint64_t size) {
    if (!budget) budget = std::make_shared<Budget>(limits(), size);
  }
  /// The same options for one address space: its modules share what they open.
  FileOptions for_space() && {
    if (!shared) shared = std::make_shared<OpenFiles>();
    return std::move(*this);
  }
};

} // namespace sframe::files

#pragma GCC visibility pop
