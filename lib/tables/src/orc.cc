// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linux: arch/x86/include/asm/orc_types.h (the layouts), arch/x86/kernel/unwind_orc.c (their meaning). Where
// a file has no .orc_header, entries show their layout: only that of Linux 6.3 uses bit 11 or has bit 10 with
// a base register, and only that of 6.4, which some distributions have without the header, has mostly entries
// of type 2.

#include "sframe/tables/orc.h"

#include "sframe/base/address_ranges.h"
#include "sframe/base/problem.h"
#include "sframe/bytes.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>

namespace sframe::tables {

namespace {

using Base = OrcEntry::Base;
using Kind = OrcEntry::Kind;

constexpr const char *ip_name = ".orc_unwind_ip", *entries_name = ".orc_unwind", *header_name = ".orc_header";
constexpr std::size_t ip_size = 4, entry_size = 6;

/// DWARF numbers.
constexpr std::uint16_t rax = 0, rdx = 1, rdi = 5, rbp = 6, rsp = 7, r10 = 10, r13 = 13;

/// Offsets in struct pt_regs; the last part, from the pc on, is what the processor pushes.
constexpr std::int32_t saved_bp = 32, saved_pc = 128, saved_sp = 152;

constexpr Base bases[16] = {Base::none,        Base::cfa,         Base::dx,      Base::di,
                            Base::bp,          Base::sp,          Base::r10,     Base::r13,
                            Base::bp_indirect, Base::sp_indirect, Base::unknown, Base::unknown,
                            Base::unknown,     Base::unknown,     Base::unknown, Base::unknown};
constexpr Base bases_with_ax[16] = {Base::none,    Base::ax,          Base::dx,          Base::sp,
                                    Base::bp,      Base::di,          Base::r10,         Base::r13,
                                    Base::cfa,     Base::sp_indirect, Base::bp_indirect, Base::unknown,
                                    Base::unknown, Base::unknown,     Base::unknown,     Base::unknown};

/// How the 16 bits are divided.
struct Layout {
  std::array<std::uint8_t, 4>
      header; ///< the first bytes of .orc_header, which is a hash of the kernel's header
  const Base* bases;
  std::uint8_t type_bits, signal_bit, end_bit; ///< 0: there is no such bit
};
constexpr Layout linux_4_20{{}, bases, 2, 0, 10};
constexpr Layout linux_6_3{{0xdb, 0x84, 0xae, 0xd4}, bases, 2, 10, 11};
constexpr Layout linux_6_4{{0xfe, 0x5d, 0x32, 0xbf}, bases, 3, 11, 0};
constexpr Layout with_ax{{0x13, 0x7c, 0x36, 0xad}, bases_with_ax, 3, 11, 0};

constexpr Kind kinds[] = {Kind::call, Kind::registers, Kind::iret, Kind::unknown};
constexpr Kind kinds_of_3_bits[] = {Kind::undefined, Kind::outermost, Kind::call,    Kind::registers,
                                    Kind::iret,      Kind::unknown,   Kind::unknown, Kind::unknown};

std::uint16_t flags_of(const std::byte* entry) {
  return load<std::uint16_t>(entry + 4, ByteOrder::little);
}

OrcEntry decode(const std::byte* bytes, std::uint64_t start, const Layout& layout) {
  const std::uint16_t flags = flags_of(bytes);
  const auto has = [&](unsigned bit) { return bit != 0 && flags >> bit & 1; };
  OrcEntry entry{.start = start,
                 .sp_offset = load<std::int16_t>(bytes, ByteOrder::little),
                 .bp_offset = load<std::int16_t>(bytes + 2, ByteOrder::little),
                 .sp_base = layout.bases[flags & 15],
                 .bp_base = layout.bases[flags >> 4 & 15],
                 .signal = has(layout.signal_bit)};
  if (layout.type_bits == 3) {
    entry.kind = kinds_of_3_bits[flags >> 8 & 7];
    return entry;
  }
  entry.kind = kinds[flags >> 8 & 3];
  if (entry.sp_base == Base::none) entry.kind = has(layout.end_bit) ? Kind::outermost : Kind::undefined;
  // Before there was a bit for it, each kind had its own.
  if (layout.signal_bit == 0) entry.signal = entry.kind == Kind::registers || entry.kind == Kind::iret;
  return entry;
}

/// By the entries, where nothing else says it.
const Layout& guess(std::span<const std::byte> entries) {
  std::size_t calls = 0;
  bool has_signal_bits = false;
  for (std::size_t at = 0; at < entries.size(); at += entry_size) {
    const std::uint16_t flags = flags_of(&entries[at]);
    calls += (flags >> 8 & 7) == 2;
    has_signal_bits |= (flags >> 11 & 1) || ((flags >> 10 & 1) && (flags & 15) != 0);
  }
  return calls > entries.size() / entry_size / 2 ? linux_6_4 : has_signal_bits ? linux_6_3 : linux_4_20;
}

Result<const Layout*> find_layout(const elf::Image& image, std::span<const std::byte> entries) {
  const elf::SectionHeader* const section = image.find_section(header_name);
  if (!section) return &guess(entries);
  const auto header = image.contents(*section);
  if (!header) return unexpected(header.error());
  for (const Layout* layout : {&linux_6_3, &linux_6_4, &with_ax})
    if (header->size() == 20 && std::memcmp(header->bytes().data(), layout->header.data(), 4) == 0)
      return layout;
  return fail("the ORC table has a layout that is not known", header_name, 0);
}

/// The register's number, where the base is a register's value.
std::optional<std::uint16_t> register_of(Base base) {
  switch (base) {
  case Base::ax: return rax;
  case Base::dx: return rdx;
  case Base::di: return rdi;
  case Base::bp: return rbp;
  case Base::sp: return rsp;
  case Base::r10: return r10;
  case Base::r13: return r13;
  default: return std::nullopt;
  }
}

/// The kernel adds the offset to SP and BP only.
std::int32_t offset_from(Base base, std::int32_t offset) {
  return base == Base::sp || base == Base::bp ? offset : 0;
}

std::optional<Rule> cfa_of_call(const OrcEntry& entry) {
  if (const auto reg = register_of(entry.sp_base))
    return Rule::value(*reg, offset_from(entry.sp_base, entry.sp_offset));
  if (entry.sp_base == Base::bp_indirect) return Rule::stored(rbp, entry.sp_offset);
  // Linux before 5.12 adds the offset before the load, later ones after it.
  if (entry.sp_base == Base::sp_indirect && entry.sp_offset == 0) return Rule::stored(rsp, 0);
  return std::nullopt;
}

std::optional<FrameRow> row_of_call(const OrcEntry& entry) {
  const auto cfa = cfa_of_call(entry);
  if (!cfa) return std::nullopt;
  FrameRow row{.offset = 0, .cfa = *cfa, .ra = Rule::fixed(), .fp = Rule::same()};
  if (entry.bp_base == Base::none) return row;
  if (entry.bp_base == Base::cfa)
    row.fp = Rule::at_cfa(entry.bp_offset);
  else if (entry.bp_base == Base::bp)
    row.fp = Rule::stored(rbp, entry.bp_offset);
  else
    return std::nullopt;
  return row;
}

/// The registers' own places are all from the base.
std::optional<FrameRow> row_of_registers(const OrcEntry& entry) {
  const auto reg = register_of(entry.sp_base);
  if (!reg) return std::nullopt;
  const bool is_whole = entry.kind == Kind::registers;
  const std::int32_t base = offset_from(entry.sp_base, entry.sp_offset), first = is_whole ? 0 : saved_pc;
  FrameRow row{.offset = 0,
               .cfa = Rule::stored(*reg, base + saved_sp - first),
               .ra = Rule::stored(*reg, base + saved_pc - first),
               .fp = is_whole ? Rule::stored(*reg, base + saved_bp) : Rule::same()};
  if (entry.bp_base == Base::none) return row;
  if (entry.bp_base == Base::cfa) // here: the base
    row.fp = Rule::stored(*reg, base + entry.bp_offset);
  else if (entry.bp_base == Base::bp)
    row.fp = Rule::stored(rbp, entry.bp_offset);
  else
    return std::nullopt;
  return row;
}

} // namespace

std::optional<FrameRow> OrcEntry::row() const {
  switch (kind) {
  case Kind::outermost: return FrameRow::outermost(0);
  case Kind::call: return row_of_call(*this);
  case Kind::registers:
  case Kind::iret: return row_of_registers(*this);
  case Kind::undefined:
  case Kind::unknown: break;
  }
  return std::nullopt;
}

AddressRange range_of(std::span<const OrcEntry> entries, std::size_t number) {
  const std::uint64_t start = entries[number].start;
  const bool is_last = number + 1 == entries.size();
  return {start, (is_last ? std::numeric_limits<std::uint64_t>::max() : entries[number + 1].start) - start};
}

Result<std::optional<OrcTable>> OrcTable::load(const elf::Image& image) {
  const elf::SectionHeader* const ip_section = image.find_section(ip_name);
  const elf::SectionHeader* const section = image.find_section(entries_name);
  if (image.machine() != llvm::ELF::EM_X86_64 || (!ip_section && !section)) return std::nullopt;
  if (!ip_section || !section)
    return fail(std::string("the file has no ") + (section ? ip_name : entries_name),
                section ? entries_name : ip_name, 0);
  const auto ips = image.relocated_contents(*ip_section);
  if (!ips) return unexpected(ips.error());
  const auto bytes = image.contents(*section);
  if (!bytes) return unexpected(bytes.error());
  const std::size_t count = ips->size() / ip_size;
  if (ips->size() % ip_size != 0 || bytes->size() != count * entry_size)
    return fail("does not have six bytes for each four of .orc_unwind_ip", entries_name, bytes->size());
  const auto layout = find_layout(image, bytes->bytes());
  if (!layout) return unexpected(layout.error());

  OrcTable table;
  table.entries_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto distance = sframe::load<std::int32_t>(ips->bytes().data() + i * ip_size, ByteOrder::little);
    const std::uint64_t start =
        ip_section->address + i * ip_size + static_cast<std::uint64_t>(std::int64_t{distance});
    table.entries_.push_back(decode(bytes->bytes().data() + i * entry_size, start, **layout));
  }
  // Ends of sections are before what else is there, so that the last one of each address counts.
  std::ranges::stable_sort(table.entries_, {}, [](const OrcEntry& entry) {
    return std::pair(entry.start, entry.kind != Kind::undefined);
  });
  const auto same = [](const OrcEntry& a, const OrcEntry& b) { return a.start == b.start; };
  const auto kept = std::unique(table.entries_.rbegin(), table.entries_.rend(), same).base();
  table.entries_.erase(table.entries_.begin(), kept);
  return table;
}

const OrcEntry* OrcTable::find(std::uint64_t address) const {
  return last_not_above(entries_, address, &OrcEntry::start);
}

} // namespace sframe::tables
