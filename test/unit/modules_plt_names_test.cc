// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of linker-generated stubs. The addresses are those that llvm-objdump -d shows as <leaf@plt>; where it
// shows none (.plt.sec, .plt.got, s390x), those of the entry with the number of the relocation that
// llvm-readelf -r shows, after PLT0: of 16 bytes on AMD64, 32 on s390x.

#include "inputs.h"
#include "made_up_space.h"

#include "sframe/modules/address_names.h"
#include "sframe/modules/module.h"
#include "sframe/modules/symbols.h"
#include "sframe/names/demangle.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace modules_plt_names_test {

using namespace sframe;
using namespace sframe::modules;
using namespace sframe::test;

struct Stub {
  std::uint64_t address;
  std::string name;
};
struct File {
  const char* abi;
  const char* path;
  std::uint64_t plt0; ///< has no name
  std::vector<Stub> stubs;
};

const std::vector<File>& files() {
  static const std::vector<File> all = {
      {"amd64",
       "amd64/v3-gas247.so",
       0x490,
       {{0x4a0, "frame_fp"},
        {0x4b0, "leaf"},
        {0x4c0, "frame_sp"},
        {0x4d0, "extern_b"},
        {0x4f0, "extern_got"}}},
      {"amd64",
       "amd64/v3-gas247-ibtplt.so",
       0x490,
       {{0x4f0, "extern_got"}, {0x500, "frame_fp"}, {0x510, "leaf"}, {0x520, "frame_sp"}}},
      {"amd64",
       "amd64/v3-lld22-concat.so",
       0x1f70,
       {{0x1f80, "leaf"}, {0x1f90, "frame_fp"}, {0x1fa0, "extern_a"}}},
      {"aarch64",
       "aarch64/v3-gas247.so",
       0x440,
       {{0x460, "frame_fp"}, {0x470, "leaf"}, {0x480, "extern_b"}, {0x490, "extern_a"}}},
      {"aarch64_be",
       "aarch64_be/v3-lld22-concat.so",
       0x1af0,
       {{0x1b10, "leaf"}, {0x1b20, "frame_fp"}, {0x1b30, "extern_a"}, {0x1b40, "extern_b"}}},
      {"s390x",
       "s390x/v3-gas247.so",
       0x490,
       {{0x4b0, "leaf"}, {0x4d0, "frame_sp"}, {0x4f0, "extern_b"}, {0x510, "extern_a"}}},
      {"s390x",
       "s390x/v3-lld22-concat.so",
       0x1af0,
       {{0x1b10, "leaf"}, {0x1b30, "frame_sp"}, {0x1b50, "extern_a"}, {0x1b70, "extern_b"}}},
  };
  return all;
}

constexpr std::uint64_t bias = 0x7f0000000000;

TEST(ModulesPltNames, OfAllAbis) {
  for (const File& file : files()) {
    ModuleInfo info;
    info.path = info.file = (inputs() / file.path).string();
    info.start = bias;
    info.end = bias + 0x5000;
    info.bias = bias;
    const FileOptions options;
    NoBytes nothing;
    Module module(info, *find_abi(std::string_view(file.abi)), options, nothing);
    ElfSymbols symbols;
    for (const Stub& stub : file.stubs)
      for (const std::uint64_t into : {0u, 4u}) {
        const std::uint64_t pc = bias + stub.address + into;
        const auto found = symbols.find(module, pc, pc);
        ASSERT_TRUE(found) << file.path << ' ' << stub.name;
        EXPECT_EQ(found->name, stub.name + "@plt") << file.path;
        EXPECT_EQ(found->symbol, stub.name + "@plt");
        EXPECT_EQ(found->offset, into) << file.path << ' ' << stub.name;
      }
    EXPECT_FALSE(symbols.find(module, bias + file.plt0, bias + file.plt0)) << file.path;
  }
}

TEST(ModulesPltNames, AreDemangled) {
  EXPECT_EQ(names::demangle("_ZN3Foo3barEi@plt"), "Foo::bar(int)@plt");
  EXPECT_EQ(names::demangle("malloc@plt"), "malloc@plt");
  EXPECT_EQ(names::demangle("@plt"), "@plt");
}

/// An address space with one module.
class OneModule final : public ModuleSpace {
public:
  OneModule(ModuleInfo info, const AbiTraits& abi)
      : abi_(abi), module_(std::move(info), abi, options_, nothing_) {}
  const AbiTraits& abi() const override { return abi_; }
  std::span<const std::byte> view(std::uint64_t) override { return {}; }
  bool is_code(std::uint64_t) override { return true; }
  Module* module_at(std::uint64_t address) override {
    return module_.info().contains(address) ? &module_ : nullptr;
  }

private:
  const AbiTraits& abi_;
  FileOptions options_;
  NoBytes nothing_;
  Module module_;
};

// frame_fp is [0x4fb, 0x50b) in the file, after leaf: a return address at its start is of a call in leaf.
TEST(ModulesAddressNames, ModuleFunctionAndKind) {
  ModuleInfo info;
  info.path = info.file = (inputs() / "amd64/v3-gas247.so").string();
  info.start = bias;
  info.end = bias + 0x3000;
  info.bias = bias;
  OneModule space(info, amd64);
  AddressNames names(space, AddressNames::Lines::no);
  const AddressName at = names.find(bias + 0x4fc, AddressKind::instruction);
  ASSERT_TRUE(at.module && at.function);
  EXPECT_EQ(at.function->name, "frame_fp");
  EXPECT_EQ(at.function->offset, 1u);
  EXPECT_EQ(at.module_offset, 0x4fcu);
  EXPECT_EQ(at.file_address, 0x4fcu);
  EXPECT_EQ(address_text(at, bias + 0x4fc), "frame_fp + 0x1  (v3-gas247.so)");
  const AddressName before = names.find(bias + 0x4fb, AddressKind::return_address);
  ASSERT_TRUE(before.function);
  EXPECT_EQ(before.function->name, "leaf");
  EXPECT_EQ(before.function->offset, 3u);
  const AddressName nameless = names.find(bias + 0x490, AddressKind::instruction);
  EXPECT_FALSE(nameless.function);
  EXPECT_EQ(address_text(nameless, bias + 0x490), "(v3-gas247.so + 0x490)");
  const AddressName outside = names.find(0x1234, AddressKind::instruction);
  EXPECT_EQ(outside.module, nullptr);
  EXPECT_EQ(address_text(outside, 0x1234), "0x1234");
}

} // namespace modules_plt_names_test
