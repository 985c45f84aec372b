// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function for each part of the report. Those for JSON continue an object that is open: each key is
// written with the separator before it (Keys). tree_report.cc uses the same parts for the sums of a tree.

#include "report.h"

namespace sframe::gen {

namespace {

/// Writes "key": value, with the separator from the preceding key.
class Keys {
public:
  explicit Keys(tool::Output& out) : out_(out) {}
  tool::Output& operator()(std::string_view key) {
    if (!first_) out_ << ", ";
    first_ = false;
    return out_.json_string(key) << ": ";
  }

private:
  tool::Output& out_;
  bool first_ = true;
};

/// Its place, without the name.
void write_place(const FileRange& range, Keys& key, tool::Output& out) {
  if (!range.member.empty()) key("member").json_string(range.member);
  if (!range.section.empty()) key("section").json_string(range.section);
  key("start") << '"';
  out.hex(range.start) << '"';
  key("size").decimal(range.size);
}

void write_left_out(const Summary& summary, tool::Output& out) {
  out << '[';
  for (bool first = true; const LeftOutRange& range : summary.left_out) {
    out << (first ? "\n  {" : ",\n  {");
    first = false;
    Keys key(out);
    write_place(range, key, out);
    key("name").json_string(range.name);
    key("reason").json_string(range.reason);
    out << '}';
  }
  out << ']';
}

void write_json_origins(const Summary& summary, tool::Output& out) {
  out << ",\n \"origins\": [";
  for (bool first = true; const OriginRange& range : summary.origins) {
    out << (first ? "\n  {" : ",\n  {");
    first = false;
    Keys key(out);
    write_place(range, key, out);
    key("origin").json_string(range.origin);
    out << '}';
  }
  out << ']';
}

void write_json_repairs(const CommandLine& line, const Summary& summary, tool::Output& out) {
  const bool lists = line.repair == generate::Options::Repair::list;
  out << ",\n \"repair\": " << (lists ? "\"list\"" : "\"apply\"") << ",\n \"repairs\": [";
  for (bool first = true; const RepairedRange& range : summary.repairs) {
    out << (first ? "\n  {" : ",\n  {");
    first = false;
    Keys key(out);
    write_place(range, key, out);
    key("name").json_string(range.name);
    key("before").json_string(range.before);
    key("after").json_string(range.after);
    key("instruction").json_string(range.instruction);
    out << '}';
  }
  out << ']';
}

void write_text_repairs(const CommandLine& line, const Summary& summary, tool::Output& out) {
  if (summary.repairs.empty()) return;
  const bool lists = line.repair == generate::Options::Repair::list;
  std::uint64_t bytes = 0;
  for (const RepairedRange& range : summary.repairs) bytes += range.size;
  out << "  repair:    " << with_commas(bytes) << " bytes in " << with_commas(summary.repairs.size())
      << (summary.repairs.size() == 1 ? " range" : " ranges")
      << (lists ? " whose CFI the code contradicts\n"
                : " have other rows than their CFI, which the code contradicts\n");
  if (!lists) return;
  for (const RepairedRange& range : summary.repairs) {
    out << "    ";
    if (!range.member.empty()) out.safe(range.member) << ": ";
    if (!range.section.empty()) out.safe(range.section) << '+';
    out.hex(range.start) << '-';
    out.hex(range.start + range.size - 1) << ' ';
    out.safe(range.name) << (range.name.empty() ? "" : ": ") << range.before << " should be " << range.after
                         << ", at ";
    out.safe(range.instruction) << '\n';
  }
}

void write_reasons(const generate::Report& report, tool::Output& out) {
  Keys key(out);
  out << '{';
  for (const auto& [name, count] : report.reasons) key(name).decimal(count);
  out << '}';
}

void write_counts(const generate::Report& report, tool::Output& out) {
  const auto& functions = report.functions;
  out << ",\n \"functions\": {\"total\": ";
  out.decimal(functions.total) << ", \"converted\": ";
  out.decimal(functions.converted) << ", \"partial\": ";
  out.decimal(functions.partial) << ", \"skipped\": ";
  out.decimal(functions.skipped) << "},\n \"pc_bytes\": {\"total\": ";
  out.decimal(report.pc_bytes.total) << ", \"covered\": ";
  out.decimal(report.pc_bytes.covered) << ", \"stubs\": ";
  out.decimal(report.plt_bytes) << ", \"stubs_with_wrong_cfi\": ";
  out.decimal(report.refuted_plt_bytes) << ", \"code\": ";
  out.decimal(report.code_bytes);
  if (report.orc_bytes != 0) (out << ", \"orc\": ").decimal(report.orc_bytes);
  if (report.go_bytes != 0) (out << ", \"go\": ").decimal(report.go_bytes);
  out << "}";
  if (report.extended != 0) (out << ",\n \"extended\": ").decimal(report.extended);
}

void write_json_shrunk(const ShrinkFigures& shrunk, tool::Output& out) {
  out << ",\n \"shrink_cfi\": {\"level\": \"" << shrink::name(shrunk.level) << '"';
  const auto add = [&](const char* key, std::uint64_t value) {
    (out << ", \"" << key << "\": ").decimal(value);
  };
  add("eh_frame", shrunk.after.eh_frame);
  add("eh_frame_hdr", shrunk.after.eh_frame_hdr);
  add("fdes", shrunk.fdes);
  add("copied", shrunk.copied);
  if (shrunk.level != shrink::Level::lossless) add("addresses_left_to_sframe", shrunk.left_out);
  add("files", shrunk.files);
  add("files_with_sframe_in_freed_bytes", shrunk.inside);
  add("file_size_before", shrunk.file_before);
  add("file_size", shrunk.file_after);
  out << '}';
}

/// The first lines of the text report: coverage.
void write_coverage(const CommandLine& line, const Summary& summary, tool::Output& out) {
  out.safe(line.input) << ": ";
  if (!summary.executable) {
    out << share_text(summary.report.pc_bytes) << " bytes of functions covered\n";
    return;
  }
  const ExecutableBytes& executable = *summary.executable;
  out << share_text(executable) << " executable bytes covered";
  if (executable.padding != 0)
    out << ", " << percent_text(CoveredBytes{executable.total, executable.padding}.percent())
        << " % are padding";
  out << '\n';
  write_text_described(line, summary, out);
}

} // namespace

std::string share_text(const CoveredBytes& bytes) {
  return percent_text(bytes.percent()) + " % of " + with_commas(bytes.total);
}

void write_json_error(const FileProblem& failure, tool::Output& out) {
  Keys key(out);
  out << ",\n \"error\": {";
  key("file").json_string(failure.file);
  key("message").json_string(failure.problem.what);
  if (!failure.problem.section.empty()) key("section").json_string(failure.problem.section);
  if (failure.problem.offset) key("offset").decimal(*failure.problem.offset);
  out << '}';
}

void write_json_executable(const ExecutableBytes& bytes, tool::Output& out) {
  out << ",\n \"executable_bytes\": {\"total\": ";
  out.decimal(bytes.total) << ", \"covered\": ";
  out.decimal(bytes.covered) << ", \"padding\": ";
  out.decimal(bytes.padding) << '}';
}

void write_json_figures(const Summary& summary, tool::Output& out) {
  const generate::Report& report = summary.report;
  write_counts(report, out);
  if (summary.executable) write_json_executable(*summary.executable, out);
  out << ",\n \"reasons\": ";
  write_reasons(report, out);
}

void write_json_sizes(const Summary& summary, tool::Output& out) {
  out << ",\n \"sizes\": {\"sframe\": ";
  out.decimal(summary.sframe_size) << ", \"eh_frame\": ";
  out.decimal(summary.eh_frame_size) << ", \"eh_frame_hdr\": ";
  out.decimal(summary.eh_frame_hdr_size) << "},\n \"fdes\": ";
  out.decimal(summary.num_fdes) << ", \"rows\": ";
  out.decimal(summary.num_fres);
  if (summary.shrunk) write_json_shrunk(*summary.shrunk, out);
}

void write_json_details(const CommandLine& line, const Summary& summary, tool::Output& out) {
  out << ", \"abi\": ";
  if (summary.abi)
    out.json_string(summary.abi->name);
  else
    out << "null";
  out << ", \"version\": ";
  out.decimal(static_cast<std::uint64_t>(line.version));
  if (!summary.build_id.empty()) (out << ", \"build_id\": ").json_string(summary.build_id);
  if (summary.failure) write_json_error(*summary.failure, out);
  write_json_figures(summary, out);
  if (line.from != From::sframe && summary.members == 0) write_json_origins(summary, out);
  if (line.repair != generate::Options::Repair::none) write_json_repairs(line, summary, out);
  out << ",\n \"left_out\": ";
  write_left_out(summary, out);
  write_json_sizes(summary, out);
  out << ", \"unreadable\": ";
  out.decimal(summary.report.faults.size());
  if (!summary.unconverted.empty()) {
    out << ", \"unconverted\": ";
    out.json_string(summary.unconverted);
  }
  if (summary.members != 0) {
    out << ", \"members\": {\"total\": ";
    out.decimal(summary.members) << ", \"converted\": ";
    out.decimal(summary.converted_members) << '}';
  }
}

void write_json_report(const CommandLine& line, const Summary& summary, tool::Output& out) {
  out << "{\"input\": ";
  out.json_string(line.input);
  write_json_details(line, summary, out);
  out << "}\n";
}

void write_text_shrunk(const Summary& summary, tool::Output& out) {
  const ShrinkFigures& shrunk = *summary.shrunk;
  const auto share = [&](std::uint64_t bytes) {
    const std::uint64_t before = shrunk.before.sum();
    return percent_text(before == 0 ? 0 : 100.0 * static_cast<double>(bytes) / static_cast<double>(before));
  };
  const bool grew = shrunk.file_after >= shrunk.file_before;
  out << "  CFI:       " << share(shrunk.after.sum()) << " % of before ("
      << with_commas(shrunk.after.eh_frame) << " and " << with_commas(shrunk.after.eh_frame_hdr)
      << " bytes), " << with_commas(shrunk.fdes) << " FDEs; with .sframe "
      << share(shrunk.after.sum() + summary.sframe_size) << " %\n";
  if (shrunk.level != shrink::Level::lossless)
    out << "  left out:  " << with_commas(shrunk.left_out) << " addresses, which .sframe covers\n";
  out << "  growth:    " << (grew ? "" : "-")
      << with_commas(grew ? shrunk.file_after - shrunk.file_before : shrunk.file_before - shrunk.file_after)
      << " bytes\n";
}

void write_text_described(const CommandLine& line, const Summary& summary, tool::Output& out) {
  const char* const what = line.from == From::cfi      ? "  with CFI:  "
                           : line.from == From::orc    ? "  in ORC:    "
                           : line.from == From::go     ? "  in Go's:   "
                           : line.from == From::sframe ? "  sections:  "
                                                       : "  analysed:  ";
  out << what << share_text(summary.report.pc_bytes) << " bytes covered\n";
}

void write_text_functions(const generate::Report& report, tool::Output& out) {
  const auto& functions = report.functions;
  out << "  functions: " << with_commas(functions.total) << " (" << with_commas(functions.converted)
      << " whole, " << with_commas(functions.partial) << " in part, " << with_commas(functions.skipped)
      << " left out)\n";
}

void write_text_reasons(const CommandLine& line, const generate::Report& report, tool::Output& out) {
  if (report.reasons.empty()) return;
  out << "  left out: ";
  for (bool first = true; const auto& [name, count] : report.reasons) {
    out << (first ? " " : ", ");
    if (name == reason_name(RefusalReason::reader))
      out << "unusable for " << line.reader->name << ' ' << with_commas(count);
    else
      out << name << ' ' << with_commas(count);
    first = false;
  }
  out << '\n';
}

void write_text_report(const CommandLine& line, const Summary& summary, tool::Output& out) {
  if (summary.failure) {
    out.safe(line.input) << ": no output written: ";
    if (summary.failure->file != line.input) out.safe(summary.failure->file) << ": ";
    out.safe(summary.failure->problem.text()) << '\n';
    return;
  }
  const generate::Report& report = summary.report;
  if (!summary.unconverted.empty()) {
    out.safe(line.input) << ": not converted: ";
    out.safe(summary.unconverted) << (line.emit == Emit::elf ? "; copied unchanged\n" : "; no output\n");
    return;
  }
  write_coverage(line, summary, out);
  if (summary.members != 0)
    out << "  members:   " << with_commas(summary.members) << " (" << with_commas(summary.converted_members)
        << " converted)\n";
  write_text_functions(report, out);
  out << "  .sframe:   " << with_commas(summary.sframe_size) << " bytes, version ";
  out.decimal(static_cast<std::uint64_t>(line.version))
      << ", " << summary.abi->name << ", " << with_commas(summary.num_fdes) << " FDEs, "
      << with_commas(summary.num_fres) << " rows\n";
  if (summary.eh_frame_size != 0)
    out << "  size:      "
        << percent_text(100.0 * static_cast<double>(summary.sframe_size) /
                        static_cast<double>(summary.eh_frame_size + summary.eh_frame_hdr_size))
        << " % of .eh_frame (" << with_commas(summary.eh_frame_size) << " bytes) and .eh_frame_hdr ("
        << with_commas(summary.eh_frame_hdr_size) << " bytes)\n";
  if (summary.shrunk) write_text_shrunk(summary, out);
  if (report.plt_bytes != 0)
    out << "  stubs:     " << with_commas(report.plt_bytes)
        << " bytes without CFI are described from their instructions\n";
  if (report.refuted_plt_bytes != 0)
    out << "  stubs:     " << with_commas(report.refuted_plt_bytes)
        << " bytes are described from their instructions, which contradict their CFI\n";
  if (report.go_bytes != 0)
    out << "  from Go:   " << with_commas(report.go_bytes) << " bytes are described in Go's function table\n";
  if (report.orc_bytes != 0)
    out << "  from ORC:  " << with_commas(report.orc_bytes)
        << " bytes without CFI are in the kernel's table\n";
  if (report.code_bytes != 0)
    out << "  from code: " << with_commas(report.code_bytes)
        << " bytes without CFI are described from their instructions\n";
  write_text_repairs(line, summary, out);
  if (report.extended != 0)
    out << "  extended:  " << with_commas(report.extended)
        << (report.extended == 1 ? " function" : " functions")
        << " over the padding after the call at the end\n";
  write_text_reasons(line, report, out);
}

} // namespace sframe::gen
