// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sections are collected in the constructor, in the order in which they count: the sidecar's SFrame before
// the image's, .eh_frame before .debug_frame. One sorted SFrame section is searched in place; several, or an
// unsorted one, get an index, as does a section in which lookups have proved slow (functions with very many
// rows). Rows and CFI instructions are charged to the budget when they are decoded.

#include "sframe/modules/tables.h"

#include "sframe/base/budget.h"
#include "sframe/base/problem.h"
#include "sframe/cfi/image.h"
#include "sframe/convert.h"
#include "sframe/elf/object.h"
#include "sframe/generate/from_cfi.h"
#include "sframe/modules/generated_code.h"
#include "sframe/unwind/plain_row.h"

#include <algorithm>

namespace sframe::modules {

UnwindTables::UnwindTables(const TableSources& sources, const AbiTraits& abi)
    : abi_(abi), budget_(sources.budget), sframe_image_(sources.sidecar ? sources.sidecar : sources.image),
      file_budget_(sframe_image_ ? sframe_image_->budget() : nullptr) {
  if (sources.sidecar) add_sframe(*sources.sidecar);
  if (sources.image && sources.image_is_memory) {
    add_cfi(*sources.image, cfi::open_cfi_in_memory(*sources.image, sources.bias, [&](std::uint64_t address) {
      return sources.memory->memory_at(address + sources.bias);
    }));
    if (const auto* segment = sources.image->find_segment(elf::pt_gnu_sframe); segment && sframe_.empty()) {
      const auto bytes = sources.section.empty() ? sources.memory->memory_at(segment->address + sources.bias)
                                                 : sources.section;
      add_sframe_bytes(bytes.first(std::min<std::uint64_t>(bytes.size(), segment->memory_size)),
                       segment->address);
    }
  } else if (sources.image) {
    if (sframe_.empty()) add_sframe(*sources.image);
    is_shrunk_ = sources.image->find_section(".note.sframe") != nullptr;
    add_cfi(*sources.image, cfi::open_cfi(*sources.image));
  }
  if (sources.code) add_generated(*sources.code);
  if (sources.debug) add_debug(*sources.debug);
  if (sources.generate && sframe_.empty() && sources.image && !sources.image_is_memory)
    generate_sframe(*sources.image);
  finish_sframe();
}

void UnwindTables::add_sframe(const elf::Image& image) {
  for (const elf::SframeLocation& table : image.sframe_tables()) {
    auto contents =
        image.relocatable() ? elf::ObjectLayout::sframe_contents(image, table) : image.contents(table);
    if (!contents) {
      add_sframe_problem(contents.error().text());
      continue;
    }
    contents_.push_back(std::move(*contents));
    add_sframe_bytes(contents_.back().bytes(), table.address);
  }
}

void UnwindTables::add_sframe_bytes(std::span<const std::byte> bytes, std::uint64_t address) {
  sframe::Concatenated sections(bytes, address);
  for (;;) {
    auto section = sections.next();
    if (!section) {
      add_sframe_problem(to_problem(section.error()).text());
      return;
    }
    if (!*section) return;
    if (file_budget_ && !file_budget_->take_section()) {
      add_sframe_problem(file_budget_->problem()->text());
      return;
    }
    if (&(*section)->abi() == &abi_) sframe_.push_back(**section);
  }
}

/// Converts CFI to the section that sframe-gen would write, in memory only. For what cannot be converted,
/// CFI is used. CFI that leaves rows to a section, which is no longer there, makes wrong ones.
void UnwindTables::generate_sframe(const elf::Image& image) {
  if (is_shrunk_) return add_sframe_problem("no rows are made: the call frame information was shrunk");
  const auto input = generate::CfiInput::from_image(image);
  if (!input) return;
  // Near the code, as a section in the file would be.
  const elf::SectionHeader* frames = image.find_section(".eh_frame");
  const std::uint64_t address = frames ? frames->address : 0;
  auto bytes = generate::from_cfi(*input, {}).builder.finish(address);
  if (!bytes) return;
  contents_.push_back(elf::Contents(std::move(*bytes)));
  converted_ = {contents_.back().bytes(), address};
  add_sframe_bytes(contents_.back().bytes(), address);
}

/// One sorted section is searched in place: a walk needs few of its functions. Otherwise an index is made.
void UnwindTables::finish_sframe() {
  if (sframe_.size() < 2 && (sframe_.empty() || sframe_.front().sorted())) return;
  const auto fixed = [](const sframe::Section& s) {
    return std::pair(s.header().fixed_ra_offset, s.header().fixed_fp_offset);
  };
  // The index does not record the section of a row, so `fixed` must mean the same in all.
  for (const sframe::Section& section : sframe_)
    if (fixed(section) != fixed(sframe_.front())) {
      add_sframe_problem("SFrame sections with different fixed offsets: only the first is used");
      sframe_.resize(1, sframe_.front());
      break;
    }
  if (!may_index()) {
    add_sframe_problem(file_budget_->problem()->text());
    sframe_.clear();
    return;
  }
  if (auto wrong = index_sframe()) {
    add_sframe_problem(to_problem(*wrong).text());
    sframe_.clear();
  }
}

/// Functions may share rows, and headers sections: all rows are paid for.
bool UnwindTables::may_index() const {
  if (!file_budget_) return true;
  for (const sframe::Section& section : sframe_)
    for (std::uint32_t i = 0; i < section.num_fdes(); ++i)
      if (const auto fde = section.fde(i); fde && !file_budget_->take(Resource::rows, 1 + fde->num_fres))
        return false;
  return true;
}

std::optional<sframe::Error> UnwindTables::index_sframe() {
  auto index = sframe::Index::build(sframe_);
  if (!index) return index.error();
  sframe_index_ = std::move(*index);
  for (const sframe::Section& section : sframe_)
    for (std::uint32_t i = 0; i < section.num_fdes(); ++i)
      if (const auto fde = section.fde(i); fde && fde->size) functions_.push_back({fde->start, fde->size});
  std::ranges::stable_sort(functions_, {}, &AddressRange::start);
  return std::nullopt;
}

/// If there is an index: the function that contains the address. If functions overlap, the one that starts
/// later ends the earlier one, as in the index.
std::optional<AddressRange> UnwindTables::indexed_function(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(functions_, address, {}, &AddressRange::start);
  if (after == functions_.begin()) return std::nullopt;
  AddressRange function = *std::prev(after);
  if (after != functions_.end()) function.size = std::min(function.size, after->start - function.start);
  return function.contains(address) ? std::optional(function) : std::nullopt;
}

std::optional<unwind::SframeMatch> UnwindTables::find_sframe(LinkAddress at) {
  const std::uint64_t address = at.value;
  if (sframe_.empty()) return std::nullopt;
  const sframe::Header& header = sframe_.front().header();
  unwind::SframeMatch answer;
  if (sframe_index_) {
    const IndexedRow* found = sframe_index_->find(address);
    if (!found) return std::nullopt;
    const auto function = indexed_function(address);
    answer = {found->row, found->signal_frame, function && address - function->start == function->size - 1};
  } else {
    constexpr std::uint32_t many_rows = 1024, many_lookups = 16;
    const auto function = sframe_.front().find_fde(address);
    if (!function || !*function) return std::nullopt;
    const std::uint32_t count = (*function)->num_fres;
    if (!may_decode(count)) return std::nullopt;
    // Lookups in place have proved slow.
    if (count >= many_rows && ++costly_lookups_ == many_lookups && may_index() && !index_sframe())
      return find_sframe(at);
    const auto found = sframe_.front().find(address);
    if (!found || !*found) return std::nullopt;
    const auto& [fde, row] = **found;
    answer = {row, fde.signal_frame, !fde.contains(address + 1)};
  }
  resolve_fixed_of(answer.row, header.fixed_ra_offset, header.fixed_fp_offset);
  return answer;
}

void UnwindTables::add_cfi(const elf::Image& image, cfi::ImageCfi opened) {
  for (elf::Contents& contents : opened.storage) contents_.push_back(std::move(contents));
  for (const Problem& problem : opened.problems) problems_.push_back({problem.text(), &image});
  for (const cfi::ImageSection& one : opened.sections) cfi_.push_back(one.finder());
}

bool UnwindTables::add_debug(const elf::Image& image) {
  const std::size_t before = cfi_.size();
  add_cfi(image, cfi::open_cfi(image, {.eh_frame = false}));
  return cfi_.size() != before;
}

void UnwindTables::add_generated(const GeneratedCode& code) {
  if (code.procedure) procedure_ = &*code.procedure;
  if (!code.section.empty()) add_sframe_bytes(code.section, code.section_address);
  if (const auto table = cfi::EhFrameHdr::parse(code.frames_index, 0, abi_))
    cfi_.emplace_back(cfi::CfiSection(cfi::SectionKind::eh_frame, code.frames, code.frames_address, abi_),
                      *table);
}

bool UnwindTables::may_decode(std::uint64_t rows) {
  return !budget_ || budget_->take(Resource::rows, rows);
}

bool UnwindTables::find_row(const cfi::CfiSection& section, const cfi::Fde& fde, std::uint64_t address,
                            cfi::FullRow& row) {
  cfi::FullRowCursor rows(section, fde);
  const bool found = rows.find(address, row);
  const std::uint64_t used = std::max(rows.instruction(), fde.instructions_offset) - fde.instructions_offset;
  const bool paid = !budget_ || budget_->take(Resource::cfi_instructions, fde.cie.instructions.size() + used);
  return paid && found;
}

namespace {

/// True for a function of the Go compiler, also in a program that has C code. Go's linker
/// (cmd/link/internal/ld/dwarf.go) writes one CIE, in .debug_frame, with a data alignment factor of -4;
/// those of C compilers for 64-bit ABIs have -8.
bool is_go(const cfi::CfiSection& section, const cfi::Cie& cie) {
  return section.kind() == cfi::SectionKind::debug_frame && cie.version == 3 && cie.address_size == 8 &&
         cie.augmentation.empty() && cie.data_alignment == -4;
}

/// Go's calls preserve no register but SP. Functions save FP, but their CFI does not have where.
void forget_unspecified(cfi::FullRow& row, std::uint16_t sp) {
  using Kind = cfi::RegisterRule::Kind;
  for (std::uint32_t reg = 0; reg < row.rules.size(); ++reg)
    if (row.rules[reg].kind == Kind::unspecified && reg != sp && reg != row.return_register)
      row.rules[reg].kind = Kind::undefined;
}

} // namespace

/// Shrunk CFI may have lost the rules of places where nothing but a sample looks; SFrame has them. Those that
/// can be left out are all plain, and lead to another CFA.
bool UnwindTables::is_left_to_sframe(LinkAddress address, const unwind::CfiMatch& answer) {
  const auto match = find_sframe(address);
  unwind::PlainRow right, row;
  return match && right.compile(*match, abi_) &&
         row.compile(answer, abi_, *unwind::find_unwind_abi(abi_.id)) && !row.has_same_caller(right);
}

bool UnwindTables::find_cfi(LinkAddress at, unwind::CfiMatch& answer) {
  const std::uint64_t address = at.value;
  for (cfi::FdeFinder& finder : cfi_) {
    const auto fde = finder.find(address);
    if (!fde || !*fde) continue;
    if (!find_row(finder.section(), **fde, address, answer.row)) continue;
    answer.is_go = is_go(finder.section(), (*fde)->cie);
    if (answer.is_go) forget_unspecified(answer.row, abi_.sp);
    answer.signal_frame = (*fde)->cie.signal_frame;
    answer.ends_here = !(*fde)->contains(address + 1);
    answer.address_size = (*fde)->cie.address_size;
    if (is_shrunk_ && is_left_to_sframe(at, answer)) continue; // the debug file may have what is left out
    return true;
  }
  return procedure_ && procedure_->find(address, abi_, answer);
}

std::optional<UnwindTables::FoundFde> UnwindTables::find_fde(LinkAddress address) {
  for (cfi::FdeFinder& finder : cfi_)
    if (auto fde = finder.find(address.value); fde && *fde) return FoundFde{&finder.section(), **fde};
  return std::nullopt;
}

std::optional<AddressRange> UnwindTables::function_at(LinkAddress address) {
  if (procedure_) return AddressRange{procedure_->start, procedure_->end - procedure_->start};
  if (const auto found = find_fde(address)) return AddressRange{found->fde.start, found->fde.size};
  if (sframe_.empty()) return std::nullopt;
  if (sframe_index_) return indexed_function(address.value);
  if (const auto fde = sframe_.front().find_fde(address.value); fde && *fde)
    return AddressRange{(*fde)->start, (*fde)->size};
  return std::nullopt;
}

} // namespace sframe::modules
