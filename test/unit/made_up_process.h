// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process of any ABI made of blocks of memory, with libraries that have symbols and nothing else.

#pragma once

#include "cfi_assembler.h"
#include "elf_builder.h"

#include "sframe/modules/module.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::test {

class MadeUpProcess : public modules::ModuleSpace, public modules::ByteSource {
public:
  explicit MadeUpProcess(Abi abi) : abi_(traits(abi)) {}

  const AbiTraits& abi() const override { return abi_; }
  std::span<const std::byte> view(std::uint64_t address) override {
    const auto block = block_of(address);
    if (block == blocks_.end()) return {};
    return std::span<const std::byte>(block->second).subspan(address - block->first);
  }
  std::span<const std::byte> memory_at(std::uint64_t address) override { return view(address); }
  bool is_code(std::uint64_t) override { return false; }
  modules::Module* module_at(std::uint64_t address) override {
    for (modules::Module& module : modules_)
      if (!module.generated() && address - module.info().start < module.info().end - module.info().start)
        return &module;
    return nullptr;
  }
  Budget* budget() override { return files_.budget.get(); }

  /// In the process's byte order.
  Bytes bytes() const { return Bytes(abi_.byte_order); }
  void put(std::uint64_t address, const Bytes& bytes) { blocks_[address] = bytes.get(); }
  void put(std::uint64_t address, std::vector<std::byte> bytes) { blocks_[address] = std::move(bytes); }
  void words(std::uint64_t address, std::initializer_list<std::uint64_t> values) {
    Bytes bytes(abi_.byte_order);
    for (const std::uint64_t value : values) bytes.u64(value);
    put(address, bytes);
  }
  /// Changes a number in a block.
  void set(std::uint64_t address, std::uint64_t value, unsigned size = 8) {
    const auto block = block_of(address);
    Bytes number(abi_.byte_order);
    number.number(value, size);
    for (unsigned i = 0; i < size; ++i) block->second.at(address - block->first + i) = number.get()[i];
  }

  static constexpr unsigned object_symbol = 0x11, function_symbol = 0x12; ///< global ones
  static constexpr std::uint64_t library_size = 0x1000;
  /// An image with symbols of 24 bytes, by name and address. It is taken from memory like the vdso.
  void add_library(std::string path, const std::vector<std::pair<std::string_view, std::uint64_t>>& symbols,
                   std::uint64_t at, unsigned kind = object_symbol) {
    Writer names(abi_.byte_order);
    names.text("", 1);
    std::vector<std::byte> table(24);
    for (const auto& [name, value] : symbols) {
      const auto entry =
          symbol(static_cast<std::uint32_t>(names.bytes.size()), kind, 1, value, 24, abi_.byte_order);
      table.insert(table.end(), entry.begin(), entry.end());
      names.text(name, name.size() + 1);
    }
    put(at, TestElf{.order = abi_.byte_order,
                    .type = elf::et_dyn,
                    .machine = abi_.machine,
                    .sections = {{.name = ".text",
                                  .flags = elf::shf_alloc | elf::shf_execinstr,
                                  .address = at,
                                  .bytes = std::vector<std::byte>(library_size)},
                                 {.name = ".symtab",
                                  .type = elf::sht_symtab,
                                  .bytes = table,
                                  .link = 3,
                                  .info = 1,
                                  .entsize = 24},
                                 {.name = ".strtab", .type = elf::sht_strtab, .bytes = names.bytes}},
                    .segments = {}}
                .build());
    modules::ModuleInfo info;
    info.path = std::move(path);
    info.vdso = true;
    info.start = at;
    info.end = at + library_size;
    info.bias = 0;
    info.header_address = at;
    modules_.emplace_back(std::move(info), abi_, files_, *this);
  }

  modules::FileOptions& files() { return files_; }
  std::deque<modules::Module>& modules() { return modules_; }

protected:
  modules::FileOptions files_{.open_files = false, .sysroot = {}, .executable = {}, .sframe_dir = {}};
  std::deque<modules::Module> modules_;

private:
  /// The block that contains the address.
  std::map<std::uint64_t, std::vector<std::byte>>::iterator block_of(std::uint64_t address) {
    const auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return blocks_.end();
    const auto block = std::prev(after);
    return address - block->first < block->second.size() ? block : blocks_.end();
  }

  const AbiTraits& abi_;
  std::map<std::uint64_t, std::vector<std::byte>> blocks_;
};

} // namespace sframe::test
