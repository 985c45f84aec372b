// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// load() reads, in this order: the tables with SFrame, the sections in them (parts), code and stubs, then
// CFI. Functions of all parts are one sorted list, and pieces() are the same without overlaps: where
// functions overlap, the one that starts last has the address. In a relocatable object, the address of a
// function follows from the relocation of its start field, not from the field.

#include "sframe/verify/input.h"

#include "sframe/cfi/image.h"

#include <algorithm>

namespace sframe::verify {

namespace {

std::string_view name_of(cfi::SectionKind kind) {
  return kind == cfi::SectionKind::eh_frame ? ".eh_frame" : ".debug_frame";
}

/// The targets of a section's relocated fields.
Result<std::vector<RelocatedField>> relocated_fields_of(const elf::Image& image,
                                                        const elf::SectionHeader& section) {
  auto relocations = image.relocations(section);
  if (!relocations) return unexpected(relocations.error());
  std::vector<RelocatedField> relocated_fields;
  relocated_fields.reserve(relocations->size());
  for (const elf::Relocation& r : *relocations)
    relocated_fields.push_back({r.offset, r.section, r.symbol_value + static_cast<std::uint64_t>(r.addend)});
  std::ranges::stable_sort(relocated_fields, {}, &RelocatedField::offset);
  return relocated_fields;
}

std::span<const RelocatedField> relocated_fields_in(std::span<const RelocatedField> relocated_fields,
                                                    std::uint64_t begin, std::uint64_t end) {
  const auto first = std::ranges::lower_bound(relocated_fields, begin, {}, &RelocatedField::offset);
  const auto last = std::ranges::lower_bound(first, relocated_fields.end(), end, {}, &RelocatedField::offset);
  return {first, last};
}

} // namespace

expected<Input, LoadProblem> Input::load(const Sources& sources) {
  const auto failed = [](Problem problem, const elf::Image* image) {
    return unexpected(LoadProblem{std::move(problem), image});
  };
  Input input;
  input.budget_ = sources.budget;
  input.progress_ = sources.progress;
  input.image_ = sources.image;
  input.relocatable_ = sources.image && sources.image->relocatable();
  if (sources.use_raw) {
    if (input.relocatable_)
      return failed({"a raw section cannot be compared with a relocatable object, whose sections have no "
                     "addresses",
                     {},
                     {}},
                    nullptr);
    input.tables_.push_back({.name = ".sframe", .address = sources.raw_address, .bytes = sources.raw});
  } else {
    input.sframe_image_ = sources.sframe_image ? sources.sframe_image : sources.image;
    const bool is_missing = sources.may_lack_section && input.sframe_image_->sframe_tables().empty();
    if (auto added = is_missing ? Result<void>() : input.add_tables(*input.sframe_image_); !added)
      return failed(added.error(), input.sframe_image_);
  }
  input.read_parts();
  input.add_code();
  if (!sources.cfi) return input;

  // A split-off section is in both files, in one of them without contents.
  for (const elf::Image* from : {sources.image, sources.debug_image})
    if (from)
      if (auto added = input.add_all_cfi(*from); !added) return failed(added.error(), from);
  std::ranges::stable_sort(input.cfi_, {}, [](const CfiTable& table) { return table.section.kind(); });
  for (std::uint32_t number = 0; number < input.cfi_.size(); ++number) input.add_cfi_functions(number);
  for (std::vector<OwnedRange>* ranges : {&input.eh_frame_, &input.debug_frame_}) {
    sort_ranges(*ranges);
    *ranges = disjoint(*ranges);
  }
  if (!input.eh_frame_.empty() && !input.debug_frame_.empty())
    input.all_cfi_ = overlay(input.eh_frame_, input.debug_frame_);
  return input;
}

Result<void> Input::add_tables(const elf::Image& image) {
  const auto tables = image.sframe_tables();
  if (tables.empty()) return fail("no section .sframe");
  for (const elf::SframeLocation& table : tables) {
    const bool relocated = image.relocatable() && table.section;
    SframeTable out{.name = table.name, .address = table.address, .bytes = {}, .section = table.section};
    auto contents = image.contents(table);
    if (relocated) {
      auto relocated_fields = relocated_fields_of(image, *table.section);
      if (contents && relocated_fields)
        out.relocated_fields = std::move(*relocated_fields);
      else
        out.relocation_problem = contents ? relocated_fields.error() : contents.error();
      if (!contents) contents = image.contents(*table.section); // contents without relocations
    }
    // It is enough if some of many tables can be verified.
    if (!contents && !tables_.empty() && image.budget() && image.budget()->is_used_up()) return {};
    if (!contents) return unexpected(contents.error());
    out.bytes = contents->bytes();
    storage_.push_back(std::move(*contents));
    tables_.push_back(std::move(out));
  }
  return {};
}

void Input::read_parts() {
  for (std::uint32_t number = 0; number < tables_.size(); ++number) {
    Concatenated sections(tables_[number].bytes, tables_[number].address);
    for (;;) {
      auto section = sections.next();
      if (!section) faults_.push_back({number, section.error()});
      if (!section || !*section || (budget_ && !budget_->take_section())) break;
      parts_.push_back({**section, number, sections.offset()});
    }
  }
  for (std::uint32_t part = 0; part < parts_.size(); ++part)
    num_functions_ += parts_[part].section.num_fdes();
  functions_.reserve(num_functions_);
  for (std::uint32_t part = 0; part < parts_.size(); ++part) add_functions(part);
  sort_ranges(functions_);
  pieces_ = disjoint(functions_);
}

void Input::add_functions(std::uint32_t part) {
  const Section& section = parts_[part].section;
  for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
    const auto fde = section.fde(i);
    if (!fde || fde->size == 0) continue;
    if (const auto begin = address(parts_[part], *fde))
      functions_.push_back({*begin, range_end(*begin, fde->size), i, part});
  }
}

Result<void> Input::add_all_cfi(const elf::Image& image) {
  for (const auto kind : {cfi::SectionKind::eh_frame, cfi::SectionKind::debug_frame})
    if (auto added = add_cfi(image, kind); !added) return added;
  return {};
}

Result<void> Input::add_cfi(const elf::Image& image, cfi::SectionKind kind) {
  const bool is_eh_frame = kind == cfi::SectionKind::eh_frame;
  cfi::ImageCfi opened = cfi::open_cfi(image, {.eh_frame = is_eh_frame, .debug_frame = !is_eh_frame});
  if (!opened.problems.empty()) return unexpected(opened.problems.front());
  for (const cfi::ImageSection& one : opened.sections) {
    CfiTable table{one.section, name_of(kind), {}};
    if (image.relocatable()) {
      const elf::SectionHeader& section = image.sections()[one.index];
      auto relocated_fields = relocated_fields_of(image, section);
      if (!relocated_fields) return unexpected(relocated_fields.error());
      // CIE pointers of .debug_frame are relocated too: only fields that point to other sections are
      // addresses of code.
      std::erase_if(*relocated_fields,
                    [&](const RelocatedField& field) { return field.section == section.index; });
      table.relocated_fields = std::move(*relocated_fields);
    }
    cfi_.push_back(std::move(table));
  }
  for (elf::Contents& contents : opened.storage) storage_.push_back(std::move(contents));
  return {};
}

void Input::add_cfi_functions(std::uint32_t number) {
  const CfiTable& table = cfi_[number];
  const bool is_eh_frame = table.section.kind() == cfi::SectionKind::eh_frame;
  std::vector<OwnedRange>& ranges = is_eh_frame ? eh_frame_ : debug_frame_;
  if (table.section.bytes().size() > 0xffffffff) {
    cfi_faults_.push_back({number, {cfi::ErrorKind::too_large, 0}});
    return;
  }
  for (auto fdes = table.section.fdes();;) {
    const auto fde = fdes.next();
    if (!fde) {
      cfi_faults_.push_back({number, fde.error()});
      continue;
    }
    if (!*fde) break;
    if ((*fde)->size == 0) continue;
    const auto begin = address(table, **fde);
    if (begin && (code_.empty() || code_.contains(*begin)))
      ranges.push_back(
          {*begin, range_end(*begin, (*fde)->size), static_cast<std::uint32_t>((*fde)->offset), number});
  }
}

void Input::add_code() {
  if (!image_) return;
  if (!relocatable_) add_stubs();
  std::vector<AddressRange> ranges;
  for (const elf::CodeRange& code : image_->executable_ranges())
    if (const auto start = relocatable_ ? address_in(code.section, code.start) : code.start)
      ranges.push_back({*start, code.size});
  code_ = AddressSet(std::move(ranges));
}

/// Of sections that overlap, which no linker makes, only the first has rows.
void Input::add_stubs() {
  std::vector<elf::SectionHeader> sections = image_->plt_sections();
  std::ranges::stable_sort(sections, {}, &elf::SectionHeader::address);
  std::vector<AddressRange> ranges;
  std::uint64_t end = 0;
  for (const elf::SectionHeader& plt : sections) {
    ranges.push_back(plt.memory());
    if (plt.address < end) continue;
    const auto bytes = image_->read(plt.address, plt.size);
    if (!bytes || !image_->abi()) continue;
    stub_rows_.add(*image_->abi(), *bytes, plt.address, budget_);
    end = range_end(plt.address, plt.size);
  }
  stubs_ = AddressSet(std::move(ranges));
}

std::optional<std::uint64_t> Input::address_in(std::uint32_t section, std::uint64_t start) const {
  if (!relocatable_) return start;
  if (start >> section_shift || section >> (64 - section_shift)) return std::nullopt;
  return (std::uint64_t{section} << section_shift) + start;
}

std::optional<std::uint64_t> Input::address(const SframePart& part, const EncodedFde& fde) const {
  if (!relocatable_) return fde.start;
  const std::uint64_t field = part.offset + fde.index_offset;
  const auto relocated_fields = relocated_fields_in(tables_[part.table].relocated_fields, field, field + 1);
  if (relocated_fields.empty()) return address_in(0, fde.start);
  // Assemblers relocate the field relative to itself, even if the header has starts relative to the section
  // (versions 1 and 2); linkers correct that. So the relocation determines the start, not the field.
  return address_in(relocated_fields.front().section, relocated_fields.front().target);
}

std::optional<std::uint64_t> Input::address(const CfiTable& table, const cfi::Fde& fde) const {
  if (!relocatable_) return fde.start;
  const auto relocated_fields =
      relocated_fields_in(table.relocated_fields, fde.offset, fde.instructions_offset);
  return address_in(relocated_fields.empty() ? 0 : relocated_fields.front().section, fde.start);
}

Location Input::locate(std::uint64_t address) const {
  if (!relocatable_) return {0, address};
  return {static_cast<std::uint32_t>(address >> section_shift),
          address & ((std::uint64_t{1} << section_shift) - 1)};
}

Finding Input::finding(Id id, std::uint64_t begin, std::uint64_t end, std::string message) const {
  Finding result;
  result.id = id;
  result.at = locate(begin);
  result.end = result.at->pc + (end - begin);
  result.message = std::move(message);
  return result;
}

} // namespace sframe::verify
