// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the order of sections in a file with a section more, and what becomes of their numbers.

#pragma once

#include "rewrite_layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sframe::edit {

/// The new section numbers. Sections in the new segment, and .sframe after them, come after all other loaded
/// ones: dwz and patchelf require headers in the order of offsets, loaded ones first.
class Numbering {
public:
  static constexpr std::uint32_t is_sframe = 0xffffffff, is_anchor = 0xfffffffe, is_cover = 0xfffffffd,
                                 is_unnamed = 0xfffffffc;

  /// `names` comes last, as its bytes do.
  Numbering(const elf::Image& image, std::uint32_t names, const RewriteLayout& layout, const OldSection& old)
      : new_(image.sections().size()) {
    std::vector<std::uint32_t> moved;
    for (const MovedBlock& block : layout.blocks)
      if (block.to_load) moved.insert(moved.end(), block.sections.begin(), block.sections.end());
    if (layout.room == HeaderRoom::moved) moved.push_back(is_anchor);
    moved.push_back(is_sframe);
    std::size_t loaded_end = 0;
    std::optional<std::size_t> inside; // where sections in unused bytes go
    bool wants_cover = layout.cover.has_value(), wants_unnamed = layout.unnamed.has_value();
    for (const elf::SectionHeader& section : image.sections()) {
      if (&section == old.section || &section == old.anchor ||
          std::ranges::find(moved, section.index) != moved.end())
        continue;
      if (section.index == names) continue;
      const bool is_first = std::ranges::none_of(layout.blocks, [&](const MovedBlock& block) {
        return std::ranges::find(block.sections, section.index) != block.sections.end();
      });
      if (wants_cover && is_first && section.type != elf::sht_null) {
        old_.push_back(is_cover);
        loaded_end = old_.size();
        wants_cover = false;
      }
      const auto is_after = [&](std::uint64_t offset) {
        return !section.allocated() || section.offset > offset;
      };
      if (wants_unnamed && section.type != elf::sht_null && is_after(layout.unnamed->offset)) {
        old_.push_back(is_unnamed);
        loaded_end = old_.size();
        wants_unnamed = false;
      }
      if (layout.inside && !inside && section.type != elf::sht_null && is_after(layout.inside->offset))
        inside = old_.size();
      old_.push_back(section.index);
      if (section.allocated() || section.type == elf::sht_null) loaded_end = old_.size();
    }
    old_.insert(old_.begin() + static_cast<std::ptrdiff_t>(inside.value_or(loaded_end)), moved.begin(),
                moved.end());
    if (names != 0) old_.push_back(names);
    for (std::uint32_t i = 0; i < old_.size(); ++i) {
      if (old_[i] < new_.size()) new_[old_[i]] = i;
      if (old_[i] == is_sframe && old.section) new_[old.section->index] = i;
      if (old_[i] == is_sframe && old.anchor) new_[old.anchor->index] = i;
    }
  }

  /// Old section numbers, is_sframe, is_anchor, is_cover or is_unnamed, by new number.
  std::span<const std::uint32_t> order() const { return old_; }
  /// Special values, which are not section numbers, stay.
  std::uint32_t now(std::uint32_t number) const { return number < new_.size() ? new_[number] : number; }

private:
  std::vector<std::uint32_t> old_, new_;
};

} // namespace sframe::edit
