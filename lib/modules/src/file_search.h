// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks for the file that a module was mapped from, among the names that the user, the kernel and the core
// have for it. A core can name any file: it is used only if its build ID shows that it is the right one, or
// because the process's memory has all of its code, and it is equal.

#pragma once

#include "sframe/modules/found_file.h"
#include "sframe/modules/mapping.h"
#include "sframe/modules/tables.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace sframe::modules {

/// True if the file has the build IDs that are in the process, as far as both have those of the same origin.
bool has_right_id(const ModuleInfo& info, const elf::Image& file);

/// From a server: the file itself, or why it is not the right one; empty: there is none.
expected<FoundFile, std::string> served_file(const ModuleInfo& info, const AbiTraits& abi,
                                             const files::FileAccess& access);

/// The section .sframe from a server, of which the image in memory has the headers only.
std::optional<elf::File> served_section_of(const ModuleInfo& info, const files::FileAccess& access,
                                           const elf::Image* image);

class FileSearch {
public:
  /// Everything must outlive the object. `info` is of a module that was not generated.
  FileSearch(const ModuleInfo& info, const AbiTraits& abi, const files::FileAccess& access,
             ByteSource& memory)
      : info_(info), abi_(abi), access_(access), memory_(memory) {}

  /// The file, else the image in memory, with the reason.
  FoundFile run();

private:
  /// Why a name does not lead to the file.
  struct Refused {
    std::string problem;     ///< one line; empty: there is no name
    bool was_opened = false; ///< there is a file, but not the right one
  };
  using Attempt = expected<FoundFile, Refused>;

  Attempt open_executable();
  Attempt open_own();
  Attempt open_in_folders();
  Attempt open(const std::string& path, files::NamedBy by);
  Attempt check(FoundFile file, const std::string& shown);
  std::string why_not(const std::string& path, files::NamedBy by);
  std::string why_other(const elf::Image& file, files::NamedBy by) const;
  bool has_right_code(const elf::Image& file);
  bool has_other_code(const FoundFile& found);
  bool has_code(const elf::Image& image, std::uint64_t bias, bool equal);
  bool has_code_in_memory();
  std::shared_ptr<files::SharedImage> image_in_memory();

  const ModuleInfo& info_;
  const AbiTraits& abi_;
  const files::FileAccess& access_;
  ByteSource& memory_;
  files::NamedBy last_opened_ = files::NamedBy::core; ///< who named the last file that could be opened
};

} // namespace sframe::modules
