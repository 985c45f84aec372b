// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of sframe-gen.

#pragma once

#include <sframe/base/coverage.h>
#include <sframe/builder.h>
#include <sframe/generate/from_cfi.h>
#include <sframe/optimize.h>
#include <sframe/readers/readers.h>
#include <sframe/shrink/image.h>
#include <sframe/tool/app.h>
#include <sframe/tool/debug_files.h>
#include <sframe/tool/input_files.h>
#include <sframe/tool/text.h>

#include <cstdint>
#include <optional>
#include <string>

namespace sframe::gen {

enum class From : std::uint8_t { cfi, code, cfi_and_code, orc, go, tables, all, sframe };

constexpr bool reads_cfi(From from) {
  return from == From::cfi || from == From::cfi_and_code || from == From::tables || from == From::all;
}
constexpr bool reads_code(From from) {
  return from == From::code || from == From::cfi_and_code || from == From::all;
}
constexpr bool reads_orc(From from) {
  return from == From::orc || from == From::tables || from == From::all;
}
constexpr bool reads_go(From from) {
  return from == From::go || from == From::tables || from == From::all;
}

enum class Emit : std::uint8_t { elf, section, sidecar, bpf_table };

/// True if an output directory gets files by build ID, of linked files only.
constexpr bool goes_by_build_id(Emit emit) {
  return emit == Emit::sidecar || emit == Emit::bpf_table;
}
enum class ReportFormat : std::uint8_t { text, json, none };

struct CommandLine {
  tool::InputOptions inputs;
  bool tree = false; ///< there are or may be several inputs, each of them a file of a tree (tree.h)
  bool in_place = false;
  bool force = false;                 ///< writes what is up to date, too
  std::string input;                  ///< with a tree: of the file at hand, as `output`
  std::string output;                 ///< with a tree and without in_place, on the command line: a directory
  std::string debug;                  ///< a separate debug file with more CFI; empty: none
  tool::DebugFileOptions debug_files; ///< where they are looked up, for names
  From from = From::cfi;
  Emit emit = Emit::elf;
  VersionNumber version = default_version;
  const readers::Reader* reader = &readers::all_readers().front();
  std::optional<ByteOrder> byte_order;
  bool plt = true;
  bool return_addresses = false;
  bool pcrel = true;
  std::optional<bool> share_rows; ///< empty: depends on the byte order
  bool merge_functions = false;
  generate::Options::Repair repair = generate::Options::Repair::none;
  std::optional<OptimizeOptions> optimize;    ///< empty: every function is an FDE
  std::optional<shrink::ImageOptions> shrink; ///< empty: the call frame information stays as it is
  std::string full_cfi; ///< where all of it is written, as .debug_frame; with Level::sync
  unsigned threads = 1;
  std::optional<tool::Glob> function;
  std::optional<std::uint64_t> section_address;
  ReportFormat report = ReportFormat::text;
  std::string report_file; ///< empty: not given
  bool strict = false;
  RequiredCoverage coverage;
  Limits limits = Limits::standard;
  bool allow_missing = false; ///< an input without anything to convert is not an error
};

/// Parses the command line. Returns the exit code if the program should end; messages have been printed.
expected<CommandLine, int> parse_command_line(tool::App& app, int argc, const char* const* argv);

/// Creates the program's App with its name, description and examples.
tool::App make_app();

} // namespace sframe::gen
