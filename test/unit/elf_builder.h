// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds small ELF64 files for the tests: header, program headers, contents, section headers, in this order.

#pragma once

#include "sframe/elf/image.h"

#include <cstring>
#include <string>
#include <vector>

namespace sframe::test {

/// Encodes numbers in a file's byte order.
class Writer {
public:
  explicit Writer(ByteOrder order = ByteOrder::little) : order_(order) {}

  Writer& number(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i)
      bytes.push_back(std::byte(value >> 8 * (order_ == ByteOrder::little ? i : size - 1 - i)));
    return *this;
  }
  Writer& u16(std::uint64_t value) { return number(value, 2); }
  Writer& u32(std::uint64_t value) { return number(value, 4); }
  Writer& u64(std::uint64_t value) { return number(value, 8); }
  Writer& text(std::string_view value, std::size_t size = 0) {
    for (char c : value) bytes.push_back(std::byte(c));
    for (std::size_t i = value.size(); i < size; ++i) bytes.push_back(std::byte(0));
    return *this;
  }
  Writer& zeros(std::size_t count) {
    bytes.resize(bytes.size() + count);
    return *this;
  }
  Writer& append(const std::vector<std::byte>& more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return *this;
  }
  Writer& align(std::size_t to) { return zeros((to - bytes.size() % to) % to); }

  std::vector<std::byte> bytes;

private:
  ByteOrder order_;
};

struct TestSection {
  std::string name;
  std::uint32_t type = elf::sht_progbits;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t entsize = 0;
};

struct TestSegment {
  std::uint32_t type = elf::pt_load;
  std::uint32_t flags = elf::pf_r;
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;
  std::uint64_t memory_size = 0; ///< at least the size of the bytes
};

struct TestElf {
  ByteOrder order = ByteOrder::little;
  std::uint16_t type = elf::et_rel;
  std::uint16_t machine = 62;
  std::vector<TestSection> sections; ///< numbered from 1; the section name table is added
  std::vector<TestSegment> segments;
  bool extended = false; ///< section numbers use SHN_XINDEX

  std::vector<std::byte> build() const {
    std::vector<TestSection> all = sections;
    if (!all.empty()) all.push_back({".shstrtab", elf::sht_strtab, 0, 0, {}, 0, 0, 0});
    std::string names(1, '\0');
    std::vector<std::uint32_t> name_at;
    for (const auto& section : all) {
      name_at.push_back(static_cast<std::uint32_t>(names.size()));
      names += section.name + '\0';
    }
    if (!all.empty()) all.back().bytes = Writer().text(names).bytes;

    Writer body(order), segment_table(order), section_table(order);
    const std::uint64_t body_at = 64 + segments.size() * 56;
    for (const auto& segment : segments) {
      segment_table.u32(segment.type)
          .u32(segment.flags)
          .u64(body_at + body.bytes.size())
          .u64(segment.address);
      segment_table.u64(segment.address).u64(segment.bytes.size());
      segment_table.u64(std::max<std::uint64_t>(segment.memory_size, segment.bytes.size())).u64(1);
      body.append(segment.bytes).align(8);
    }
    const std::uint64_t count = all.empty() ? 0 : all.size() + 1;
    if (!all.empty())
      section_table.zeros(32).u64(extended ? count : 0).u32(extended ? all.size() : 0).zeros(20);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& s = all[i];
      section_table.u32(name_at[i]).u32(s.type).u64(s.flags).u64(s.address).u64(body_at + body.bytes.size());
      section_table.u64(s.bytes.size()).u32(s.link).u32(s.info).u64(1).u64(s.entsize);
      body.append(s.bytes).align(8);
    }
    Writer file(order);
    file.text("\x7f"
              "ELF")
        .number(2, 1)
        .number(order == ByteOrder::little ? 1 : 2, 1)
        .number(1, 1)
        .zeros(9);
    file.u16(type).u16(machine).u32(1).u64(0).u64(segments.empty() ? 0 : 64);
    file.u64(all.empty() ? 0 : body_at + body.bytes.size())
        .u32(0)
        .u16(64)
        .u16(56)
        .u16(segments.size())
        .u16(64);
    file.u16(extended ? 0 : count).u16(extended ? 0xffff : all.size());
    return file.append(segment_table.bytes).append(body.bytes).append(section_table.bytes).bytes;
  }
};

/// An entry of a symbol table.
inline std::vector<std::byte> symbol(std::uint32_t name, unsigned info, std::uint16_t section,
                                     std::uint64_t value, std::uint64_t size,
                                     ByteOrder order = ByteOrder::little) {
  return Writer(order).u32(name).number(info, 1).number(0, 1).u16(section).u64(value).u64(size).bytes;
}

/// An ELF note.
inline std::vector<std::byte> note(std::string_view owner, std::uint32_t type,
                                   const std::vector<std::byte>& body, ByteOrder order = ByteOrder::little) {
  Writer writer(order);
  writer.u32(owner.size() + 1).u32(body.size()).u32(type).text(owner, owner.size() + 1).align(4);
  return writer.append(body).align(4).bytes;
}

} // namespace sframe::test
