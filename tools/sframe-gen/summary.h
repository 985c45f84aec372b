// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contents of the report: one conversion, all members of an archive together, or all files of a tree.

#pragma once

#include "emit.h"
#include "generate.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::gen {

/// A range of addresses, in terms of its file.
struct FileRange {
  std::string member;      ///< of an archive; else empty
  std::string section;     ///< of a relocatable object, the section of `start`; else empty
  std::uint64_t start = 0; ///< address, or offset in `section`
  std::uint64_t size = 0;
  std::string name; ///< of the function; empty if there is none
};

/// A range that was left out.
struct LeftOutRange : FileRange {
  const char* reason = "";
};

/// Rows of the CFI that the code contradicts, as text.
struct RepairedRange : FileRange {
  std::string before, after;
  std::string instruction; ///< the first one
};

/// Rows that do not come from CFI. Has no name.
struct OriginRange : FileRange {
  const char* origin = ""; ///< "code", "stub"
};

struct Summary {
  std::optional<FileProblem> failure; ///< why nothing was written; then all else is empty
  const AbiTraits* abi = nullptr;     ///< of the first conversion; nullptr if nothing was converted
  std::string unconverted;            ///< why nothing was converted, if that is not an error; else empty
  generate::Report report;            ///< the sums; its left_out is empty
  std::vector<LeftOutRange> left_out; ///< in order
  std::vector<RepairedRange> repairs; ///< by address (and member)
  std::vector<OriginRange> origins;   ///< the same; neighbours of the same origin are one
  std::string build_id;               ///< of the input, in hexadecimal digits; empty if it has none
  std::optional<Problem> limit;       ///< the first limit that was reached: code may be missing
  std::optional<ExecutableBytes> executable; ///< the sums; empty for a raw section
  std::uint64_t num_fdes = 0, num_fres = 0;
  std::uint64_t sframe_size = 0, eh_frame_size = 0, eh_frame_hdr_size = 0; ///< bytes
  std::uint64_t members = 0, converted_members = 0;                        ///< of an archive
  std::optional<ShrinkFigures> shrunk;                                     ///< with --shrink-cfi

  /// Adds a conversion. Linear in its report and, if something was left out, in the input's symbols.
  void add(const Input& input, const Generated& generated, std::string_view member = {});
  /// Adds an ELF file without anything to convert: its code counts as not covered.
  void add_unconverted(const Input& input);

  /// Adds the figures of another one; not its ranges and unreadable entries.
  void add(const Summary& other);

private:
  void add(const ExecutableBytes& bytes);
  void add(const std::optional<ShrinkFigures>& figures);
  void add_origins(const Input& input, const generate::Report& from, std::string_view member);
  void add_repairs(const Input& input, const generate::Report& from, std::string_view member);
  void add_left_out(const Input& input, const generate::Report& from, std::string_view member);
};

} // namespace sframe::gen
