// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of a tree: what became of each file, equal reasons counted, and the sums of all files.

#include "tree_report.h"

#include "report.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::gen {

namespace {

/// In JSON.
constexpr std::array<const char*, status_count> status_names = {"converted", "up_to_date", "skipped",
                                                                "refused",   "failed",     "same"};

const char* name_of(Status status) {
  return status_names[static_cast<std::size_t>(status)];
}

/// The report on one conversion has several lines: strings have no line ends, so those that are there may go.
std::string on_one_line(std::string_view json) {
  std::string line;
  for (const char c : json)
    if (c != '\n') line += c;
  return line;
}

std::uint64_t sum_of(const std::array<std::uint64_t, status_count>& files) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : files) sum += count;
  return sum;
}

void write_json_counts(const char* name, const TreeSummary::Counts& counts, tool::Output& out) {
  out << ", \"" << name << "\": {";
  for (const char* separator = ""; const auto& [reason, count] : counts) {
    out << std::exchange(separator, ", ");
    out.json_string(reason) << ": ";
    out.decimal(count);
  }
  out << '}';
}

/// The most frequent reason first.
void write_text_counts(const char* name, const TreeSummary::Counts& counts, tool::Output& out) {
  using Entry = std::pair<std::string, std::uint64_t>;
  std::vector<Entry> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(), &Entry::second);
  for (const auto& [reason, count] : sorted) {
    out << name << with_commas(count) << ' ';
    out.safe(reason) << '\n';
  }
}

} // namespace

void TreeSummary::add(const FileResult& file) {
  ++files[static_cast<std::size_t>(file.status)];
  sum.add(file.summary);
  unreadable += file.summary.report.faults.size();
  switch (file.status) {
  case Status::converted:
    input_bytes += file.input_size;
    output_bytes += file.output_size;
    break;
  case Status::skipped: ++skipped[file.why]; break;
  case Status::refused: ++refused[file.summary.failure->problem.what]; break;
  case Status::failed: ++failed[file.summary.failure->problem.what]; break;
  case Status::up_to_date:
  case Status::same: break;
  }
}

void write_json_line(const CommandLine& line, const FileResult& file, tool::Output& out) {
  out << "{\"input\": ";
  out.json_string(file.input) << ", \"status\": \"" << name_of(file.status) << '"';
  if (!file.output.empty()) {
    out << ", \"output\": ";
    out.json_string(file.output);
  }
  tool::Output details(-1);
  switch (file.status) {
  case Status::converted:
  case Status::up_to_date: write_json_details(line, file.summary, details); break;
  case Status::refused:
  case Status::failed: write_json_error(*file.summary.failure, details); break;
  case Status::skipped: (details << ", \"unconverted\": ").json_string(file.why); break;
  case Status::same: (details << ", \"same_as\": ").json_string(file.why); break;
  }
  const bool is_section = file.status == Status::converted || file.status == Status::up_to_date;
  if (const auto& executable = file.summary.executable; !is_section && executable && executable->total != 0)
    write_json_executable(*executable, details);
  out << on_one_line(details.text()) << "}\n";
}

void write_json_summary(const CommandLine& line, const TreeSummary& tree, tool::Output& out) {
  out << "{\"summary\": {\"files\": {\"total\": ";
  out.decimal(sum_of(tree.files));
  for (std::size_t i = 0; i < status_count; ++i) {
    out << ", \"" << status_names[i] << "\": ";
    out.decimal(tree.files[i]);
  }
  out << "}, \"version\": ";
  out.decimal(static_cast<std::uint64_t>(line.version));
  tool::Output figures(-1);
  write_json_figures(tree.sum, figures);
  write_json_sizes(tree.sum, figures);
  (figures << ", \"unreadable\": ").decimal(tree.unreadable);
  out << on_one_line(figures.text());
  write_json_counts("skipped", tree.skipped, out);
  write_json_counts("refused", tree.refused, out);
  write_json_counts("failed", tree.failed, out);
  out << ", \"file_bytes\": {\"input\": ";
  out.decimal(tree.input_bytes) << ", \"output\": ";
  out.decimal(tree.output_bytes) << "}}}\n";
}

void write_text_summary(const CommandLine& line, const TreeSummary& tree, tool::Output& out) {
  const auto count = [&](Status status) { return tree.files[static_cast<std::size_t>(status)]; };
  const std::uint64_t files = sum_of(tree.files);
  out << with_commas(files) << (files == 1 ? " file: " : " files: ") << with_commas(count(Status::converted))
      << " converted, " << with_commas(count(Status::up_to_date)) << " up to date, "
      << with_commas(count(Status::skipped)) << " skipped, " << with_commas(count(Status::refused))
      << " refused, " << with_commas(count(Status::failed)) << " failed";
  if (count(Status::same) != 0) out << ", " << with_commas(count(Status::same)) << " duplicate";
  out << '\n';
  if (tree.sum.executable->total != 0)
    out << "  covered:   " << share_text(*tree.sum.executable) << " executable bytes\n";
  if (tree.sum.report.functions.total != 0) {
    write_text_described(line, tree.sum, out);
    write_text_functions(tree.sum.report, out);
    out << "  .sframe:   " << with_commas(tree.sum.sframe_size) << " bytes, "
        << with_commas(tree.sum.num_fdes) << " FDEs, " << with_commas(tree.sum.num_fres) << " rows\n";
    if (tree.sum.shrunk) write_text_shrunk(tree.sum, out);
  }
  if (count(Status::converted) != 0)
    out << "  written:   " << with_commas(tree.output_bytes) << " bytes, from files of "
        << with_commas(tree.input_bytes) << " bytes\n";
  if (tree.unreadable != 0) out << "  damaged:   " << with_commas(tree.unreadable) << " unreadable entries\n";
  write_text_counts("  skipped:   ", tree.skipped, out);
  write_text_counts("  refused:   ", tree.refused, out);
  write_text_counts("  failed:    ", tree.failed, out);
  write_text_reasons(line, tree.sum.report, out);
}

} // namespace sframe::gen
