// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/walk/core_space.h"

#include <algorithm>
#include <bit>

namespace sframe::walk {

namespace {

constexpr std::uint64_t at_phdr = 3, at_entry = 9;
constexpr std::string_view deleted_mark = " (deleted)";

ModuleInfo info_of(const elf::Module& module) {
  ModuleInfo info;
  std::string_view path = module.path;
  info.deleted = path.ends_with(deleted_mark);
  if (info.deleted) path.remove_suffix(deleted_mark.size());
  info.path = path;
  info.vdso = module.vdso;
  info.start = module.start;
  info.end = module.end;
  info.bias = module.bias;
  info.build_id = module.build_id;
  info.header_address = module.header_address;
  info.assumed = module.assumed;
  for (const elf::Mapping& m : module.mappings) info.mappings.push_back({m.start, m.end, m.file_offset});
  return info;
}

} // namespace

CoreSpace::CoreSpace(const elf::Core& core, FileOptions files)
    : core_(core), files_(std::move(files)), generated_(*this, files_, *this, modules_) {
  const elf::Module* executable = nullptr;
  for (const std::uint64_t type : {at_entry, at_phdr})
    if (const auto address = core.auxv(type); address && !executable) executable = core.module_at(*address);
  for (const elf::Module& module : core.modules()) {
    ModuleInfo info = info_of(module);
    info.main = &module == executable;
    if (info.main) info.entry = core.auxv(at_entry);
    modules_.emplace_back(std::move(info), *core.abi(), files_, *this);
    if (info.main) main_ = &modules_.back();
  }
}

Module* CoreSpace::module_at(std::uint64_t address) {
  Module* mapped = mapped_module(address);
  if (mapped && mapped->is_image()) return mapped;
  Module* generated = is_code(address) ? generated_.module_at(address) : nullptr;
  return generated ? generated : mapped;
}

Module* CoreSpace::mapped_module(std::uint64_t address) {
  const elf::Module* module = core_.module_at(address);
  return module ? &modules_[static_cast<std::size_t>(module - core_.modules().data())] : nullptr;
}

/// A page that could be written need not have the file's bytes; if the kernel left it out, it had. In a
/// truncated core nobody knows.
std::span<const std::byte> CoreSpace::from_file(std::uint64_t address) {
  const elf::MemoryRange* range = core_.range_at(address);
  if (range && range->flags & elf::pf_w && core_.truncated()) return {};
  Module* module = mapped_module(address);
  return module ? module->file_bytes_at(address) : std::span<const std::byte>{};
}

std::span<const std::byte> CoreSpace::view(std::uint64_t address) {
  const auto bytes = core_.bytes_at(address);
  return bytes.empty() ? from_file(address) : bytes;
}

/// What NT_ARM_PAC_MASK says; without it, all bits that no mapping needs are taken for authentication codes.
std::uint64_t CoreSpace::code_address_mask() {
  if (!abi().signs_return_addresses) return ~std::uint64_t{0};
  for (const elf::CoreThread& thread : core_.threads())
    if (thread.code_pac_mask) return ~thread.code_pac_mask;
  constexpr int fewest_address_bits = 39; // the smallest address space of AArch64 Linux
  int bits = fewest_address_bits;
  for (const elf::MemoryRange& range : core_.memory())
    bits = std::max(bits, static_cast<int>(std::bit_width(range.address)));
  return bits < 64 ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{0};
}

bool CoreSpace::is_code(std::uint64_t address) {
  if (const elf::MemoryRange* range = core_.range_at(address)) return range->flags & elf::pf_x;
  // Some cores have no segment for clean file pages at all.
  Module* module = mapped_module(address);
  return module && module->is_code(address);
}

} // namespace sframe::walk
