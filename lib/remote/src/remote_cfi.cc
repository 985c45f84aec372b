// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remote_cfi.h"

#include "sframe/bytes.h"

#include <algorithm>

namespace sframe::remote {

namespace {

using cfi::SectionKind;

/// An entry's bytes and the offset of its CIE pointer.
struct Entry {
  std::vector<std::byte> bytes;
  std::uint64_t id_at = 0;
  std::uint32_t id_size = 4;
};

bool read_entry(unwind::Memory& memory, std::uint64_t address, SectionKind kind, Entry& entry) {
  const auto short_length = memory.number(address, 4);
  if (!short_length) return false;
  const bool extended = *short_length == 0xffffffff;
  const auto length = extended ? memory.number(address + 4, 8) : short_length;
  if (!length || *length > max_cfi_entry) return false;
  entry.id_at = extended ? 12 : 4;
  entry.id_size = extended && kind == SectionKind::debug_frame ? 8 : 4;
  if (*length < entry.id_size) return false;
  entry.bytes.resize(entry.id_at + *length);
  return memory.bytes(address, entry.bytes);
}

std::uint64_t follow(unwind::Memory& memory, const std::optional<cfi::Pointer>& pointer, std::uint64_t bias) {
  if (!pointer || pointer->value == 0) return 0;
  const std::uint64_t address = pointer->value + bias;
  return pointer->indirect ? memory.word(address).value_or(0) : address;
}

bool load_from_host(unwind::Memory& memory, const CfiLocation& location, RemoteCfi& cfi) {
  const std::span bytes(location.host, location.size);
  cfi.section = cfi::CfiSection(location.kind, bytes, location.section, memory.space().abi());
  const auto fde = cfi.section.fde(location.fde - location.section);
  if (!fde) return false;
  cfi.fde = *fde;
  cfi.personality = follow(memory, fde->cie.personality, location.bias);
  return true;
}

/// Reads FDE, then CIE, and joins them, CIE first, so that the FDE keeps its address. This moves the CIE:
/// its one pointer is read before.
bool load_from_target(unwind::Memory& memory, const CfiLocation& location, RemoteCfi& cfi) {
  const AbiTraits& abi = memory.space().abi();
  Entry fde, cie;
  if (!read_entry(memory, location.fde, location.kind, fde)) return false;
  const std::uint64_t id_address = location.fde + fde.id_at;
  const auto id = memory.number(id_address, fde.id_size);
  if (!id) return false;
  const bool counts_back = location.kind == SectionKind::eh_frame;
  const std::uint64_t cie_address = counts_back ? id_address - *id : location.section + *id;
  if (!read_entry(memory, cie_address, location.kind, cie)) return false;
  const auto alone = cfi::CfiSection(location.kind, cie.bytes, cie_address, abi).cie(0);
  if (!alone) return false;
  cfi.personality = follow(memory, alone->personality, location.bias);

  const std::uint64_t distance = cie.bytes.size() + fde.id_at;
  store_sized(fde.bytes.data() + fde.id_at, counts_back ? distance : 0, fde.id_size, abi.byte_order);
  cfi.copy = std::move(cie.bytes);
  const std::uint64_t fde_offset = cfi.copy.size();
  cfi.copy.insert(cfi.copy.end(), fde.bytes.begin(), fde.bytes.end());
  cfi.section = cfi::CfiSection(location.kind, cfi.copy, location.fde - fde_offset, abi);
  const auto parsed = cfi.section.fde(fde_offset);
  if (!parsed) return false;
  cfi.fde = *parsed;
  return true;
}

/// A signed 4-byte integer.
std::optional<std::uint64_t> signed_number(unwind::Memory& memory, std::uint64_t address) {
  const auto number = memory.number(address, 4);
  if (!number) return std::nullopt;
  return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(*number)});
}

} // namespace

RemoteStatus load_cfi(unwind::Memory& memory, const CfiLocation& location, RemoteCfi& cfi) {
  const bool loaded =
      location.host ? load_from_host(memory, location, cfi) : load_from_target(memory, location, cfi);
  if (!loaded) return RemoteStatus::bad_version;
  cfi.lsda = follow(memory, cfi.fde.lsda, location.bias);
  return RemoteStatus::ok;
}

RemoteStatus describe_procedure(unwind::AddressSpace& target, const CfiLocation& location, std::uint64_t ip,
                                ProcedureInfo& info) {
  unwind::Memory memory(target);
  RemoteCfi cfi;
  if (const auto status = load_cfi(memory, location, cfi); status != RemoteStatus::ok) return status;
  if (!cfi.fde.contains(ip - location.bias)) return RemoteStatus::no_info;
  info.start = cfi.fde.start + location.bias;
  info.end = cfi.fde.end() + location.bias;
  info.lsda = cfi.lsda;
  info.handler = cfi.personality;
  info.rules = ProcedureInfo::Rules::cfi;
  info.cfi = location;
  return RemoteStatus::ok;
}

RemoteStatus search(unwind::AddressSpace& target, const SearchTable& table, std::uint64_t ip,
                    ProcedureInfo& info) {
  constexpr std::uint64_t pair = 8;
  unwind::Memory memory(target);
  // The last pair that starts at or before the address; starts are compared as signed distances.
  const auto wanted = static_cast<std::int64_t>(ip - table.ip_base);
  std::uint64_t first = 0, last = table.size / pair;
  while (first < last) {
    const std::uint64_t middle = first + (last - first) / 2;
    const auto start = signed_number(memory, table.address + middle * pair);
    if (!start) return RemoteStatus::invalid;
    if (static_cast<std::int64_t>(*start) <= wanted)
      first = middle + 1;
    else
      last = middle;
  }
  if (first == 0) return RemoteStatus::no_info;
  const auto fde = signed_number(memory, table.address + (first - 1) * pair + 4);
  if (!fde) return RemoteStatus::invalid;
  return describe_procedure(target, {.fde = table.fde_base + *fde}, ip, info);
}

} // namespace sframe::remote
