// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of sframe-unwind.

#pragma once

#include "formats.h"
#include "sframe/crash/origin.h"
#include "sframe/languages/perf_map.h"
#include "sframe/modules/module.h"
#include "sframe/names/function_names.h"
#include "sframe/tool/app.h"
#include "sframe/tool/debuginfod.h"
#include "sframe/tool/input_files.h"
#include "sframe/unwind/walker.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sframe::unwind_tool {

struct Options {
  tool::InputOptions inputs; ///< of the command line; settled by identify_core()
  tool::NamedInputs cores;   ///< if `several`: cores, and folders with cores
  bool several = false;      ///< cores: `cores` instead of `core`
  std::string core;
  std::string named_core;       ///< of --core; identify_core() makes it `core`
  std::string named_executable; ///< of --exe; identify_core() makes it `files.executable`
  modules::FileOptions files;
  std::optional<std::uint32_t> thread;
  std::uint32_t max_frames = unwind::Walker::default_max_frames;
  std::string steppers;
  bool list_steppers = false;
  bool no_names = false;
  std::optional<names::NameStyle> names; ///< nothing: full, or short where stacks are counted
  std::optional<bool> fold;              ///< leave out frames that repeat others; nothing: on a terminal
  bool registers = false;
  const OutputFormat* format = &text_format;

  bool source = false;
  std::vector<std::string> source_dirs;
  bool arguments = false;
  bool locals = false;
  bool compare = false;
  bool group = false;
  bool modules = false;
  bool keep_generated = false;
  std::vector<std::string> languages;                 ///< empty: all
  std::string perf_map_path;                          ///< empty: none
  std::shared_ptr<const languages::PerfMap> perf_map; ///< read by read_perf_map()
  bool no_files = false;
  bool offline = false;
  tool::DebuginfodOptions debuginfod;
  std::shared_ptr<tool::Debuginfod> server; ///< nullptr: nothing is fetched
  crash::CoreOrigin origin;                 ///< of the core

  std::uint32_t pid = 0;       ///< of a live process, instead of a core; 0: none
  std::uint32_t interval = 10; ///< between samples, in milliseconds
  std::uint32_t count = 1;     ///< samples
};

/// True if values of variables are printed.
inline bool shows_variables(const Options& options) {
  return options.arguments || options.locals;
}

/// True if runtimes of languages are looked at.
inline bool wants_languages(const Options& options) {
  return options.languages != std::vector<std::string>{"none"};
}

/// Declares the options. They are filled in by app.parse().
void add_options(tool::App& app, Options& options);

struct OptionError {
  std::string file; ///< may be empty
  std::string what;
};

/// What a file is, by its first bytes.
enum class FileKind : std::uint8_t {
  core,
  packed,     ///< compressed: a core, if it was named as one
  executable, ///< an ELF file that is no core
  other,      ///< also what cannot be read
};
FileKind kind_of(const std::string& path);

/// Determines which files are cores, and whether there are several: of several files one may be the
/// executable. CORE EXECUTABLE, EXECUTABLE CORE, EXECUTABLE --core CORE, and --exe EXECUTABLE CORE are
/// equivalent.
std::optional<OptionError> identify_core(Options& options);

/// The files that may be opened: with --sysroot, those in it and those named by options; else all that the
/// core names.
tool::SandboxNeeds sandbox_needs(const Options& options);

/// What follows from all options about servers.
tool::DebuginfodOptions debuginfod_options(const Options& options);

/// Reads the file of --perf-map, before the sandbox.
std::optional<OptionError> read_perf_map(Options& options);

/// An error if a page or a picture would be printed on a terminal.
std::optional<OptionError> check_terminal(const Options& options);

/// Checks the options together, and the files they name. Empty if they are valid.
std::optional<OptionError> check(const Options& options);

} // namespace sframe::unwind_tool
