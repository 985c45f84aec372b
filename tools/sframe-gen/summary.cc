// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "summary.h"

#include <sframe/base/printable.h>
#include <sframe/code/disassembly.h>
#include <sframe/tool/debug_files.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace sframe::gen {

namespace {

std::uint64_t size_of(const Input& input, std::string_view name) {
  const elf::SectionHeader* section = input.image ? input.image->find_section(name) : nullptr;
  return section && section->type != elf::sht_nobits ? section->size : 0;
}

/// `symbols`: for the name; may be null.
FileRange range_of(const Input& input, const AddressRange& range, std::string_view member,
                   const elf::SymbolTable* symbols) {
  FileRange out{std::string(member), {}, range.start, range.size, {}};
  if (symbols)
    if (const auto match = find_symbol(input, *symbols, range.start))
      out.name = shown_name(match->symbol->name);
  if (const auto place = input.object ? input.object->locate(range.start) : std::nullopt) {
    out.section = input.image->sections()[place->section].name;
    out.start = place->offset;
  }
  return out;
}

/// Charges the texts of a range, which thousands of others may have, too. False at the limit.
bool may_keep(const Input& input, const FileRange& range) {
  return input.budget->take(Resource::name_bytes,
                            range.member.size() + range.section.size() + range.name.size());
}

} // namespace

void Summary::add(const Input& input, const Generated& generated, std::string_view member) {
  if (!abi) abi = generated.abi;
  report.add_counts(generated.report);
  add_left_out(input, generated.report, member);
  add_repairs(input, generated.report, member);
  add_origins(input, generated.report, member);
  if (input.image && member.empty()) build_id = elf::to_hex(input.image->build_id());
  if (generated.executable) add(*generated.executable);
  num_fdes += generated.num_fdes;
  num_fres += generated.num_fres;
  sframe_size += generated.bytes.size();
  eh_frame_size += size_of(input, ".eh_frame");
  eh_frame_hdr_size += size_of(input, ".eh_frame_hdr");
  add(generated.shrunk);
}

void Summary::add(const Summary& other) {
  if (!abi) abi = other.abi;
  report.add_counts(other.report);
  report.faults.clear();
  if (other.executable) add(*other.executable);
  num_fdes += other.num_fdes;
  num_fres += other.num_fres;
  sframe_size += other.sframe_size;
  eh_frame_size += other.eh_frame_size;
  eh_frame_hdr_size += other.eh_frame_hdr_size;
  members += other.members;
  converted_members += other.converted_members;
  add(other.shrunk);
}

void Summary::add(const std::optional<ShrinkFigures>& figures) {
  if (!figures) return;
  if (!shrunk) shrunk.emplace();
  shrunk->add(*figures);
}

void Summary::add_unconverted(const Input& input) {
  if (input.image) add(ExecutableBytes{{input.image->executable_addresses().size(), 0}});
}

void Summary::add(const ExecutableBytes& bytes) {
  ExecutableBytes& sum = executable ? *executable : executable.emplace();
  sum.total += bytes.total;
  sum.covered += bytes.covered;
  sum.padding += bytes.padding;
}

void Summary::add_origins(const Input& input, const generate::Report& from, std::string_view member) {
  std::vector<std::pair<AddressRange, const char*>> all;
  const auto add = [&](const std::vector<AddressRange>& ranges, const char* origin) {
    const AddressSet joined(ranges);
    for (const AddressRange& range : joined.ranges()) all.emplace_back(range, origin);
  };
  add(from.from_code, "code");
  add(from.from_orc, "orc");
  add(from.from_go, "go");
  add(from.from_stubs, "stub");
  std::ranges::sort(all, {}, [](const auto& range) { return range.first.start; });
  for (const auto& [range, origin] : all) {
    OriginRange out{range_of(input, range, member, nullptr), origin};
    if (!may_keep(input, out)) return;
    origins.push_back(std::move(out));
  }
}

void Summary::add_repairs(const Input& input, const generate::Report& from, std::string_view member) {
  if (from.repairs.empty()) return;
  const elf::SymbolTable symbols = tool::load_symbols(*input.image, input.names);
  for (const generate::Repair& repair : from.repairs) {
    const AddressRange range{repair.begin, repair.end - repair.begin};
    RepairedRange out{range_of(input, range, member, &symbols), {}, {}, {}};
    if (!may_keep(input, out)) return;
    out.before = row_text(repair.before, *abi);
    out.after = row_text(repair.after, *abi);
    if (const auto code = input.image->read(range.start, range.size))
      out.instruction = code::instruction_text(*abi, *code, range.start);
    repairs.push_back(std::move(out));
  }
}

void Summary::add_left_out(const Input& input, const generate::Report& from, std::string_view member) {
  if (from.left_out.empty()) return;
  elf::SymbolTable symbols;
  if (input.image) symbols = tool::load_symbols(*input.image, input.names);
  for (const generate::LeftOut& range : from.left_out) {
    LeftOutRange out{range_of(input, {range.start, range.size}, member, &symbols), range.reason.name};
    if (!may_keep(input, out)) return;
    left_out.push_back(std::move(out));
  }
}

} // namespace sframe::gen
