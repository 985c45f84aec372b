// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DWARF 4, sections 6.2 (line tables) and 7.5 (the unit). Lines 7 from 0x1000 on and 9 from 0x1004 on are
//
//   00 09 02 0x1000   set_address
//   03 06 01          advance_line 6 (it starts with 1); copy
//   02 04 03 02 01    advance_pc 4; advance_line 2; copy
//   02 .. 00 01 01    advance_pc to the code's end; end_sequence

#include "debug_lines.h"

#include "byte_writer.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace sframe::jit {

namespace {

constexpr std::uint64_t dwarf_version = 4, address_size = 8;

void write_bytes(ByteWriter& out, std::initializer_list<unsigned> bytes) {
  for (const unsigned byte : bytes) out.u8(byte);
}

/// Sorted by offset.
std::vector<SourceLine> lines_inside(const PublishedCode& code) {
  std::vector<SourceLine> lines(code.lines.begin(), code.lines.end());
  std::erase_if(lines, [&](const SourceLine& one) { return one.offset >= code.rows.code_size(); });
  std::ranges::stable_sort(lines, {}, &SourceLine::offset);
  return lines;
}

class LineProgram {
public:
  LineProgram(ByteWriter& out, std::uint64_t start) : out_(out) {
    write_bytes(out_, {0, 1 + address_size, 2}); // DW_LNE_set_address
    out_.u64(start);
  }

  void row(const SourceLine& row, std::uint64_t file) {
    advance(row.offset);
    out_.u8(4); // DW_LNS_set_file
    out_.uleb(file);
    out_.u8(3); // DW_LNS_advance_line
    out_.sleb(std::int64_t{row.line} - line_);
    out_.u8(1); // DW_LNS_copy
    line_ = row.line;
  }

  void end(std::uint32_t size) {
    advance(size);
    write_bytes(out_, {0, 1, 1}); // DW_LNE_end_sequence
  }

private:
  void advance(std::uint32_t offset) {
    out_.u8(2); // DW_LNS_advance_pc
    out_.uleb(offset - at_);
    at_ = offset;
  }

  ByteWriter& out_;
  std::uint32_t at_ = 0;
  std::int64_t line_ = 1;
};

/// The number of each line's file, from 1 on, and their names in that order.
std::vector<std::uint64_t> number_files(std::span<const SourceLine> lines,
                                        std::vector<std::string_view>& files) {
  for (const SourceLine& one : lines) files.push_back(one.file);
  std::ranges::sort(files);
  const auto repeated = std::ranges::unique(files);
  files.erase(repeated.begin(), repeated.end());
  std::vector<std::uint64_t> numbers;
  numbers.reserve(lines.size());
  for (const SourceLine& one : lines)
    numbers.push_back(static_cast<std::uint64_t>(std::ranges::lower_bound(files, one.file) - files.begin()) +
                      1);
  return numbers;
}

std::vector<std::byte> make_line_table(const PublishedCode& code, std::span<const SourceLine> lines) {
  std::vector<std::string_view> files;
  const std::vector<std::uint64_t> numbers = number_files(lines, files);
  ByteWriter out(code.rows.abi().byte_order);
  out.u32(0); // length
  out.u16(dwarf_version);
  const std::size_t header_length = out.size();
  out.u32(0);
  // Instructions of 1 byte, 1 operation each, is_stmt; special opcodes, which are not used: -5, 14; the first
  // is 13; operands of the others.
  write_bytes(out, {1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1});
  out.u8(0); // directories
  for (const std::string_view file : files) {
    out.text(file.empty() ? "?" : file); // an empty name ends the list
    write_bytes(out, {0, 0, 0});         // directory, time, size
  }
  out.u8(0);
  out.put_u32(header_length, out.size() - header_length - 4);
  LineProgram program(out, code.start);
  for (std::size_t i = 0; i < lines.size(); ++i) program.row(lines[i], numbers[i]);
  program.end(code.rows.code_size());
  out.put_u32(0, out.size() - 4);
  return std::move(out.bytes);
}

std::vector<std::byte> make_unit(const PublishedCode& code, std::string_view name) {
  ByteWriter out(code.rows.abi().byte_order);
  out.u32(0); // length
  out.u16(dwarf_version);
  out.u32(0); // abbreviations
  out.u8(address_size);
  out.uleb(1);
  out.text(name);
  out.u32(0); // line table
  out.u64(code.start);
  out.u64(code.rows.code_size());
  out.put_u32(0, out.size() - 4);
  return std::move(out.bytes);
}

} // namespace

DebugLines make_debug_lines(const PublishedCode& code) {
  const std::vector<SourceLine> lines = lines_inside(code);
  if (lines.empty()) return {};
  ByteWriter abbrev(code.rows.abi().byte_order);
  // 1: DW_TAG_compile_unit without children: name, string; stmt_list, sec_offset; low_pc, addr; high_pc,
  // data8
  write_bytes(abbrev, {1, 0x11, 0, 0x03, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0, 0});
  return {std::move(abbrev.bytes), make_unit(code, lines.front().file), make_line_table(code, lines)};
}

} // namespace sframe::jit
