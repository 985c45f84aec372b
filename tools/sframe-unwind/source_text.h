// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lines of text around a source position. Which file that is follows from debug information, so from a
// core that anyone may have made: files are read below folders that the user has named for this, from the
// servers, and, if all files are trusted, where the debug information says.

#pragma once

#include "sframe/elf/file.h"
#include "sframe/modules/module.h"
#include "sframe/modules/source.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::unwind_tool {

/// Lines as they are in the file, cut if they are long; not escaped.
struct SourceLines {
  std::uint32_t first = 0; ///< number of the first
  std::vector<std::string> text;
};

class SourceText {
public:
  static constexpr std::uint32_t around = 2;       ///< lines before the one, and after it
  static constexpr std::size_t longest_line = 200; ///< bytes

  /// `folders`: of --source-dir.
  explicit SourceText(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  /// The lines around `at`, which is in the module; nothing if no file is found. A file is opened and its
  /// lines are found once; the module's budget pays for it.
  std::optional<SourceLines> find(modules::Module& module, const modules::SourceLine& at);

private:
  struct Text {
    elf::File file;
    std::vector<std::uint32_t> starts; ///< of lines
    std::string_view line(std::uint32_t number) const;
  };

  const Text* open(modules::Module& module, const std::string& path);

  std::vector<std::string> folders_;
  /// By build ID and path: servers have a file for each program.
  std::map<std::pair<std::string, std::string>, std::optional<Text>> files_;
};

} // namespace sframe::unwind_tool
