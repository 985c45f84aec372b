// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of sections, segments and tables: bounds, decompression (System V ABI, chapter 4, "Compressed
// Sections").

#include "sframe/elf/image.h"

#include "gnu_compression.h"
#include "sframe/base/budget.h"
#include "sframe/elf/llvm_types.h"

#include <llvm/Object/Decompressor.h>
#include <llvm/Support/Compression.h>

namespace sframe::elf {

Result<std::span<const std::byte>> Image::raw(std::uint64_t offset, std::uint64_t size,
                                              std::string_view name) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset)
    return fail(name.empty() ? "segment runs past the end of the file"
                             : "section runs past the end of the file",
                name);
  return bytes_.subspan(offset, size);
}

namespace {

unexpected<Problem> cannot_decompress(llvm::Error error, const SectionHeader& section) {
  Problem problem = to_problem(std::move(error), section.name);
  problem.what = "cannot decompress section: " + problem.what;
  return unexpected(std::move(problem));
}

} // namespace

unexpected<Problem> Image::used_up(const SectionHeader& section) const {
  Problem problem = *budget_->problem();
  problem.section = section.name;
  return unexpected(std::move(problem));
}

/// The size is untrusted: a few bytes must not cause an allocation of gigabytes.
Result<void> Image::may_unpack(const SectionHeader& section, std::uint64_t size) const {
  if (size > max_decompressed_size || size / max_expansion > section.size)
    return fail("implausible decompressed size", section.name);
  if (budget_ && !budget_->take(Resource::unpacked_bytes, size)) return used_up(section);
  return {};
}

Result<Contents> Image::contents(const SectionHeader& section) const {
  if (section.type == sht_nobits || section.type == sht_null) return Contents();
  auto bytes = raw(section.offset, section.size, section.name);
  if (!bytes) return unexpected(bytes.error());
  if (budget_ && !budget_->take(Resource::section_bytes, section.size)) return used_up(section);
  if (!(section.flags & shf_compressed)) {
    const auto size = section.gnu_compressed() ? gnu_uncompressed_size(*bytes) : std::nullopt;
    return size ? unpack_gnu(section, *bytes, *size) : Contents(*bytes);
  }
  auto decompressor =
      llvm::object::Decompressor::create(llvm::StringRef(section.name.data(), section.name.size()),
                                         to_llvm(*bytes), order_ == ByteOrder::little, true);
  if (!decompressor) return cannot_decompress(decompressor.takeError(), section);
  if (auto may = may_unpack(section, decompressor->getDecompressedSize()); !may)
    return unexpected(std::move(may.error()));
  std::vector<std::byte> result;
  if (llvm::Error error = decompressor->resizeAndDecompress(result))
    return cannot_decompress(std::move(error), section);
  return Contents(std::move(result));
}

Result<Contents> Image::unpack_gnu(const SectionHeader& section, std::span<const std::byte> bytes,
                                   std::uint64_t size) const {
  if (auto may = may_unpack(section, size); !may) return unexpected(std::move(may.error()));
  const auto packed = bytes.subspan(gnu_compression_header);
  std::vector<std::byte> result(size);
  std::size_t unpacked = result.size();
  if (llvm::Error error = llvm::compression::zlib::decompress(
          {reinterpret_cast<const std::uint8_t*>(packed.data()), packed.size()},
          reinterpret_cast<std::uint8_t*>(result.data()), unpacked))
    return cannot_decompress(std::move(error), section);
  if (unpacked != size) return fail("cannot decompress section: wrong size", section.name);
  return Contents(std::move(result));
}

Result<Contents> Image::contents(const Segment& segment) const {
  auto bytes = raw(segment.offset, segment.file_size, {});
  if (!bytes) return unexpected(bytes.error());
  return Contents(*bytes);
}

Result<Contents> Image::contents(const SframeLocation& table) const {
  if (table.section) return relocated_contents(*table.section);
  if (table.segment) return contents(*table.segment);
  return Contents();
}

} // namespace sframe::elf
