// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the objects with SFrame sections in files. The type of a file is recognised by its first bytes: an
// ELF image of any type, an archive, a core file (plain or compressed), or, if it starts with SFrame's magic
// number, a raw section.

#pragma once

#include "driver.h"

#include <sframe/base/budget.h>
#include <sframe/files/opened_file.h>
#include <sframe/files/options.h>
#include <sframe/tool/input_files.h>

#include <string>

namespace sframe::dump {

struct InputOptions {
  std::string section = ".sframe"; ///< name of the sections to show
  bool raw = false;                ///< treat every file as a raw section
  Limits limits = Limits::standard;
  files::FileOptions files; ///< where debug files are looked up
  bool skip = false;        ///< in a tree: what is no ELF file, or has no code, is skipped
  tool::Missing missing = tool::Missing::automatic; ///< a file that has code and CFI, and no section
};

/// Shows everything in the file. Problems are reported to the driver.
void show_file(const tool::InputFile& input, const InputOptions& options, Driver& driver);

/// The same for a file that is open; `path` is its name in the output.
void show_opened(const std::string& path, files::OpenedFile& file, const InputOptions& options,
                 Driver& driver);

} // namespace sframe::dump
