// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "generate.h"

#include <sframe/convert/from_cfi.h>
#include <sframe/elf/rewrite.h>
#include <sframe/section.h>

#include <algorithm>
#include <limits>

namespace sframe::gen {

namespace {

/// True for functions whose name, raw or demangled, matches. The table must outlive the result.
std::function<bool(const cfi::Fde&)> name_filter(const tool::Glob& glob, const elf::SymbolTable& symbols) {
  return [&](const cfi::Fde& fde) {
    const auto match = symbols.find(fde.start);
    if (!match) return false;
    return glob.matches(match->symbol->name) || glob.matches(elf::demangle(match->symbol->name));
  };
}

elf::Problem to_problem(const Refusal& refusal, Emit emit) {
  std::string what = message(refusal.reason);
  if (refusal.reason == RefusalReason::out_of_reach && emit != Emit::elf)
    what += "; --section-address says where it will be";
  return {what, ".sframe", std::nullopt};
}

std::string nothing_to_convert(const CommandLine& line, const conversion::Report& report) {
  if (line.function) return "no function with call frame information matches " + line.function->pattern();
  if (!report.faults.empty()) return "no call frame information that can be read";
  return "no call frame information: .eh_frame and .debug_frame describe no function";
}

elf::Result<Generated> generate_at(const CommandLine& line, const Input& input, std::uint64_t address) {
  return line.from == From::cfi ? generate_from_cfi(line, input, address)
                                : generate_from_sframe(line, input, address);
}

} // namespace

elf::Result<Input> open_input(const CommandLine& line) {
  auto file = elf::File::open(line.input);
  if (!file) return std::unexpected(file.error());
  Input input{std::move(*file), std::nullopt};
  const auto bytes = input.file.bytes();
  if (bytes.empty()) return elf::fail("empty file");
  if (!elf::Image::is_elf(bytes)) {
    const auto section = Section::parse(bytes);
    if (line.from == From::sframe && (section || section.error().kind != ErrorKind::bad_magic)) return input;
    return elf::fail(line.from == From::sframe ? "neither ELF file nor SFrame section" : "not an ELF file");
  }
  auto image = elf::Image::parse(bytes);
  if (!image) return std::unexpected(image.error());
  if (image->relocatable()) return elf::fail("relocatable objects are not supported yet");
  if (image->type() == elf::et_core)
    return elf::fail("core files have no call frame information of their own");
  input.image = std::move(*image);
  return input;
}

std::uint64_t section_address(const CommandLine& line, const Input& input) {
  if (line.section_address) return *line.section_address;
  if (line.emit == Emit::section || !input.image) return 0;
  constexpr std::uint64_t align = 8;
  std::uint64_t end = 0;
  for (const elf::Segment& segment : input.image->segments()) {
    if (segment.type != elf::pt_load) continue;
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - align - segment.address;
    if (segment.address <= std::numeric_limits<std::uint64_t>::max() - align && segment.memory_size <= room)
      end = std::max(end, segment.address + segment.memory_size);
  }
  return (end + align - 1) & ~(align - 1);
}

elf::Result<Generated> generate(const CommandLine& line, const Input& input) {
  if (line.emit != Emit::elf) return generate_at(line, input, section_address(line, input));
  if (!input.image) return elf::fail("a raw section belongs to no ELF file that it could go into");
  Generated generated;
  auto image =
      elf::add_section(*input.image, [&](std::uint64_t address) -> elf::Result<std::span<const std::byte>> {
        auto made = generate_at(line, input, address);
        if (!made) return std::unexpected(made.error());
        generated = std::move(*made);
        return generated.bytes;
      });
  if (!image) return std::unexpected(image.error());
  generated.image = std::move(*image);
  return generated;
}

elf::Result<Generated> generate_from_cfi(const CommandLine& line, const Input& input, std::uint64_t address) {
  if (!input.image) return elf::fail("not an ELF file");
  const auto cfi = conversion::CfiInput::from_image(*input.image);
  if (!cfi) return std::unexpected(cfi.error());
  if (cfi->sections.empty()) return elf::fail("no call frame information: no .eh_frame and no .debug_frame");

  conversion::Options options{.version = line.version,
                              .merge_rows = true,
                              .share_rows = line.share_rows,
                              .plt = line.plt,
                              .wanted = {}};
  elf::SymbolTable symbols;
  if (line.function) {
    symbols = elf::SymbolTable::load(*input.image);
    options.wanted = name_filter(*line.function, symbols);
  }
  auto [builder, report] = conversion::from_cfi(*cfi, options);
  if (report.functions.total == 0) return elf::fail(nothing_to_convert(line, report));
  auto bytes = builder.finish(address);
  if (!bytes) return std::unexpected(to_problem(bytes.error(), line.emit));
  return Generated{std::move(*bytes), {}, std::move(report), cfi->abi, builder.num_fdes(),
                   builder.num_fres()};
}

} // namespace sframe::gen
