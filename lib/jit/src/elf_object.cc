// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ELF header, contents, section headers (System V ABI, chapter 4). The contents follow the header in the
// order of the sections, .text without any; so the tables' addresses are known.

#include "elf_object.h"

#include "byte_writer.h"
#include "debug_lines.h"

#include "sframe/convert.h"
#include "sframe/jit/eh_frame.h"
#include "sframe/section.h"

#include <vector>

namespace sframe::jit {

namespace {

constexpr std::uint64_t progbits = 1, symtab = 2, strtab = 3, nobits = 8, gnu_sframe = 0x6ffffff4; ///< SHT_*
constexpr std::uint64_t alloc = 2, execinstr = 4;                                                  ///< SHF_*
constexpr std::size_t elf_header_size = 64, section_header_size = 64, symbol_size = 24;

struct ElfSection {
  std::string_view name;
  std::uint64_t type = 0, flags = 0, address = 0, size = 0;
  std::span<const std::byte> bytes;
  std::uint64_t link = 0, info = 0, entry_size = 0;
  std::uint64_t offset = 0, name_offset = 0;
};

void write_header(ByteWriter& out, const AbiTraits& abi, std::uint64_t sections_at, std::size_t count) {
  const bool little = abi.byte_order == ByteOrder::little;
  constexpr std::uint64_t class64 = 2, executable = 2;
  for (const std::uint64_t byte :
       {std::uint64_t{0x7f}, std::uint64_t{'E'}, std::uint64_t{'L'}, std::uint64_t{'F'}, class64,
        std::uint64_t{little ? 1u : 2u}, std::uint64_t{1}, std::uint64_t{0}})
    out.u8(byte);
  out.u64(0);
  out.u16(executable);
  out.u16(abi.machine);
  out.u32(1);
  out.u64(0); // entry
  out.u64(0); // program headers
  out.u64(sections_at);
  out.u32(0);
  out.u16(elf_header_size);
  out.u16(0);
  out.u16(0);
  out.u16(section_header_size);
  out.u16(count);
  out.u16(count - 1); // the names are in the last section
}

void write_section_header(ByteWriter& out, const ElfSection& section) {
  out.u32(section.name_offset);
  out.u32(section.type);
  out.u64(section.flags);
  out.u64(section.address);
  out.u64(section.offset);
  out.u64(section.size);
  out.u32(section.link);
  out.u32(section.info);
  out.u64(8);
  out.u64(section.entry_size);
}

/// The empty symbol and the code's.
std::vector<std::byte> symbols_of(const PublishedCode& code) {
  constexpr std::uint64_t global_function = 0x12, text = 1;
  ByteWriter out(code.rows.abi().byte_order);
  out.bytes.resize(symbol_size);
  out.u32(1); // in .strtab
  out.u8(global_function);
  out.u8(0);
  out.u16(text);
  out.u64(code.start);
  out.u64(code.rows.code_size());
  return std::move(out.bytes);
}

} // namespace

std::vector<std::byte> sframe_at(std::uint64_t address, const PublishedCode& code) {
  const auto section = Section::parse(code.rows.section(), code.start);
  const auto converted = convert(std::span(&*section, 1), {.abi = code.rows.abi().id}, address);
  return converted ? converted->bytes : std::vector<std::byte>();
}

std::vector<std::byte> make_elf_object(const PublishedCode& code, std::uint64_t address) {
  const AbiTraits& abi = code.rows.abi();
  const std::uint64_t eh_frame_address = address + elf_header_size;
  const auto eh_frame = make_eh_frame(code.start, code.rows);
  const std::uint64_t sframe_address = eh_frame_address + align_up(eh_frame.size(), 8);
  const auto sframe = sframe_at(sframe_address, code);
  const auto symbols = symbols_of(code);
  ByteWriter names(abi.byte_order), section_names(abi.byte_order);
  names.u8(0);
  names.text(code.name);
  const DebugLines debug = make_debug_lines(code);

  std::vector<ElfSection> sections = {
      ElfSection{},
      {.name = ".text",
       .type = nobits,
       .flags = alloc | execinstr,
       .address = code.start,
       .size = code.rows.code_size()},
      {.name = ".eh_frame", .type = progbits, .flags = alloc, .address = eh_frame_address, .bytes = eh_frame},
      {.name = ".sframe", .type = gnu_sframe, .flags = alloc, .address = sframe_address, .bytes = sframe},
      {.name = ".symtab", .type = symtab, .bytes = symbols, .link = 5, .info = 1, .entry_size = symbol_size},
      {.name = ".strtab", .type = strtab, .bytes = names.bytes},
  };
  if (!debug.line.empty()) {
    sections.push_back({.name = ".debug_abbrev", .type = progbits, .bytes = debug.abbrev});
    sections.push_back({.name = ".debug_info", .type = progbits, .bytes = debug.info});
    sections.push_back({.name = ".debug_line", .type = progbits, .bytes = debug.line});
  }
  sections.push_back({.name = ".shstrtab", .type = strtab});
  for (ElfSection& section : sections) {
    section.name_offset = section_names.size();
    section_names.text(section.name);
  }
  sections.back().bytes = section_names.bytes;

  std::uint64_t at = elf_header_size;
  for (ElfSection& section : sections) {
    section.offset = section.type ? at : 0;
    if (section.type != nobits) section.size = section.bytes.size();
    at += align_up(section.bytes.size(), 8);
  }
  ByteWriter out(abi.byte_order);
  out.bytes.reserve(at + sections.size() * section_header_size);
  write_header(out, abi, at, sections.size());
  for (const ElfSection& section : sections) {
    out.append(section.bytes);
    out.align(8);
  }
  for (const ElfSection& section : sections) write_section_header(out, section);
  return std::move(out.bytes);
}

} // namespace sframe::jit
