// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a relocatable object: its sections of SFrame as a linker leaves them, and a section for
// the start of each of its code sections added. Properties if that succeeds: the output parses as an object
// with one table, and doing it again gives the same bytes.

#include "cost.h"

#include "sframe/builder.h"
#include "sframe/edit/rewrite.h"

namespace object_fuzzer {

namespace {

using namespace sframe;
using sframe::fuzz::require;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t max_output = std::uint64_t(4) << 20;
constexpr std::size_t max_functions = 64;

Result<edit::Edit> add(std::span<const std::byte> file) {
  const auto image = elf::Image::parse(file);
  if (!image) return sframe::unexpected(image.error());
  const auto layout = elf::ObjectLayout::make(*image);
  if (!layout) return sframe::unexpected(layout.error());
  for (const elf::SframeLocation& table : layout->image().sframe_tables())
    if (const auto contents = layout->sframe_contents(table); !contents)
      require(!contents.error().what.empty(), "an error without text");
  const AbiTraits* const abi = layout->image().abi();
  if (!abi) return fail("no ABI");
  Builder builder({.version = VersionNumber::v3, .abi = abi->id});
  const FrameRow row = abi->entry_row();
  std::size_t functions = 0;
  for (const elf::SectionHeader& section : layout->image().sections())
    if (section.executable() && section.size >= 2 && functions < max_functions)
      functions += builder.add({.start = section.address, .size = 2}, {&row, 1}).has_value();
  const auto section = builder.finish(layout->end());
  if (!section) return fail("no section");
  return edit::add_section_to_object(*layout, *section);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  const auto file = std::as_bytes(std::span(data, size));
  const auto edit = add(file);
  if (!edit || edit->size > size + max_output) return 0;
  const Bytes out = edit->apply(file);
  const auto after = elf::Image::parse(out);
  require(after && after->problems().empty(), "the output has problems");
  require(after->sframe_tables().size() == 1, "not one table");
  const auto again = add(out);
  require(again.has_value(), "not added again");
  require(again->apply(out) == out, "another result the second time");
  return 0;
}

} // namespace object_fuzzer
