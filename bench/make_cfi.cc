// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes an ELF file whose .eh_frame has the requested number of functions, those of made_section.h, not
// sorted by address, for timing whole commands. It has no code, only the tables.
//
//    make-cfi FUNCTIONS OUTPUT

#include "made_section.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <string>
#include <string_view>

namespace {

using namespace sframe;

// All numbers are little-endian, as the machine that this runs on is expected to be.
void put(std::string& out, std::uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) out += static_cast<char>(value >> 8 * i);
}

void put_uleb(std::string& out, std::uint64_t value) {
  for (; value > 0x7f; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

/// DW_CFA instructions that go from one row to the next.
void put_step(std::string& out, const FrameRow& from, const FrameRow& to) {
  out += '\x03'; // advance_loc2
  put(out, to.offset - from.offset, 2);
  if (to.cfa != from.cfa) {
    out += '\x0e'; // def_cfa_offset
    put_uleb(out, static_cast<std::uint64_t>(to.cfa.offset));
  }
  if (to.fp == from.fp) return;
  if (to.fp.kind == Rule::Kind::same) {
    out += '\xc6'; // restore rbp
  } else {
    out += '\x86'; // offset rbp, in units of -8
    put_uleb(out, static_cast<std::uint64_t>(to.fp.offset / -8));
  }
}

/// An entry of .eh_frame: its length, and padding to a multiple of 8.
void put_entry(std::string& out, std::string body) {
  body.resize((body.size() + 4 + 7) / 8 * 8 - 4);
  put(out, body.size(), 4);
  out += body;
}

std::string make_eh_frame(std::uint32_t count) {
  auto functions = bench::make_functions(count);
  std::ranges::shuffle(functions, std::mt19937(7));
  std::string out;
  // Version 1, no augmentation, alignment 1 and -8, RA in column 16; CFA = SP + 8, RA at CFA - 8.
  put_entry(out, std::string("\0\0\0\0\x01\0\x01\x78\x10\x0c\x07\x08\x90\x01", 14));
  for (const bench::MadeFunction& function : functions) {
    std::string body;
    put(body, out.size() + 4, 4); // the CIE is at the section's start
    put(body, function.fde.start, 8);
    put(body, function.fde.size, 8);
    for (std::size_t i = 1; i < function.rows.size(); ++i)
      put_step(body, function.rows[i - 1], function.rows[i]);
    put_entry(out, std::move(body));
  }
  put(out, 0, 4);
  return out;
}

template <class T> void put_struct(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string make_file(const std::string& eh_frame) {
  constexpr std::string_view names("\0.eh_frame\0.shstrtab\0", 21);
  const std::uint64_t names_at = sizeof(Elf64_Ehdr) + eh_frame.size();
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_shoff = names_at + names.size();
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  Elf64_Shdr table{}, strings{};
  table.sh_name = 1;
  table.sh_type = SHT_PROGBITS;
  table.sh_flags = SHF_ALLOC;
  table.sh_addr = 0x200000;
  table.sh_offset = sizeof header;
  table.sh_size = eh_frame.size();
  table.sh_addralign = 8;
  strings.sh_name = 11;
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = names_at;
  strings.sh_size = names.size();
  strings.sh_addralign = 1;
  std::string out;
  put_struct(out, header);
  out += eh_frame;
  out += names;
  put_struct(out, Elf64_Shdr{});
  put_struct(out, table);
  put_struct(out, strings);
  return out;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make-cfi FUNCTIONS OUTPUT\n");
    return 2;
  }
  const auto file = make_file(make_eh_frame(static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10))));
  std::ofstream out(argv[2], std::ios::binary);
  out.write(file.data(), static_cast<std::streamsize>(file.size()));
  return out.good() ? 0 : 2;
}
