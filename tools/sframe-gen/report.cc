// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report.h"

#include <cstdio>

namespace sframe::gen {

namespace {

struct Sizes {
  std::uint64_t sframe, eh_frame, eh_frame_hdr;
};

Sizes sizes(const Input& input, const Generated& generated) {
  const auto size_of = [&](std::string_view name) -> std::uint64_t {
    const elf::Section* section = input.image ? input.image->find_section(name) : nullptr;
    return section && section->type != elf::sht_nobits ? section->size : 0;
  };
  return {generated.bytes.size(), size_of(".eh_frame"), size_of(".eh_frame_hdr")};
}

/// Rounded down, so that only what is complete reads 100.00.
std::string percent(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f",
                static_cast<double>(static_cast<std::uint64_t>(value * 100)) / 100);
  return text;
}

std::string with_commas(std::uint64_t value) {
  std::string text;
  for (std::size_t left = std::to_string(value).size(); const char digit : std::to_string(value)) {
    text += digit;
    if (--left != 0 && left % 3 == 0) text += ',';
  }
  return text;
}

/// "key": value, with what separates it from the key before.
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

void write_left_out(const Input& input, const conversion::Report& report, tool::Output& out) {
  elf::SymbolTable symbols;
  if (input.image && !report.left_out.empty()) symbols = elf::SymbolTable::load(*input.image);
  out << '[';
  for (bool first = true; const conversion::LeftOut& range : report.left_out) {
    out << (first ? "\n  {" : ",\n  {");
    first = false;
    const auto match = symbols.find(range.start);
    Keys key(out);
    key("start") << '"';
    out.hex(range.start) << '"';
    key("size").decimal(range.size);
    key("name").json_string(match ? match->symbol->name : std::string_view());
    key("reason").json_string(range.reason.name);
    out << '}';
  }
  out << ']';
}

void write_reasons(const conversion::Report& report, tool::Output& out) {
  Keys key(out);
  out << '{';
  for (const auto& [name, count] : report.reasons) key(name).decimal(count);
  out << '}';
}

void write_counts(const conversion::Report& report, tool::Output& out) {
  const auto& functions = report.functions;
  out << ",\n \"functions\": {\"total\": ";
  out.decimal(functions.total) << ", \"converted\": ";
  out.decimal(functions.converted) << ", \"partial\": ";
  out.decimal(functions.partial) << ", \"skipped\": ";
  out.decimal(functions.skipped) << "},\n \"pc_bytes\": {\"total\": ";
  out.decimal(report.pc_bytes.total) << ", \"covered\": ";
  out.decimal(report.pc_bytes.covered) << "}";
}

} // namespace

void write_json_report(const CommandLine& line, const Input& input, const Generated& generated,
                       tool::Output& out) {
  const conversion::Report& report = generated.report;
  const Sizes bytes = sizes(input, generated);
  out << "{\"input\": ";
  out.json_string(line.input) << ", \"abi\": ";
  out.json_string(generated.abi->name) << ", \"version\": ";
  out.decimal(static_cast<std::uint64_t>(line.version));
  write_counts(report, out);
  out << ",\n \"reasons\": ";
  write_reasons(report, out);
  out << ",\n \"left_out\": ";
  write_left_out(input, report, out);
  out << ",\n \"sizes\": {\"sframe\": ";
  out.decimal(bytes.sframe) << ", \"eh_frame\": ";
  out.decimal(bytes.eh_frame) << ", \"eh_frame_hdr\": ";
  out.decimal(bytes.eh_frame_hdr) << "},\n \"fdes\": ";
  out.decimal(generated.num_fdes) << ", \"rows\": ";
  out.decimal(generated.num_fres) << ", \"unreadable\": ";
  out.decimal(report.faults.size()) << "}\n";
}

void write_text_report(const CommandLine& line, const Input& input, const Generated& generated,
                       tool::Output& out) {
  const conversion::Report& report = generated.report;
  const auto& functions = report.functions;
  const Sizes bytes = sizes(input, generated);
  out.safe(line.input) << ": " << percent(report.coverage()) << " % of " << with_commas(report.pc_bytes.total)
                       << " bytes of code covered\n";
  out << "  functions: " << with_commas(functions.total) << " (" << with_commas(functions.converted)
      << " whole, " << with_commas(functions.partial) << " in part, " << with_commas(functions.skipped)
      << " left out)\n";
  out << "  .sframe:   " << with_commas(bytes.sframe) << " bytes, version ";
  out.decimal(static_cast<std::uint64_t>(line.version))
      << ", " << generated.abi->name << ", " << with_commas(generated.num_fdes) << " FDEs, "
      << with_commas(generated.num_fres) << " rows\n";
  if (bytes.eh_frame != 0)
    out << "  beside:    .eh_frame " << with_commas(bytes.eh_frame) << " + .eh_frame_hdr "
        << with_commas(bytes.eh_frame_hdr) << " bytes; .sframe is "
        << percent(100.0 * static_cast<double>(bytes.sframe) /
                   static_cast<double>(bytes.eh_frame + bytes.eh_frame_hdr))
        << " % of both\n";
  if (report.reasons.empty()) return;
  out << "  left out: ";
  for (bool first = true; const auto& [name, count] : report.reasons) {
    out << (first ? " " : ", ") << name << ' ' << with_commas(count);
    first = false;
  }
  out << '\n';
}

} // namespace sframe::gen
