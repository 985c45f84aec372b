// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as the memory of a process that registers generated code with libunwind: the first byte
// selects the ABI, the others are at `base` and start with the list. Each word in them is used as an address:
// its module, row and name are looked up. A row must be valid for that address, and reading the same memory
// again must find nothing new.

#include "cost.h"

#include "sframe/modules/dynamic_code.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace {

using namespace sframe;

constexpr std::uint64_t base = 0x10000;
constexpr std::uint64_t max_questions = 200;

void require(bool condition) {
  if (!condition) std::abort();
}

class Bytes final : public modules::ModuleSpace, public modules::ByteSource {
public:
  Bytes(const AbiTraits& abi, std::span<const std::byte> bytes)
      : abi_(abi), bytes_(bytes), generated_(*this, files_, *this, modules_) {
    generated_.add_dyn_info_list(base);
  }
  const AbiTraits& abi() const override { return abi_; }
  std::span<const std::byte> view(std::uint64_t address) override {
    return address >= base && address - base < bytes_.size() ? bytes_.subspan(address - base)
                                                             : std::span<const std::byte>{};
  }
  std::span<const std::byte> memory_at(std::uint64_t address) override { return view(address); }
  bool is_code(std::uint64_t) override { return true; }
  modules::Module* module_at(std::uint64_t address) override { return generated_.module_at(address); }
  modules::DynamicCode& generated() { return generated_; }

private:
  const AbiTraits& abi_;
  std::span<const std::byte> bytes_;
  modules::FileOptions files_{.open_files = false};
  std::deque<modules::Module> modules_;
  modules::DynamicCode generated_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  constexpr Abi abis[] = {Abi::amd64, Abi::aarch64_little, Abi::aarch64_big, Abi::s390x};
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  Bytes space(traits(abis[data[0] % std::size(abis)]), bytes.subspan(1));
  unwind::Memory memory(space);
  unwind::CfiMatch answer;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(size / 8, max_questions); ++i) {
    const auto address = memory.word(base + i * 8);
    modules::Module* module = address ? space.module_at(*address) : nullptr;
    if (!module) continue;
    require(module->generated());
    const std::uint64_t link = *address - module->bias();
    if (module->tables().find_cfi(link, answer)) require(answer.row.begin < answer.row.end);
    module->find_symbol(link);
  }
  require(!space.generated().refresh());
  return 0;
}
