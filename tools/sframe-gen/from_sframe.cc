// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --from=sframe: converts the input's sections to another version or byte order, merging several into one.

#include "generate.h"

#include <sframe/address.h>
#include <sframe/convert.h>
#include <sframe/section.h>

#include <map>

namespace sframe::gen {

namespace {

/// Splits a table into its concatenated sections.
Result<void> split(std::span<const std::byte> bytes, std::string_view name, std::uint64_t address,
                   Budget& budget, std::vector<Section>& out) {
  Concatenated parts(bytes, address);
  for (;;) {
    const auto part = parts.next();
    if (!part) return unexpected(to_problem(part.error(), name));
    if (!*part) return {};
    if (!budget.take_section()) return unexpected(*budget.problem());
    out.push_back(**part);
  }
}

/// Functions may share rows, and sections bytes. Reports unreadable functions later.
Result<void> charge_rows(std::span<const Section> sections, Budget& budget) {
  for (const Section& section : sections)
    for (std::uint32_t i = 0; i < section.num_fdes(); ++i)
      if (const auto fde = section.fde(i); fde && !budget.take(Resource::rows, fde->num_fres))
        return unexpected(*budget.problem());
  return {};
}

/// Loads all sections of the input. `storage` owns bytes that differ from the file's.
Result<std::vector<Section>> load(const CommandLine& line, const Input& input,
                                  std::vector<elf::Contents>& storage) {
  std::vector<Section> sections;
  if (!input.image) {
    const auto done = split(input.bytes, "", section_address(line, input), *input.budget, sections);
    if (!done) return unexpected(done.error());
  } else {
    for (const elf::SframeLocation& table : input.image->sframe_tables()) {
      auto contents = input.object ? input.object->sframe_contents(table) : input.image->contents(table);
      if (!contents) return unexpected(contents.error());
      storage.push_back(std::move(*contents));
      const auto done = split(storage.back().bytes(), table.name, table.address, *input.budget, sections);
      if (!done) return unexpected(done.error());
    }
  }
  if (const auto charged = charge_rows(sections, *input.budget); !charged) return unexpected(charged.error());
  return sections;
}

ConvertedSection with_report(Reencoded&& made, const AbiTraits& abi) {
  ConvertedSection out{std::move(made.builder), {}, &abi, {}};
  generate::Report& report = out.report;
  const RefusedFunction* before = nullptr;
  for (const RefusedFunction& refused : made.refused) {
    const generate::Reason why = generate::reason(refused.refusal.reason);
    report.pc_bytes.total += refused.range.size;
    if (refused.range.size != 0)
      report.leave_out(refused.range.start, refused.range.end(), why,
                       before && before->section == refused.section &&
                           before->fde.number == refused.fde.number);
    else
      report.count(why);
    before = &refused;
  }
  report.functions = {.total = made.whole + made.partial + made.skipped,
                      .converted = made.whole,
                      .partial = made.partial,
                      .skipped = made.skipped};
  if (made.rows_at_end)
    out.warnings.push_back(std::to_string(made.rows_at_end) +
                           " rows at the end of their function left out: they apply to no address");
  return out;
}

} // namespace

expected<ConvertedSection, Failure> convert_sframe(const CommandLine& line, const Input& input,
                                                   elf::AddressBounds bounds) {
  std::vector<elf::Contents> storage;
  const auto sections = load(line, input, storage);
  if (!sections) return failed(sections.error());
  if (sections->empty()) return unexpected(Failure{{"no section .sframe", {}, {}}, true});
  const AbiTraits& abi = sections->front().abi();
  if (input.image && input.image->abi() != &abi)
    return failed({"the section's ABI does not match the file's machine: " + std::string(abi.name), {}, {}});
  for (const Section& section : *sections)
    if (section.abi().id != abi.id)
      return failed(
          {"sections of different ABIs: " + std::string(abi.name) + ", " + std::string(section.abi().name),
           {},
           {}});
  if (!line.consumer->name.empty() && line.byte_order.value_or(abi.byte_order) != abi.byte_order)
    return failed(
        {"--for=" + std::string(line.consumer->option) + " needs the byte order of " + std::string(abi.name),
         {},
         {}});
  auto made = reencode(*sections,
                       {.version = line.version,
                        .abi = abi.id,
                        .byte_order = line.byte_order,
                        .merge_rows = true,
                        .merge_functions = line.merge_functions,
                        .share_rows = share_rows(line, input, abi),
                        .pcrel = line.pcrel,
                        .usable = line.consumer->rows,
                        .unique_starts = line.consumer->equal_starts != consumers::EqualStarts::found,
                        .aux_header = {}},
                       bounds.lowest, bounds.highest);
  if (!made) return failed(to_problem(made.error()));
  return with_report(std::move(*made), abi);
}

void count_written(Generated& generated) {
  const auto section = Section::parse(generated.bytes);
  if (!section) return;
  for (std::uint32_t i = 0; i < section->num_fdes(); ++i)
    if (const auto fde = section->fde(i)) {
      generated.report.pc_bytes.covered += fde->size;
      generated.report.pc_bytes.total += fde->size;
    }
}

} // namespace sframe::gen
