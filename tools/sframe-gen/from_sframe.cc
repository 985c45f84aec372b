// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --from=sframe: converts the input's sections to another version or byte order, merging several into one.

#include "generate.h"

#include <sframe/address.h>
#include <sframe/convert.h>
#include <sframe/section.h>

#include <algorithm>
#include <utility>

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
    const elf::Image& image = input.sidecar ? *input.sidecar : *input.image;
    for (const elf::SframeLocation& table : image.sframe_tables()) {
      auto contents = input.object ? input.object->sframe_contents(table) : image.contents(table);
      if (!contents) return unexpected(contents.error());
      storage.push_back(std::move(*contents));
      const auto done = split(storage.back().bytes(), table.name, table.address, *input.budget, sections);
      if (!done) return unexpected(done.error());
    }
  }
  if (const auto charged = charge_rows(sections, *input.budget); !charged) return unexpected(charged.error());
  return sections;
}

/// A function that is not converted, and why.
struct Unwanted {
  FunctionNumber number;
  AddressRange range;
  generate::Reason why;
};

/// Functions outside the code, which linkers leave where they discarded some; those that another one
/// describes (identical code folding); and, if `unique_starts`, those that a lookup in one sorted section
/// does not find, since another one has the same start.
class UnwantedFunctions {
public:
  UnwantedFunctions(std::span<const Section> sections, const AddressSet& code, bool unique_starts) {
    std::vector<Unwanted> kept;
    for (FunctionNumber at; at.section < sections.size(); ++at.section)
      for (at.function = 0; at.function < sections[at.section].num_fdes(); ++at.function) {
        const AddressRange range = sections[at.section].fde_range(at.function);
        if (!code.empty() && !code.contains(range.start))
          all_.push_back({at, range, generate::not_in_code});
        else
          kept.push_back({at, range, {}});
      }
    std::ranges::stable_sort(kept, {},
                             [](const Unwanted& one) { return std::pair(one.range.start, one.range.size); });
    for (std::size_t i = 1; i < kept.size(); ++i) compare(kept[i - 1], kept[i], unique_starts);
    std::ranges::sort(all_, {}, &Unwanted::number);
  }

  std::span<const Unwanted> all() const { return all_; }
  std::vector<FunctionNumber> numbers() const {
    std::vector<FunctionNumber> out;
    for (const Unwanted& one : all_) out.push_back(one.number);
    return out;
  }

private:
  /// Of functions with the same range the first is kept. Builder::finish() puts the largest of those with the
  /// same start last, which is where a lookup begins.
  void compare(const Unwanted& before, Unwanted& next, bool unique_starts) {
    if (before.range.start != next.range.start) return;
    if (before.range.size == next.range.size) {
      all_.push_back({next.number, next.range, generate::duplicate});
      next.number = before.number;
    } else if (unique_starts) {
      all_.push_back({before.number, before.range, generate::reason(RefusalReason::reader)});
    }
  }

  std::vector<Unwanted> all_; ///< by section and function
};

void report_unwanted(std::span<const Unwanted> unwanted, generate::Report& report) {
  for (const auto& [number, range, why] : unwanted) {
    ++report.functions.total;
    ++report.functions.skipped;
    const bool is_lost = why != generate::duplicate && range.size != 0;
    if (is_lost)
      report.leave_out(range.start, range.end(), why, false);
    else
      report.count(why);
  }
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
                                                   edit::AddressBounds bounds) {
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
  if (!line.reader->name.empty() && line.byte_order.value_or(abi.byte_order) != abi.byte_order)
    return failed(
        {"--for=" + std::string(line.reader->option) + " needs the byte order of " + std::string(abi.name),
         {},
         {}});
  // Objects have functions without relocation, which are outside the code of the layout: not hidden here.
  const UnwantedFunctions unwanted(
      *sections, input.image && !input.object ? input.image->executable_addresses() : AddressSet(),
      line.reader->equal_starts != readers::EqualStarts::found);
  auto made = reencode(*sections,
                       {.version = line.version,
                        .abi = abi.id,
                        .byte_order = line.byte_order,
                        .merge_rows = true,
                        .merge_functions = line.merge_functions,
                        .share_rows = share_rows(line, input, abi),
                        .pcrel = line.pcrel,
                        .usable = line.reader->rows,
                        .aux_header = {}},
                       bounds.lowest, bounds.highest, unwanted.numbers());
  if (!made) return failed(to_problem(made.error()));
  ConvertedSection out = with_report(std::move(*made), abi);
  report_unwanted(unwanted.all(), out.report);
  return out;
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
