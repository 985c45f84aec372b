// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The separate debug files of a program's inputs, which have the names of functions, and the sidecars that
// are installed beside them: options of programs whose inputs the user names, and what they need to look the
// files up in the sandbox. In these, --trust would decide nothing (docs/dev/design.md).

#pragma once

#include "sframe/elf/image.h"
#include "sframe/elf/symbols.h"
#include "sframe/files/open_files.h"
#include "sframe/files/opened_file.h"
#include "sframe/files/options.h"
#include "sframe/tool/debuginfod.h"
#include "sframe/tool/messages.h"
#include "sframe/tool/option_list.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sframe::tool {

/// Declares --trust, for a program that reads the files that `input` ("the core") names. What `trust` is now
/// is the default.
Option add_trust_option(OptionList& cli, files::FileTrust& trust, const std::string& input);

/// Where such a program looks.
struct DebugFileOptions {
  files::FileOptions files;
  DebuginfodOptions servers{.mode = {}, .otherwise = Debuginfod::Mode::off, .timeout = 120};
};

/// Declares --debug-dir, --sysroot, and those of debuginfod.
void add_debug_file_options(OptionList& cli, DebugFileOptions& options);

/// The message if the options cannot be followed.
std::optional<std::string> wrong_with_debug_files(const DebugFileOptions& options);

/// Starts the process that fetches files, if there is to be one: files.server. Call before the sandbox, and
/// before the first thread.
void start_server(DebugFileOptions& options, Messages& messages);

/// Why files cannot be looked up in the folder; nothing if they can. Does not wait for file systems that do
/// not answer (sframe/elf/file_systems.h).
std::optional<std::string> wrong_with_folder(const std::string& folder);

/// Where the debug files of these inputs may be: for SandboxNeeds::read. A file's are in its directory too; a
/// directory, which is searched, is itself where those of its files are. Links in a sysroot lead anywhere in
/// it. What the server has sent is in its folder.
std::vector<std::string> debug_file_places(std::span<const std::string> inputs,
                                           const files::FileOptions& options);

/// The debug file of an image, which was opened at `path`; its image is known. Of a file without debug
/// information, it may be the server's. Candidates that do not match are warnings. Attempts to open files are
/// charged to the image's budget.
std::optional<files::OpenedFile> look_up_debug_file(const std::string& path, const elf::Image& image,
                                                    files::FileOptions options, MessageSink& messages);

/// The sidecar that is installed where the debug file of this image would be, which was opened at `path`;
/// nothing if there is none, or if the image is relocatable or has a section of its own. Attempts to open
/// files are charged to `budget`.
files::FoundSidecar look_up_sidecar(const std::string& path, const elf::Image& image,
                                    files::FileOptions options, Budget& budget);

/// The symbols of the debug file, which has more, if it has any; else the image's own. `debug` may be null.
elf::SymbolTable load_symbols(const elf::Image& image, const elf::Image* debug);

} // namespace sframe::tool
