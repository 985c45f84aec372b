// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/remote/targets.h"

#include "sframe/bytes.h"

#include <algorithm>

namespace sframe::remote {

Result<std::unique_ptr<CoreTarget>> CoreTarget::open(const std::string& path, modules::FileOptions files) {
  auto core = process::open_core(path, std::move(files));
  if (!core) return unexpected(core.error());
  return std::unique_ptr<CoreTarget>(new CoreTarget(std::move(*core)));
}

void CoreTarget::select_thread(std::size_t number) {
  if (number < process().threads().size()) thread_ = number;
}

Result<void> CoreTarget::add_file(std::uint64_t address, const std::string& path) {
  const core::MemoryRange* range = core().range_at(address);
  if (!range) return fail("the core has no mapping at " + hex(address));
  if (auto file = elf::File::open_regular(path); !file) return unexpected(file.error());
  modules::ModuleInfo info;
  if (const modules::Module* module = space().module_at(address)) {
    info = module->info();
  } else { // the core does not have the file offset of the memory
    info.start = info.header_address = range->start;
    info.end = range->start + range->size;
    info.mappings.push_back({info.start, info.end, 0});
  }
  info.path = info.file = path;
  added_.emplace_back(std::move(info), abi(), no_options_, process().space());
  return {};
}

modules::Module* CoreTarget::module_at(std::uint64_t address, void*) {
  const auto named = std::ranges::find_if(
      added_, [&](const modules::Module& module) { return module.info().contains(address); });
  return named != added_.end() ? &*named : space().module_at(address);
}

std::size_t CoreTarget::read_memory(std::uint64_t address, std::span<std::byte> out, void* arg) {
  const std::size_t read = space().read(address, out);
  if (read || added_.empty()) return read;
  modules::Module* module = module_at(address, arg);
  const auto bytes = module ? module->file_bytes_at(address) : std::span<const std::byte>{};
  const std::size_t size = std::min(bytes.size(), out.size());
  std::ranges::copy(bytes.first(size), out.begin());
  return size;
}

RemoteStatus CoreTarget::access_memory(std::uint64_t address, std::uint64_t& value, bool write, void* arg) {
  if (write) return RemoteStatus::invalid;
  std::array<std::byte, sizeof value> word;
  if (read_memory(address, word, arg) != word.size()) return RemoteStatus::invalid;
  value = load<std::uint64_t>(word.data(), abi().byte_order);
  return RemoteStatus::ok;
}

RemoteStatus CoreTarget::access_register(std::uint16_t reg, std::uint64_t& value, bool write, void*) {
  if (write || process().threads().empty()) return RemoteStatus::invalid;
  const unwind::Registers& registers = process().threads()[thread_].registers;
  const auto found = reg == unwind::pc_register ? std::optional(registers.pc) : registers.get(reg);
  if (!found) return RemoteStatus::bad_register;
  value = *found;
  return RemoteStatus::ok;
}

std::uint64_t CoreTarget::vector_granule(void*) {
  if (process().threads().empty()) return 0;
  return process().threads()[thread_].registers.get(unwind::Registers::vector_granule).value_or(0);
}

bool CoreTarget::is_code(std::uint64_t address, void*) {
  return space().is_code(address);
}

std::uint64_t CoreTarget::code_address_mask(const AbiTraits&, void*) {
  return space().code_address_mask();
}

} // namespace sframe::remote
