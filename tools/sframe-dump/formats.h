// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The output formats by name. One source file each: text.cc, gnu.cc, llvm.cc, json.cc; bytes.cc for -v,
// list.cc for --list and disassemble.cc; and for --stats stats.cc, stats_table.cc (many files, CSV),
// stats_json.cc, which also writes the data of the page, and stats_details.cc.

#pragma once

#include "dumper.h"
#include "origins.h"

#include <sframe/tool/output.h>

#include <memory>

namespace sframe::dump {

/// The arguments of a Dumper; all of it outlives the Dumper.
struct DumperContext {
  tool::Output& out;
  Names& names;
  std::string section; ///< name of the sections to show
  bool header_only = false;
  bool shows_all = true; ///< no filter leaves out functions, and header_only is not set
  bool color = false;
  const Origins* origins = nullptr; ///< --origin: for the formats text and json; nullptr: not known
  std::string title;                ///< of a page
};

std::unique_ptr<Dumper> make_text_dumper(const DumperContext& context);
std::unique_ptr<Dumper> make_bytes_dumper(const DumperContext& context);
std::unique_ptr<Dumper> make_disassembly_dumper(const DumperContext& context);
std::unique_ptr<Dumper> make_list_dumper(const DumperContext& context);
std::unique_ptr<Dumper> make_gnu_dumper(const DumperContext& context);
std::unique_ptr<Dumper> make_llvm_dumper(const DumperContext& context);
std::unique_ptr<Dumper> make_json_dumper(const DumperContext& context);
std::unique_ptr<Dumper> make_stats_dumper(const DumperContext& context);
std::unique_ptr<Dumper> make_stats_table_dumper(const DumperContext& context);
std::unique_ptr<Dumper> make_stats_csv_dumper(const DumperContext& context);
std::unique_ptr<Dumper> make_stats_json_dumper(const DumperContext& context);
std::unique_ptr<Dumper> make_stats_html_dumper(const DumperContext& context);

using MakeDumper = std::unique_ptr<Dumper> (*)(const DumperContext&);

struct Format {
  const char* name;
  const char* help; ///< its part of the text of --format
  MakeDumper dump;  ///< nullptr if the format has only statistics
  MakeDumper stats; ///< nullptr if the format has no statistics
  bool shows_origins = false;
};
inline constexpr Format formats[] = {
    {"text", "text (default), ", make_text_dumper, make_stats_dumper, true},
    {"gnu", "gnu (as objdump --sframe), ", make_gnu_dumper, nullptr},
    {"llvm", "llvm (as llvm-readobj --sframe), ", make_llvm_dumper, nullptr},
    {"json", "json; ", make_json_dumper, make_stats_json_dumper, true},
    {"csv", "with --stats also csv, ", nullptr, make_stats_csv_dumper},
    {"html", "and html, a page for a browser", nullptr, make_stats_html_dumper},
};
inline constexpr const Format& text_format = formats[0];

} // namespace sframe::dump
