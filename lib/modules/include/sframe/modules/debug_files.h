// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files with the debug information of a module. They are looked for at the first question.

#pragma once

#include "sframe/base/lazy.h"
#include "sframe/files/companions.h"
#include "sframe/modules/module_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::modules {

class DebugFiles {
public:
  /// `file` must outlive the object.
  explicit DebugFiles(ModuleFile& file) : file_(file) {}

  /// The image with DWARF for source lines (.debug_info): the file's, else the separate debug file's;
  /// nullptr if there is none.
  const elf::Image* image();
  /// A unique number of image(), which modules of the same file share; 0 if there is none.
  std::uint64_t image_number();
  /// The file that image() shares with others (files::AlternateLink), if it names one and that is found with
  /// the build ID that it states; else nullptr.
  const elf::Image* alternate_image();

  /// The image of the separate debug file; nullptr if there is none.
  files::SharedImage* separate();
  /// Its path; empty if there is none.
  std::string path();

  /// The files called `name` (a path without folders, or below one) with the module's file, with its debug
  /// file and in the debug folders that the user named: where its split debug information may be. Only those
  /// that may be opened.
  std::vector<elf::File> beside(std::string_view name);
  /// The file of an absolute path that debug information names, if all files are trusted (FileTrust::all) and
  /// it may be opened. Below the sysroot, if there is one.
  std::optional<elf::File> of_build(const std::string& path);

private:
  files::SharedImage* find_separate();
  files::SharedImage* with_entries();

  ModuleFile& file_;
  Lazy<files::SharedImage*> separate_;
  Lazy<files::SharedImage*> with_entries_; ///< that has .debug_info
};

} // namespace sframe::modules

#pragma GCC visibility pop
