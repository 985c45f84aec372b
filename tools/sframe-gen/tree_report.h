// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report on a tree: as JSON a line for each file and one for all, as text the latter only.

#pragma once

#include "emit.h"
#include "summary.h"

#include <sframe/tool/output.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sframe::gen {

enum class Status : std::uint8_t {
  converted,
  up_to_date,
  skipped, ///< nothing to convert
  refused, ///< its contents cannot be converted
  failed,  ///< could not be read or written
  same,    ///< another name of a file, or a file with the same sidecar
};
inline constexpr std::size_t status_count = 6;

/// What became of a file.
struct FileResult {
  std::string input;
  Status status = Status::failed;
  std::string output; ///< the path of the file that was written or is up to date; empty if there is none
  std::string why;    ///< skipped: the reason; same: the other file
  std::uint64_t input_size = 0, output_size = 0; ///< bytes
  Summary summary;                               ///< its `failure` is why the file was refused or failed
};

class TreeSummary {
public:
  TreeSummary() { sum.executable.emplace(); }
  void add(const FileResult& file);

  /// Results by reason.
  using Counts = std::map<std::string, std::uint64_t>;

  Summary sum; ///< of all files that were converted or are up to date; executable bytes: of all files
  std::array<std::uint64_t, status_count> files{};
  Counts skipped, refused, failed;
  std::uint64_t unreadable = 0;                    ///< entries of files that could not be read
  std::uint64_t input_bytes = 0, output_bytes = 0; ///< of the files that were converted
};

/// One line.
void write_json_line(const CommandLine& line, const FileResult& file, tool::Output& out);
void write_json_summary(const CommandLine& line, const TreeSummary& tree, tool::Output& out);
/// A few lines for people.
void write_text_summary(const CommandLine& line, const TreeSummary& tree, tool::Output& out);

} // namespace sframe::gen
