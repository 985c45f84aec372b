// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as an ELF image or object whose CFI is converted, or whose code is described, too. The
// first byte selects the options, the second the address of the section, how it is optimized, and what is
// done about CFI that the code contradicts. Properties: the counts of the report agree with each other, the
// section does not depend on the number of threads, it can be read, and sframe-verify finds no error in it
// and, unless CFI is repaired, no difference from the CFI, whatever that is; nor if it is optimized.

#include "cost.h"

#include "sframe/base/budget.h"
#include "sframe/elf/linked_object.h"
#include "sframe/elf/object.h"
#include "sframe/generate/from_cfi.h"
#include "sframe/generate/optimize.h"
#include "sframe/section.h"
#include "sframe/verify/against_cfi.h"
#include "sframe/verify/input.h"
#include "sframe/verify/structure.h"
#include "sframe/verify/verdicts.h"

#include <array>

namespace generate_fuzzer {

using namespace sframe;
using sframe::fuzz::require;

namespace {

class Listener final : public verify::Sink {
public:
  void add(verify::Finding finding) override {
    const verify::Check& check = verify::check(finding.id);
    // Faults of the input: malformed CFI, and CFI that marks stubs as signal frames, which is reproduced.
    const bool ours = finding.id != verify::Id::C111 && finding.id != verify::Id::C113;
    require(!ours || check.severity != verify::Severity::error, finding.message.c_str());
  }
};

generate::Options options_from(std::uint8_t bits) {
  constexpr std::array versions{VersionNumber::v3, VersionNumber::v2, VersionNumber::v1, VersionNumber::v3};
  return {.version = versions[bits & 3],
          .merge_rows = (bits & 4) == 0,
          .share_rows = (bits & 8) != 0,
          .merge_functions = (bits & 16) != 0,
          .return_addresses = (bits & 64) != 0,
          .plt = (bits & 32) == 0,
          .wanted = {},
          .threads = 1,
          .start_fields = {}};
}

/// `image`: with the CFI to compare with; nullptr if the section need not agree with it.
void verify_section(const elf::Image* image, std::span<const std::byte> section, std::uint64_t address) {
  verify::Input::Sources sources;
  sources.raw = section;
  sources.raw_address = address;
  sources.use_raw = true;
  Listener listener;
  // On its own: in a damaged image, functions may be in no segment.
  if (const auto input = verify::Input::load(sources)) check_structure(*input, listener);
  if (!image) return;
  sources.image = image;
  const auto input = verify::Input::load(sources);
  if (!input) return;
  verify::Verdicts verdicts(*input);
  check_against_cfi(*input, verdicts, listener);
}

/// What is converted, with the code: of an object as a linker would leave it.
struct WithCode {
  std::optional<elf::ObjectLayout> layout;
  std::optional<elf::LinkedObject> linked;
  std::optional<generate::CfiInput> cfi;
  std::optional<tables::OrcTable> orc;

  explicit WithCode(const elf::Image& image) {
    if (image.relocatable()) {
      auto made = elf::ObjectLayout::make(image);
      if (!made) return;
      layout = std::move(*made);
    }
    auto input = generate::CfiInput::from_image(layout ? layout->image() : image);
    if (!input) return;
    if (auto table = tables::OrcTable::load(layout ? layout->image() : image)) orc = std::move(*table);
    if (layout) {
      auto object = elf::LinkedObject::make(*layout);
      if (!object) {
        require(!object.error().what.empty(), "no message");
        return;
      }
      input->image = &linked.emplace(std::move(*object)).image();
      input->externals = linked->externals();
    }
    cfi = std::move(*input);
  }
};

/// With the functions that have no CFI. Each conversion has a budget of its own, so that its result is the
/// same.
void convert_code(std::span<const std::byte> file, generate::Options options, std::uint64_t address) {
  std::optional<std::vector<std::byte>> first;
  for (const unsigned threads : {1u, 2u}) {
    Budget budget(Limits::standard, file.size());
    const auto image = elf::Image::parse(file, &budget);
    if (!image) return;
    const WithCode input(*image);
    if (!input.cfi) return;
    options.threads = threads;
    options.orc = input.orc ? &*input.orc : nullptr;
    options.start_fields = StartFields::make(options.version, address, address, 1 << 20);
    const auto [builder, report] = generate::from_cfi(*input.cfi, options);
    if (const char* wrong = report.contradiction()) require(false, wrong);
    auto bytes = builder.finish(address);
    require(bytes.has_value(), "the builder refuses what it has accepted");
    require(!first || *first == *bytes, "another section with two threads");
    if (!first) {
      require(Section::parse(*bytes, address).has_value());
      const bool is_repaired = options.repair == generate::Options::Repair::apply;
      verify_section(is_repaired || image->relocatable() ? nullptr : &*image, *bytes, address);
    }
    first = std::move(*bytes);
  }
}

void convert(const elf::Image& image, generate::Options options, std::uint64_t address,
             std::optional<OptimizeOptions::Goal> optimized) {
  const auto input = generate::CfiInput::from_image(image);
  if (!input) return;
  options.start_fields = StartFields::make(options.version, address, address, 1 << 20);
  const auto [builder, report] = generate::from_cfi(*input, options);
  if (const char* wrong = report.contradiction()) require(false, wrong);
  const auto bytes = builder.finish(address);
  require(bytes.has_value(), "the builder refuses what it has accepted");
  options.threads = 2;
  require(generate::from_cfi(*input, options).builder.finish(address) == *bytes);
  require(Section::parse(*bytes, address).has_value());
  if (!image.relocatable()) verify_section(&image, *bytes, address);
  if (image.relocatable() || !optimized) return;
  options.threads = 1;
  auto [joined, again] = generate::from_cfi(*input, options);
  generate::optimize(joined, {.goal = *optimized}, &image, again.left_out);
  const auto smaller = joined.finish(address);
  require(smaller.has_value(), "the builder refuses what it has optimized");
  require(Section::parse(*smaller, address).has_value());
  verify_section(&image, *smaller, address);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  if (size < 2) return 0;
  const generate::Options options = options_from(data[0]);
  constexpr std::array<std::uint64_t, 4> addresses{0, 0x3000, 0x7fff'f000, 0xffff'ffff'8000'0000};
  const std::uint64_t address = addresses[data[1] % addresses.size()];
  using Goal = OptimizeOptions::Goal;
  constexpr std::array<std::optional<Goal>, 4> goals{std::nullopt, Goal::size, Goal::lookup, Goal::smallest};
  const auto goal = goals[data[1] / addresses.size() % goals.size()];
  const auto bytes = std::as_bytes(std::span(data + 2, size - 2));
  if (data[0] & 128) {
    using enum generate::Options::Repair;
    generate::Options with_code = options;
    with_code.code = true;
    with_code.repair = std::array{none, list, apply, none}[data[1] >> 6];
    convert_code(bytes, with_code, address);
    return 0;
  }
  const auto image = elf::Image::parse(bytes);
  if (!image) return 0;
  if (!image->relocatable()) {
    convert(*image, options, address, goal);
  } else if (const auto object = elf::ObjectLayout::make(*image)) {
    convert(object->image(), options, address, goal);
  }
  return 0;
}

} // namespace generate_fuzzer
