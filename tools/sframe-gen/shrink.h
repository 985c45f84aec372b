// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --shrink-cfi: the file that .sframe goes into has its call frame information in fewer bytes.

#pragma once

#include <sframe/edit/edit.h>
#include <sframe/elf/image.h>
#include <sframe/shrink/image.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace sframe::gen {

/// What became of the call frame information, for the report; of several files the sums.
struct ShrinkFigures {
  shrink::Level level = shrink::Level::lossless;
  shrink::TableSizes before, after;              ///< bytes
  std::uint64_t fdes = 0;                        ///< after
  std::uint64_t copied = 0;                      ///< FDEs that are as before, since they are not understood
  std::uint64_t left_out = 0;                    ///< addresses whose rules only .sframe has, with Level::sync
  std::uint64_t inside = 0;                      ///< files with .sframe in the bytes that became free
  std::uint64_t file_before = 0, file_after = 0; ///< bytes
  std::uint64_t files = 0;

  void add(const ShrinkFigures& other);
};

/// A file with smaller tables, before .sframe is added.
class ShrunkFile {
public:
  /// Nothing if nothing would be saved.
  static Result<std::optional<ShrunkFile>> make(const elf::Image& original,
                                                const shrink::ImageOptions& options);

  const elf::Image& image() const { return *image_; }
  const edit::Additions& additions() const { return shrunk_->additions; }

  /// The file to be written: `edit` is of image(), `inside` where the section is. Removes what is left of
  /// the free bytes, as far as that is possible, and proves that the file has the call frame information of
  /// `original`.
  Result<edit::Edit> finish(const elf::Image& original, const edit::Edit& edit, bool inside);

  /// After finish().
  const ShrinkFigures& figures() const { return figures_; }

private:
  std::unique_ptr<shrink::ShrunkImage> shrunk_; ///< has the bytes of image_
  std::unique_ptr<elf::Image> image_;
  shrink::Level level_ = shrink::Level::lossless;
  ShrinkFigures figures_;
};

} // namespace sframe::gen
