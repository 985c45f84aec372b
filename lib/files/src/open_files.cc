// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/files/open_files.h"

#include <algorithm>
#include <atomic>

namespace sframe::files {

namespace {

std::optional<std::string> limit_of(const OpenedFile& file) {
  const auto problem = file.budget().problem();
  return problem ? std::optional(file.path() + ": " + problem->text()) : std::nullopt;
}

} // namespace

std::uint64_t SharedImage::next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

SharedImage::SharedImage(elf::File file, Limits limits) {
  (void)file_.emplace(std::move(file), limits).image();
}

std::string SharedImage::problem() {
  return file_ && !file_->image() ? file_->image().error().text() : std::string();
}

std::optional<std::string> SharedImage::reached_limit() const {
  if (former_limit_) return former_limit_;
  const auto own = file_ ? limit_of(*file_) : std::nullopt;
  const FoundSidecar* const found = sidecar.made();
  return own || !found || !found->file ? own : limit_of(*found->file);
}

std::optional<std::string> SharedImage::any_reached_limit() const {
  auto own = reached_limit();
  const SharedImage* const separate = known_debug();
  return own || !separate ? own : separate->reached_limit();
}

void SharedImage::refill() {
  former_limit_ = reached_limit();
  if (file_) file_->refill();
  if (FoundSidecar* const found = sidecar.made(); found && found->file) found->file->refill();
  if (SharedImage* const separate = known_debug()) separate->refill();
}

std::shared_ptr<SharedImage> OpenFiles::add(elf::File file, Role role, Limits limits) {
  std::shared_ptr<SharedImage>& known = files_[{file.id(), role}];
  if (known && known->file()->file().is_same(file)) {
    // Used by an address space that is gone: each has the same limits. After one has reached them, something
    // may not have been read.
    const bool is_unused = known.use_count() == 1;
    if (!is_unused || !known->any_reached_limit()) {
      if (is_unused) known->refill();
      return known;
    }
  }
  auto image = known = std::make_shared<SharedImage>(std::move(file), limits);
  if (files_.size() > most_) remove_unused();
  return image;
}

void OpenFiles::refill() {
  for (const auto& [id, image] : files_) image->refill();
}

/// A running process may load and unload libraries for a long time.
void OpenFiles::remove_unused() {
  // Debug files are used by other entries.
  for (std::size_t before = 0; before != files_.size();) {
    before = files_.size();
    std::erase_if(files_, [](const auto& file) { return file.second.use_count() == 1; });
  }
  most_ = std::max<std::size_t>(least_, 2 * files_.size());
}

} // namespace sframe::files
