// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "shrink.h"

#include <sframe/edit/sections.h>

#include <utility>

namespace sframe::gen {

namespace {

/// The end of what is used of the bytes that became free.
std::uint64_t used_end(const elf::Image& image, bool inside) {
  const elf::SectionHeader* last = image.find_section(inside ? ".sframe" : shrink::note_section);
  return last ? last->offset + last->size : image.bytes().size();
}

} // namespace

void ShrinkFigures::add(const ShrinkFigures& other) {
  before.eh_frame += other.before.eh_frame;
  before.eh_frame_hdr += other.before.eh_frame_hdr;
  after.eh_frame += other.after.eh_frame;
  after.eh_frame_hdr += other.after.eh_frame_hdr;
  fdes += other.fdes;
  level = other.level; // one command line has one
  copied += other.copied;
  left_out += other.left_out;
  inside += other.inside;
  file_before += other.file_before;
  file_after += other.file_after;
  files += other.files;
}

Result<std::optional<ShrunkFile>> ShrunkFile::make(const elf::Image& original,
                                                   const shrink::ImageOptions& options) {
  auto shrunk = shrink::shrink(original, options);
  if (!shrunk) {
    Problem problem = std::move(shrunk.error());
    problem.what = "cannot shrink the call frame information: " + problem.what;
    return unexpected(std::move(problem));
  }
  if (shrunk->bytes.empty()) return std::optional<ShrunkFile>();
  ShrunkFile out;
  out.shrunk_ = std::make_unique<shrink::ShrunkImage>(std::move(*shrunk));
  auto image = elf::Image::parse(out.shrunk_->bytes);
  if (!image) return unexpected(std::move(image.error()));
  out.image_ = std::make_unique<elf::Image>(std::move(*image));
  out.level_ = options.level;
  return std::optional(std::move(out));
}

Result<edit::Edit> ShrunkFile::finish(const elf::Image& original, const edit::Edit& edit, bool inside) {
  std::vector<std::byte> bytes = edit.apply(shrunk_->bytes);
  figures_ = {.level = level_,
              .before = shrunk_->before,
              .after = shrunk_->after,
              .fdes = shrunk_->fdes,
              .copied = shrunk_->copied,
              .inside = inside ? 1u : 0u,
              .file_before = original.bytes().size(),
              .files = 1};
  image_.reset();
  shrunk_.reset();
  {
    const auto image = elf::Image::parse(bytes);
    if (!image) return unexpected(image.error());
    if (const auto cut = edit::cut_segment(*image, used_end(*image, inside))) bytes = cut->apply(bytes);
  }
  const auto image = elf::Image::parse(bytes);
  if (!image) return unexpected(image.error());
  const auto same = shrink::compare(original, *image);
  if (!same) {
    Problem problem = same.error();
    problem.what = "no output, since the smaller call frame information could not be proved: " + problem.what;
    return unexpected(std::move(problem));
  }
  figures_.left_out = same->different.size();
  figures_.file_after = bytes.size();
  return edit::Edit::replace_all(std::move(bytes));
}

} // namespace sframe::gen
