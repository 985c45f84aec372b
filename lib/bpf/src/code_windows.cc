// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/bpf/make_table.h"
#include "sframe/bpf/process_code.h"
#include "sframe/bpf/table.h"
#include "sframe/number_hash.h"
#include "sframe/section.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sframe::bpf {

namespace {

constexpr std::uint64_t max_rows = 1 << 21;
constexpr std::size_t max_windows = 256;

/// What a section says, wherever its code is.
struct SectionFacts {
  std::uint64_t rows = 0; ///< with those of each repeated block; 0: it is not valid
  std::uint64_t end = 0;  ///< offset of the end of its code
};

/// Takes what it decodes from `work`.
SectionFacts look_at(std::span<const std::byte> bytes, std::uint64_t& work) {
  SectionFacts facts;
  const auto section = Section::parse(bytes, 0);
  if (!section || section->abi().name != std::string_view(SFRAME_HOST_ABI)) return {};
  for (std::uint32_t i = 0; i < section->num_fdes(); ++i) {
    const auto fde = section->fde(i);
    if (!fde || fde->start >= UINT64_C(1) << 32) return {}; // before the code: the address wraps
    RowCursor cursor = section->rows(*fde);
    std::uint64_t rows = 1; // and the gap after the last one
    for (FrameRow row; cursor.next(row); ++rows)
      if (work == 0 || --work == 0) return {};
    if (cursor.error()) return {};
    if (fde->pc_type == PcType::mask && fde->rep_size) rows *= fde->size / fde->rep_size + 1;
    facts.rows += rows;
    facts.end = std::max(facts.end, fde->start + fde->size);
  }
  return facts.rows <= section->plausible_rows() ? facts : SectionFacts();
}

class Windows {
public:
  explicit Windows(ProcessCode& code) : code_(code) {}

  void make(const TakeWindow& take) {
    for (const CodeRegion& region : code_.regions) sort_in(region);
    for (const auto& [number, regions] : regions_) {
      std::vector<Section> sections;
      for (const CodeRegion* one : regions)
        if (const auto section = Section::parse(bytes(*one), one->start)) sections.push_back(*section);
      const auto made = make_table(sections, {}, {});
      if (!made)
        code_.refused += regions.size();
      else if (!take(number, made->bytes, regions.front()->list))
        return;
    }
  }

private:
  std::span<const std::byte> bytes(const CodeRegion& region) const {
    return std::span(code_.sections).subspan(region.offset, region.section_size);
  }

  void sort_in(const CodeRegion& region) {
    const auto [known, is_new] = facts_.try_emplace(region.offset);
    if (is_new) known->second = look_at(bytes(region), work_left_);
    const auto [rows, end] = known->second;
    const std::uint64_t last = (region.start + region.size - 1) >> SFRAME_BPF_WINDOW_BITS;
    for (std::uint64_t number = region.start >> SFRAME_BPF_WINDOW_BITS; number <= last; ++number) {
      const bool fits = regions_.size() < max_windows || regions_.contains(number);
      if (rows == 0 || end > region.size || rows > rows_left_ || !fits) {
        ++code_.refused;
        return;
      }
      rows_left_ -= rows;
      regions_[number].push_back(&region);
    }
  }

  ProcessCode& code_;
  std::uint64_t rows_left_ = max_rows, work_left_ = 2 * max_rows;   ///< functions may share rows
  std::unordered_map<std::size_t, SectionFacts, NumberHash> facts_; ///< by offset in the copies
  std::map<std::uint64_t, std::vector<const CodeRegion*>> regions_;
};

} // namespace

void make_windows(ProcessCode& code, const TakeWindow& take) {
  Windows(code).make(take);
}

} // namespace sframe::bpf
