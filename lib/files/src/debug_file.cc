// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds separate debug files.

#include "sframe/files/debug_file.h"

#include "sframe/base/text.h"
#include "sframe/bytes.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/CRC.h>

#include <algorithm>
#include <filesystem>

namespace sframe::files {

namespace {

namespace fs = std::filesystem;

/// Most debug files have less than ten times the size of what they are of.
std::uint64_t most_to_sum(const elf::Image& image, Limits limits) {
  constexpr std::uint64_t least = std::uint64_t{64} << 20, times = 64;
  if (limits == Limits::off) return max_checksummed;
  return std::min(max_checksummed, least + times * std::uint64_t{image.bytes().size()});
}

std::uint32_t checksum(std::span<const std::byte> bytes) {
  constexpr std::size_t most = std::size_t{4} << 20; // in memory at once
  const bool is_large = bytes.size() > 4 * most;
  std::uint32_t sum = 0;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), most));
    sum = llvm::crc32(sum, {reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size()});
    if (is_large) elf::File::release_pages(piece);
    bytes = bytes.subspan(piece.size());
  }
  return sum;
}

class Search {
public:
  Search(const elf::Image& image, Limits limits, std::vector<Rejected>* rejected, const OpenFile& open)
      : image_(image), limits_(limits), left_to_sum_(most_to_sum(image, limits)), rejected_(rejected),
        open_(open) {}

  std::optional<OpenedFile> by_build_id(std::span<const std::string> folders) {
    const auto id = image_.build_id();
    const std::string name = elf::build_id_path(id, ".debug");
    if (name.empty()) return std::nullopt;
    for (const std::string& folder : folders) {
      const std::string path = (fs::path(folder) / name).string();
      auto found = open(path);
      if (!found) continue;
      if (has_id(*found->image())) return found;
      reject_id(path, *found->image());
    }
    return std::nullopt;
  }

  std::optional<OpenedFile> by_link(const std::string& image_path, std::span<const std::string> folders) {
    const auto link = debug_link(image_);
    if (!link) return std::nullopt;
    std::error_code error;
    const fs::path here = fs::absolute(image_path, error).parent_path();
    if (error) return std::nullopt;
    std::vector<fs::path> candidates = {here / link->name, here / ".debug" / link->name};
    for (const std::string& folder : folders)
      candidates.push_back(fs::path(folder) / here.relative_path() / link->name);
    for (const fs::path& candidate : candidates) {
      auto found = open(candidate.string());
      if (!found || found->bytes().data() == image_.bytes().data()) continue;
      // The file may be of any size, and its checksum needs all of it.
      const bool has_ids = !image_.build_id().empty() && !found->image()->build_id().empty();
      if (has_ids && !has_id(*found->image())) {
        reject_id(candidate.string(), *found->image());
        continue;
      }
      const auto bytes = found->bytes();
      if (bytes.size() > left_to_sum_) {
        if (has_ids) return found;
        reject(candidate.string(), "too large for its checksum to be computed, and not both have a build ID");
        continue;
      }
      left_to_sum_ -= bytes.size();
      const std::uint32_t crc = checksum(bytes);
      if (crc == link->crc) return found;
      reject(candidate.string(),
             "checksum mismatch: .gnu_debuglink " + hex(link->crc) + ", file " + hex(crc));
    }
    return std::nullopt;
  }

private:
  std::optional<OpenedFile> open(const std::string& path) {
    auto file = open_(path);
    if (!file) return std::nullopt; // most candidates do not exist
    OpenedFile opened(std::move(*file), limits_);
    const auto& image = opened.image();
    if (!image) return reject(path, image.error().text());
    if (image->machine() != image_.machine() || image->byte_order() != image_.byte_order())
      return reject(path, "wrong machine");
    return opened;
  }

  bool has_id(const elf::Image& image) const {
    return std::ranges::equal(image.build_id(), image_.build_id());
  }

  void reject_id(const std::string& path, const elf::Image& image) {
    reject(path, "build ID mismatch: expected " + elf::to_hex(image_.build_id()) + ", file " +
                     elf::to_hex(image.build_id()));
  }

  /// Returns nothing, as what was looked for.
  std::nullopt_t reject(const std::string& path, std::string why) {
    if (rejected_) rejected_->push_back({path, std::move(why)});
    return std::nullopt;
  }

  const elf::Image& image_;
  const Limits limits_;
  std::uint64_t left_to_sum_; ///< bytes of all candidates
  std::vector<Rejected>* rejected_;
  const OpenFile& open_;
};

} // namespace

std::optional<DebugLink> debug_link(const elf::Image& image) {
  const elf::SectionHeader* section = image.find_section(".gnu_debuglink");
  if (!section) return std::nullopt;
  const auto contents = image.contents(*section);
  if (!contents) return std::nullopt;
  const auto bytes = contents->bytes();
  const auto end = std::ranges::find(bytes, std::byte{});
  const auto size = static_cast<std::size_t>(end - bytes.begin());
  // The checksum follows the name, padded to 4 bytes.
  const auto crc =
      load_at<std::uint32_t>(bytes, (std::uint64_t{size} + 4) & ~std::uint64_t{3}, image.byte_order());
  if (end == bytes.end() || size == 0 || !crc) return std::nullopt;
  if (section->flags & elf::shf_compressed) return std::nullopt; // the name would not outlive `contents`
  const std::string_view name = as_text(bytes.first(size));
  if (name.find('/') != name.npos || name == "." || name == "..") return std::nullopt;
  return DebugLink{name, *crc};
}

namespace {

/// A text that ends with zero, followed by a build ID.
std::optional<AlternateLink> name_and_id(std::span<const std::byte> bytes, bool has_size) {
  const auto end = std::ranges::find(bytes, std::byte{});
  const auto size = static_cast<std::size_t>(end - bytes.begin());
  if (end == bytes.end()) return std::nullopt;
  AlternateLink link;
  link.name = as_text(bytes.first(size));
  std::span<const std::byte> id = bytes.subspan(size + 1);
  if (has_size) { // ULEB128, of one byte for any real ID
    if (id.empty() || std::to_integer<std::size_t>(id[0]) > std::min<std::size_t>(id.size() - 1, 127))
      return std::nullopt;
    id = id.subspan(1, std::to_integer<std::size_t>(id[0]));
  }
  if (id.empty()) return std::nullopt;
  link.build_id.assign(id.begin(), id.end());
  return link;
}

std::optional<elf::Contents> small_section(const elf::Image& image, const char* name) {
  constexpr std::uint64_t largest = 1 << 16;
  const elf::SectionHeader* const section = image.find_section(name);
  if (!section || section->size > largest) return std::nullopt;
  auto contents = image.contents(*section);
  return contents ? std::optional(std::move(*contents)) : std::nullopt;
}

/// .debug_sup: the version (2 bytes), whether the file is supplementary itself (1), the name of the
/// supplementary file, which itself has none, and its ID.
std::optional<AlternateLink> supplementary(const elf::Image& image, bool is_itself) {
  const auto contents = small_section(image, ".debug_sup");
  const auto version =
      contents ? load_at<std::uint16_t>(contents->bytes(), 0, image.byte_order()) : std::nullopt;
  constexpr std::uint16_t known_version = 5;
  if (version != known_version || contents->bytes().size() < 3 ||
      (contents->bytes()[2] != std::byte{}) != is_itself)
    return std::nullopt;
  return name_and_id(contents->bytes().subspan(3), true);
}

} // namespace

std::optional<AlternateLink> alternate_link(const elf::Image& image) {
  const auto contents = small_section(image, ".gnu_debugaltlink");
  auto link = contents ? name_and_id(contents->bytes(), false) : supplementary(image, false);
  return link && !link->name.empty() ? link : std::nullopt;
}

bool is_linked(const AlternateLink& link, const elf::Image& file) {
  if (std::ranges::equal(file.build_id(), link.build_id)) return true;
  const auto own = supplementary(file, true);
  return own && own->build_id == link.build_id;
}

std::optional<OpenedFile> find_debug_file(const elf::Image& image, const std::string& path,
                                          std::span<const std::string> folders, Limits limits,
                                          std::vector<Rejected>* rejected, const OpenFile& open) {
  Search search(image, limits, rejected, open);
  if (auto found = search.by_build_id(folders)) return found;
  return search.by_link(path, folders);
}

} // namespace sframe::files
