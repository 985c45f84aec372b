// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as the memory of a process that registers generated code: the first byte selects the ABI
// and the interface, the others are at `base`. They start with libunwind's list, libsframe-jit's, gdb's or
// the function that returns the address of libunwind's; a library has the symbol of the latter three. Each
// word in them is used as an address: its module, row and name are looked up. A row must be valid for that
// address, and reading the same memory again must find nothing new. Then a bit is changed, and all is asked
// again.

#include "cost.h"

#include "elf_builder.h"

#include "sframe/modules/dynamic_code.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace dynamic_fuzzer {

namespace {

using namespace sframe;

constexpr std::uint64_t base = 0x10000, library = 0x1000, library_size = 0x1000;
constexpr std::uint64_t max_questions = 200;

/// An image with a symbol for `base`.
std::vector<std::byte> make_library(const AbiTraits& abi, std::string_view symbol) {
  test::Writer names(abi.byte_order);
  names.text("", 1).text(symbol, symbol.size() + 1);
  std::vector<std::byte> table(24);
  const auto entry = test::symbol(1, 0x11, 1, base, 64, abi.byte_order);
  table.insert(table.end(), entry.begin(), entry.end());
  return test::TestElf{
      .order = abi.byte_order,
      .type = elf::et_dyn,
      .machine = abi.machine,
      .sections =
          {{.name = ".symtab", .type = elf::sht_symtab, .bytes = table, .link = 2, .info = 1, .entsize = 24},
           {.name = ".strtab", .type = elf::sht_strtab, .bytes = names.bytes}},
      .segments = {}}
      .build();
}

void require(bool condition) {
  if (!condition) std::abort();
}

class Bytes final : public modules::ModuleSpace, public modules::ByteSource {
public:
  Bytes(const AbiTraits& abi, std::span<const std::byte> bytes, std::string_view symbol)
      : abi_(abi), bytes_(bytes.begin(), bytes.end()), generated_(*this, files_, *this, modules_) {
    if (symbol.empty()) {
      generated_.add_dyn_info_list(base);
      return;
    }
    library_ = make_library(abi, symbol);
    modules::ModuleInfo info{.path = "library", .file = {}, .vdso = true, .start = library};
    info.end = library + library_size;
    info.bias = 0;
    info.header_address = library;
    modules_.emplace_back(std::move(info), abi_, files_, *this);
  }
  const AbiTraits& abi() const override { return abi_; }
  std::span<const std::byte> view(std::uint64_t address) override {
    if (address - library < library_.size()) return std::span(library_).subspan(address - library);
    return address >= base && address - base < bytes_.size() ? std::span(bytes_).subspan(address - base)
                                                             : std::span<const std::byte>{};
  }
  std::span<const std::byte> memory_at(std::uint64_t address) override { return view(address); }
  bool is_code(std::uint64_t) override { return true; }
  modules::Module* module_at(std::uint64_t address) override {
    if (!library_.empty() && address - library < library_size) return &modules_.front();
    return generated_.module_at(address);
  }
  modules::DynamicCode& generated() { return generated_; }
  /// The place is selected by the last byte.
  void change_bit() {
    if (!bytes_.empty())
      bytes_[bytes_.size() * std::to_integer<std::size_t>(bytes_.back()) / 256] ^= std::byte{1};
  }

private:
  const AbiTraits& abi_;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> library_;
  modules::FileOptions files_{.open_files = false};
  std::deque<modules::Module> modules_;
  modules::DynamicCode generated_;
};

void ask(Bytes& space, std::uint64_t words) {
  unwind::Memory memory(space);
  unwind::CfiMatch answer;
  for (std::uint64_t i = 0; i < std::min(words, max_questions); ++i) {
    const auto address = memory.word(base + i * 8);
    modules::Module* module = address ? space.module_at(*address) : nullptr;
    if (!module || (!module->generated() && *address < base)) continue;
    require(module->generated());
    const modules::LinkAddress link = module->link(*address);
    if (module->tables().find_cfi(link, answer)) require(answer.row.begin < answer.row.end);
    (void)module->tables().find_sframe(link);
    (void)module->symbols().find(link);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  constexpr Abi abis[] = {Abi::amd64, Abi::aarch64_little, Abi::aarch64_big, Abi::s390x};
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  constexpr std::string_view symbols[] = {"", "sframe_jit_list", "__jit_debug_descriptor",
                                          "_U_dyn_info_list_addr"};
  Bytes space(traits(abis[data[0] % std::size(abis)]), bytes.subspan(1), symbols[data[0] >> 6]);
  for (const bool again : {false, true}) {
    ask(space, size / 8);
    if (again) break;
    require(!space.generated().refresh());
    space.change_bit();
    space.generated().refresh();
  }
  require(!space.generated().refresh());
  return 0;
}

} // namespace dynamic_fuzzer
