// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a linked file to which a small and a large section is added. Properties if that
// succeeds: the pieces of the edit are in order and disjoint; the output parses, with the section at its
// address, by segment and by section; loaded bytes are unchanged, except for headers and an earlier section;
// the edit gives them and no others; doing it again gives the same bytes.

#include "cost.h"

#include "sframe/edit/rewrite.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace rewrite_fuzzer {

using namespace sframe;

namespace {

using Bytes = std::vector<std::byte>;

/// Padding is bounded, but a mutated file may ask for much of it, and memory is the fuzzer's time.
constexpr std::uint64_t max_output = std::uint64_t(4) << 20;

void require(bool condition, std::source_location where = std::source_location::current()) {
  if (condition) return;
  std::fprintf(stderr, "rewrite_fuzzer.cc:%u: a property does not hold\n",
               static_cast<unsigned>(where.line()));
  std::abort();
}

/// A section whose contents depend on the address for which it was made.
Bytes section_at(std::uint64_t address, std::size_t size) {
  Bytes bytes(size, std::byte(0x5f));
  for (unsigned i = 0; i < 8; ++i) bytes[i] = std::byte(address >> 8 * i);
  return bytes;
}

Result<edit::Edit> add(std::span<const std::byte> file, std::size_t size) {
  const auto image = elf::Image::parse(file);
  if (!image) return sframe::unexpected(image.error());
  auto insertion = edit::Insertion::plan(*image);
  if (!insertion) return sframe::unexpected(insertion.error());
  const auto address = insertion->choose_address(size);
  if (!address) return sframe::unexpected(address.error());
  auto linked = insertion->write(section_at(*address, size));
  if (!linked) return sframe::unexpected(linked.error());
  return std::move(linked->edit);
}

void check_pieces(const edit::Edit& edit, std::size_t original) {
  std::uint64_t end = 0;
  for (const edit::Edit::Kept& range : edit.kept) {
    require(range.source <= original && range.size <= original - range.source);
    require(range.offset >= end);
    end = range.offset + range.size;
    require(end <= edit.size);
  }
  end = 0;
  for (const edit::Edit::Piece& piece : edit.pieces) {
    require(piece.offset >= end);
    end = piece.offset + piece.bytes.size();
    require(end <= edit.size);
  }
}

void check_section(const elf::Image& image, std::size_t size) {
  const elf::Segment* segment = image.find_segment(elf::pt_gnu_sframe);
  require(segment && segment->file_size == size && segment->memory_size == size);
  const auto loaded = image.read(segment->address, size);
  require(loaded.has_value());
  require(std::ranges::equal(*loaded, section_at(segment->address, size)));
  require(loaded->data() == image.bytes().data() + segment->offset);
  const auto tables = image.sframe_tables();
  require(tables.size() == 1 && tables.front().address == segment->address);
}

/// The piece of the edit that has a byte of the new file, if any.
bool is_changed(const edit::Edit& edit, std::uint64_t offset) {
  return std::ranges::any_of(edit.pieces, [&](const edit::Edit::Piece& piece) {
    return offset >= piece.offset && offset - piece.offset < piece.bytes.size();
  });
}

/// Loaded contents are unchanged: by segments, which are equal, and by bytes, which are in the kept part.
void check_memory(const elf::Image& before, const elf::Image& after, const edit::Edit& edit) {
  for (const elf::Segment& old : before.segments()) {
    if (old.type != elf::pt_load || old.file_size == 0) continue;
    const bool stays = std::ranges::any_of(after.segments(), [&](const elf::Segment& now) {
      return now.type == elf::pt_load && now.address == old.address && now.offset == old.offset &&
             now.file_size == old.file_size && now.memory_size == old.memory_size;
    });
    if (!stays) continue; // the segment of an earlier section
    for (std::uint64_t at = old.offset; at < old.offset + old.file_size; ++at)
      require(before.bytes()[at] == after.bytes()[at] || is_changed(edit, at));
  }
}

void try_size(std::span<const std::byte> file, std::size_t size) {
  const auto edit = add(file, size);
  if (!edit) {
    require(!edit.error().what.empty());
    return;
  }
  check_pieces(*edit, file.size());
  if (edit->size > file.size() + max_output) return;
  const Bytes out = edit->apply(file);
  require(edit->gives(file, out));
  Bytes other = out;
  other[other.size() / 2] ^= std::byte(1);
  require(!edit->gives(file, other));
  const auto before = elf::Image::parse(file), after = elf::Image::parse(out);
  require(after && after->problems().empty());
  check_section(*after, size);
  check_memory(*before, *after, *edit);
  const auto again = add(out, size);
  if (!again) std::fprintf(stderr, "%s\n", again.error().text().c_str());
  require(again.has_value());
  require(again->apply(out) == out);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  const auto file = std::as_bytes(std::span(data, size));
  try_size(file, 28);
  try_size(file, 5000);
  return 0;
}

} // namespace rewrite_fuzzer
