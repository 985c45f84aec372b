// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/walk/tables.h"

#include "sframe/convert.h"
#include "sframe/convert/from_cfi.h"
#include "sframe/elf/object.h"
#include "sframe/elf/problem.h"
#include "sframe/walk/generated_code.h"

#include <algorithm>

namespace sframe::walk {

namespace {

bool readable(const elf::Section& section) {
  return section.type != elf::sht_nobits && section.size;
}

} // namespace

UnwindTables::UnwindTables(const TableSources& sources, const AbiTraits& abi) : abi_(abi) {
  if (sources.sidecar) add_sframe(*sources.sidecar);
  if (sources.image && sources.image_is_memory) {
    add_cfi_segment(sources);
    if (const auto* segment = sources.image->find_segment(elf::pt_gnu_sframe); segment && sframe_.empty()) {
      const auto bytes = sources.memory->memory_at(segment->address + sources.bias);
      add_sframe_bytes(bytes.first(std::min<std::uint64_t>(bytes.size(), segment->memory_size)),
                       segment->address);
    }
  } else if (sources.image) {
    if (sframe_.empty()) add_sframe(*sources.image);
    add_cfi_sections(*sources.image);
    if (cfi_.empty()) add_cfi_segment(sources);
    add_debug_frame(*sources.image);
  }
  if (sources.code) add_generated(*sources.code);
  if (sources.debug) add_debug_frame(*sources.debug);
  if (sources.generate && sframe_.empty() && sources.image && !sources.image_is_memory)
    generate_sframe(*sources.image);
  finish_sframe();
}

void UnwindTables::add_sframe(const elf::Image& image) {
  for (const elf::Table& table : image.sframe_tables()) {
    auto contents =
        image.relocatable() ? elf::ObjectLayout::sframe_contents(image, table) : image.contents(table);
    if (!contents) {
      problems_.push_back(contents.error().text());
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
      problems_.push_back(elf::to_problem(section.error()).text());
      return;
    }
    if (!*section) return;
    if (&(*section)->abi() == &abi_) sframe_.push_back(**section);
  }
}

/// The section that sframe-gen would write, in memory only. What cannot be converted is left to CFI.
void UnwindTables::generate_sframe(const elf::Image& image) {
  const auto input = conversion::CfiInput::from_image(image);
  if (!input) return;
  // Near the code, where a section in the file would be.
  const elf::Section* frames = image.find_section(".eh_frame");
  const std::uint64_t address = frames ? frames->address : 0;
  auto bytes = conversion::from_cfi(*input, {}).builder.finish(address);
  if (!bytes) return;
  contents_.push_back(elf::Contents(std::move(*bytes)));
  converted_ = {contents_.back().bytes(), address};
  add_sframe_bytes(contents_.back().bytes(), address);
}

/// One sorted section is searched in place: a walk asks for few of its functions. Everything else gets an
/// index.
void UnwindTables::finish_sframe() {
  if (sframe_.size() < 2 && (sframe_.empty() || sframe_.front().sorted())) return;
  const auto fixed = [](const sframe::Section& s) {
    return std::pair(s.header().fixed_ra_offset, s.header().fixed_fp_offset);
  };
  // The index does not say from which section a row is, so `fixed` must mean the same in all.
  for (const sframe::Section& section : sframe_)
    if (fixed(section) != fixed(sframe_.front())) {
      problems_.push_back("SFrame sections with different fixed offsets: only the first is used");
      sframe_.resize(1, sframe_.front());
      break;
    }
  auto index = sframe::Index::build(sframe_);
  if (!index) {
    problems_.push_back(elf::to_problem(index.error()).text());
    sframe_.clear();
    return;
  }
  sframe_index_ = std::move(*index);
}

std::optional<SframeAnswer> UnwindTables::find_sframe(std::uint64_t address) {
  if (sframe_.empty()) return std::nullopt;
  const sframe::Header& header = sframe_.front().header();
  SframeAnswer answer;
  if (sframe_index_) {
    const IndexedRow* found = sframe_index_->find(address);
    if (!found) return std::nullopt;
    answer = {found->row, found->signal_frame, sframe_index_->find(address + 1) != found};
  } else {
    const auto found = sframe_.front().find(address);
    if (!found || !*found) return std::nullopt;
    const auto& [fde, row] = **found;
    answer = {row, fde.signal_frame, !fde.contains(address + 1)};
  }
  answer.row = resolve_fixed(answer.row, header.fixed_ra_offset, header.fixed_fp_offset);
  return answer;
}

/// The CFI section of that name, its contents kept; nothing where it is absent or cannot be read.
std::optional<cfi::Section> UnwindTables::load_cfi(const elf::Image& image, std::string_view name,
                                                   cfi::SectionKind kind) {
  const elf::Section* section = image.find_section(name);
  if (!section || !readable(*section)) return std::nullopt;
  auto contents = image.relocated_contents(*section); // objects that a JIT compiler loaded need it
  if (!contents) {
    problems_.push_back(contents.error().text());
    return std::nullopt;
  }
  contents_.push_back(std::move(*contents));
  return cfi::Section(kind, contents_.back().bytes(), section->address, abi_);
}

void UnwindTables::add_cfi_sections(const elf::Image& image) {
  const auto frames = load_cfi(image, ".eh_frame", cfi::SectionKind::eh_frame);
  if (!frames) return;
  const elf::Section* header = image.find_section(".eh_frame_hdr");
  if (header && readable(*header))
    if (auto bytes = image.contents(*header)) {
      contents_.push_back(std::move(*bytes));
      if (auto table = cfi::EhFrameHdr::parse(contents_.back().bytes(), header->address, abi_)) {
        cfi_.emplace_back(*frames, *table);
        return;
      }
    }
  cfi_.emplace_back(*frames); // a static executable: the index comes from .eh_frame itself
}

/// Without section headers the segment PT_GNU_EH_FRAME leads to .eh_frame; how long that is, only its
/// terminator says.
void UnwindTables::add_cfi_segment(const TableSources& sources) {
  const elf::Segment* segment = sources.image->find_segment(elf::pt_gnu_eh_frame);
  if (!segment) return;
  const auto bytes_at = [&](std::uint64_t address) {
    return sources.image_is_memory ? sources.memory->memory_at(address + sources.bias)
                                   : sources.image->bytes_at(address);
  };
  const auto header = bytes_at(segment->address);
  const auto table = cfi::EhFrameHdr::parse(
      header.first(std::min<std::uint64_t>(header.size(), segment->memory_size)), segment->address, abi_);
  if (!table || !table->eh_frame()) return;
  const auto frames = bytes_at(*table->eh_frame());
  if (frames.empty()) return;
  cfi_.emplace_back(cfi::Section(cfi::SectionKind::eh_frame, frames, *table->eh_frame(), abi_), *table);
}

void UnwindTables::add_debug_frame(const elf::Image& image) {
  if (const auto frames = load_cfi(image, ".debug_frame", cfi::SectionKind::debug_frame))
    cfi_.emplace_back(*frames);
}

void UnwindTables::add_generated(const GeneratedCode& code) {
  if (code.procedure) procedure_ = &*code.procedure;
  if (const auto table = cfi::EhFrameHdr::parse(code.frames_index, 0, abi_))
    cfi_.emplace_back(cfi::Section(cfi::SectionKind::eh_frame, code.frames, code.frames_address, abi_),
                      *table);
}

bool UnwindTables::find_cfi(std::uint64_t address, CfiAnswer& answer) {
  for (cfi::FdeFinder& finder : cfi_) {
    const auto fde = finder.find(address);
    if (!fde || !*fde) continue;
    cfi::FullRowCursor rows(finder.section(), **fde);
    if (!rows.find(address, answer.row)) continue;
    answer.signal_frame = (*fde)->cie.signal_frame;
    answer.ends_here = !(*fde)->contains(address + 1);
    answer.address_size = (*fde)->cie.address_size;
    return true;
  }
  return procedure_ && procedure_->find(address, abi_, answer);
}

std::optional<UnwindTables::FoundFde> UnwindTables::find_fde(std::uint64_t address) {
  for (cfi::FdeFinder& finder : cfi_)
    if (auto fde = finder.find(address); fde && *fde) return FoundFde{&finder.section(), **fde};
  return std::nullopt;
}

std::optional<FunctionExtent> UnwindTables::function_at(std::uint64_t address) {
  if (procedure_) return FunctionExtent{procedure_->start, procedure_->end - procedure_->start};
  if (const auto found = find_fde(address)) return FunctionExtent{found->fde.start, found->fde.size};
  if (sframe_.empty() || sframe_index_) return std::nullopt;
  if (const auto fde = sframe_.front().find_fde(address); fde && *fde)
    return FunctionExtent{(*fde)->start, (*fde)->size};
  return std::nullopt;
}

} // namespace sframe::walk
