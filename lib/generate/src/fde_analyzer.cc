// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/generate/fde_analyzer.h"

#include "sframe/generate/call_sites.h"

namespace sframe::generate {

FdeAnalyzer::FdeAnalyzer(const elf::Image& image, code::Environment& environment, Budget* budget)
    : image_(image), abi_(*image.abi()), environment_(environment), budget_(budget), analyzer_(abi_) {}

const code::Results* FdeAnalyzer::run(const cfi::CfiSection& section, const cfi::Fde& fde) {
  rows_.clear();
  hints_.clear();
  results_ = nullptr;
  if (fde.cie.signal_frame) return nullptr;
  cfi::MinimalRowCursor cursor(section, fde);
  for (cfi::MinimalRow row; cursor.next(row);) {
    const auto made = cfi::to_frame_row(row, abi_);
    rows_.push_back(made ? *made : FrameRow::outermost(0));
    rows_.back().offset = static_cast<std::uint32_t>(row.begin - fde.start);
    if (made) hints_.push_back(rows_.back());
  }
  complete_ = !cursor.error();
  const auto bytes = image_.read(fde.start, fde.size);
  if (hints_.empty() || hints_.front().offset != 0 || !bytes) return nullptr;
  call_sites_ = call_sites(image_, fde, abi_, budget_);
  results_ = &analyzer_.run({.start = fde.start,
                             .bytes = *bytes,
                             .entry = hints_.front(),
                             .call_sites = call_sites_,
                             .rows = hints_,
                             .environment = &environment_,
                             .budget = budget_});
  return results_;
}

} // namespace sframe::generate
