// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The AArch64 decoder compared with LLVM's disassembler, on real programs and on random words, which cover
// every class of the instruction set.
//
// If LLVM is built without this target, the test is skipped.

#ifdef SFRAME_TEST_LLVM_MC

#  include "code_second_opinion.h"
#  include "inputs.h"
#  include "sframe/abi.h"

#  include <algorithm>
#  include <array>
#  include <random>

extern "C" {
void LLVMInitializeAArch64TargetInfo();
void LLVMInitializeAArch64TargetMC();
void LLVMInitializeAArch64Disassembler();
}

namespace code_aarch64_llvm_test {

using namespace sframe;
using code::Flow;
using test::Opinion;

constexpr std::uint8_t sp = 31;

class Aarch64AgainstLlvm : public testing::Test {
protected:
  static void SetUpTestSuite() {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64Disassembler();
  }

  void SetUp() override {
    if (!decoder_) GTEST_SKIP() << "no decoder";
  }

  test::SecondOpinion llvm_{"aarch64-linux-gnu", "", "+all", sp, false};
  std::unique_ptr<code::Decoder> decoder_ = code::make_decoder(traits(Abi::aarch64_little));
  std::uint64_t compared_ = 0;

  static bool starts_with_any(const std::string& name, std::initializer_list<const char*> prefixes) {
    return std::ranges::any_of(prefixes, [&](const char* prefix) { return name.starts_with(prefix); });
  }

  /// The flow that LLVM's properties of an instruction mean.
  static bool same_flow(const Opinion& theirs, const code::Instruction& ours) {
    switch (ours.flow) {
    case Flow::next: return !theirs.is_branch && !theirs.is_call && !theirs.is_return;
    case Flow::jump: return theirs.is_branch && !theirs.is_indirect; // b.al is conditional to LLVM
    case Flow::branch: return theirs.is_branch && !theirs.is_indirect && !theirs.is_barrier;
    case Flow::indirect_jump: return theirs.is_branch && theirs.is_indirect;
    case Flow::call: return theirs.is_call && theirs.target.has_value();
    case Flow::indirect_call: return theirs.is_call && !theirs.target;
    case Flow::ret: return theirs.is_return;
    case Flow::stop: return starts_with_any(theirs.name, {"BRK", "HLT", "UDF", "ERET", "DRPS"});
    default: return false;
    }
  }

  static bool is_direct(Flow flow) {
    return flow == Flow::jump || flow == Flow::branch || flow == Flow::call;
  }

  /// Where ours writes more on purpose: results of the kernel; a return address that is authenticated before
  /// the return. Where LLVM reports too little (sysl) or ours does not look as closely (rcw...).
  static bool may_write_more(const std::string& name) {
    return starts_with_any(name, {"SVC", "HVC", "SMC", "CHKFEAT", "RETA", "SYSL", "RCW"});
  }

  /// The field Rn.
  static unsigned base_of(std::span<const std::byte> bytes) {
    return (std::to_integer<unsigned>(bytes[0]) >> 5 | std::to_integer<unsigned>(bytes[1]) << 3) & 31;
  }

  /// Stores of tags, which are outside the memory; exclusive loads, which LLVM counts in; those
  /// that leave SP unknown; those of SVE and SME, whose
  /// addresses count in vector lengths.
  static bool may_store_nothing(const std::string& name, std::span<const std::byte> bytes) {
    const bool is_scalable = (std::to_integer<unsigned>(bytes[3]) & 0x1a) == 0;
    return is_scalable ||
           (starts_with_any(name, {"STG", "ST2G", "LDG", "LDX", "LDAX", "STILP", "STLRWpre", "STLRXpre"}) &&
            !starts_with_any(name, {"STGPi", "STGPp"}));
  }

  void compare(std::span<const std::byte> bytes, std::uint64_t address) {
    const auto theirs = llvm_.decode(bytes, address);
    if (!theirs) return;
    ++compared_;
    const auto ours = test::decode(*decoder_, bytes, address);
    const std::string what = theirs->name + " " + test::digits(bytes);
    ASSERT_TRUE(ours.ok) << what;
    EXPECT_EQ(ours.instruction.length, theirs->length) << what;
    EXPECT_TRUE(same_flow(*theirs, ours.instruction)) << what << " flow " << int(ours.instruction.flow);
    if (theirs->target && is_direct(ours.instruction.flow)) {
      EXPECT_EQ(ours.instruction.target, *theirs->target) << what;
    }
    EXPECT_EQ(theirs->written & ~ours.written(), 0u) << what << " does not write all";
    if (!may_write_more(theirs->name)) {
      EXPECT_EQ(ours.written() & ~theirs->written, 0u) << what << " writes too much";
    }
    if (theirs->stores_to_sp && base_of(bytes) == sp && !may_store_nothing(theirs->name, bytes)) {
      EXPECT_TRUE(ours.stores_at(sp)) << what;
    }
  }

  void compare_all(std::span<const std::byte> code, std::uint64_t address) {
    for (std::size_t at = 0; at + 4 <= code.size() && !HasFailure(); at += 4)
      compare(code.subspan(at, 4), address + at);
  }
};

TEST_F(Aarch64AgainstLlvm, OnFixtures) {
  for (const auto& path : test::inputs_ending(".so"))
    if (path.parent_path().filename() == "aarch64")
      test::for_each_code_section(path, [this](auto code, auto address) { compare_all(code, address); });
  EXPECT_GT(compared_, 100u);
}

TEST_F(Aarch64AgainstLlvm, OnSystemLibraries) {
  for (const char* name : {"libc.so.6", "libstdc++.so.6"}) {
    const auto path = std::filesystem::path("/usr/aarch64-linux-gnu/lib") / name;
    if (!test::for_each_code_section(path, [this](auto code, auto address) { compare_all(code, address); }))
      GTEST_SKIP() << "no " << path;
  }
  EXPECT_GT(compared_, 500'000u);
}

TEST_F(Aarch64AgainstLlvm, OnRandomWords) {
  constexpr int words = 2'000'000;
  std::mt19937 random(1);
  for (int i = 0; i < words && !HasFailure(); ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    std::array<std::byte, 4> bytes;
    for (unsigned at = 0; at < 4; ++at) bytes[at] = static_cast<std::byte>(bits >> (8 * at));
    compare(bytes, 0x1000'0000);
  }
  EXPECT_GT(compared_, 500'000u);
}

} // namespace code_aarch64_llvm_test

#else

#  include "gtest/gtest.h"

TEST(Aarch64AgainstLlvm, TargetIsAvailable) {
  GTEST_SKIP() << "built without LLVM's disassembler of this target";
}

#endif
