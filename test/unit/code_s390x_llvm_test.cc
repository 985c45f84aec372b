// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The s390x decoder compared with LLVM's disassembler, on real programs and on random instructions of every
// opcode.
//
// If LLVM is built without this target, the test is skipped.

#ifdef SFRAME_TEST_LLVM_MC

#  include "code_second_opinion.h"
#  include "inputs.h"
#  include "sframe/abi.h"

#  include <algorithm>
#  include <array>
#  include <random>
#  include <set>

extern "C" {
void LLVMInitializeSystemZTargetInfo();
void LLVMInitializeSystemZTargetMC();
void LLVMInitializeSystemZDisassembler();
}

namespace code_s390x_llvm_test {

using namespace sframe;
using code::Flow;
using test::Opinion;

constexpr std::uint8_t sp = 15;

class S390xAgainstLlvm : public testing::Test {
protected:
  static void SetUpTestSuite() {
    LLVMInitializeSystemZTargetInfo();
    LLVMInitializeSystemZTargetMC();
    LLVMInitializeSystemZDisassembler();
  }

  void SetUp() override {
    if (!decoder_) GTEST_SKIP() << "no decoder";
  }

  test::SecondOpinion llvm_{"s390x-linux-gnu", "arch15", "", sp, true};
  std::unique_ptr<code::Decoder> decoder_ = code::make_decoder(traits(Abi::s390x));
  std::uint64_t compared_ = 0;

  static bool starts_with_any(const std::string& name, std::initializer_list<const char*> prefixes) {
    return std::ranges::any_of(prefixes, [&](const char* prefix) { return name.starts_with(prefix); });
  }

  /// LLVM counts as calls also what goes to the kernel or to nowhere (a register field of 0), and has no
  /// returns here. What is a nop or a trap by its mask or its target is a branch to it all the same.
  static bool same_flow(const Opinion& theirs, const code::Instruction& ours) {
    const bool branches = theirs.is_branch || theirs.is_call || theirs.is_return;
    switch (ours.flow) {
    case Flow::next:
    case Flow::trap: return !branches || may_stay(theirs);
    case Flow::patchable: return starts_with_any(theirs.name, {"JGNOP", "BRCL"}); // nops to LLVM
    case Flow::jump: return theirs.is_branch || starts_with_any(theirs.name, {"BRAS"});
    case Flow::branch: return theirs.is_branch && !theirs.is_indirect;
    case Flow::indirect_jump:
    case Flow::indirect_branch:
    case Flow::ret:
    case Flow::conditional_return:
      return theirs.is_return || theirs.is_indirect || starts_with_any(theirs.name, {"BCT", "BX", "BSM"});
    case Flow::call: return theirs.is_call;
    case Flow::indirect_call: return theirs.is_call;
    case Flow::stop: return theirs.is_branch || theirs.is_barrier || starts_with_any(theirs.name, {"SVC"});
    }
    return false;
  }
  static bool may_stay(const Opinion& theirs) {
    return theirs.is_branch || starts_with_any(theirs.name, {"SVC", "DIAG", "MC", "BALR", "BASR", "BASSM"});
  }

  /// Where ours writes more on purpose: the link register of calls; results of the kernel; what an executed
  /// instruction may write; all vectors of a range; and where a format does not name its registers.
  static bool may_write_more(const Opinion& theirs) {
    return theirs.is_call ||
           starts_with_any(theirs.name, {"BRAS", "BSM",  "SVC",   "EX",    "VLM",  "TRT",  "CSST", "ECTG",
                                         "EDMK", "STSI", "STFLE", "PFPO",  "NNPA", "PTFF", "UPT",  "TB",
                                         "CFC",  "IPK",  "QPACI", "CMPSC", "LM",   "KI",   "KL",   "PR"});
  }

  /// A register combined with itself, by an instruction that gives it the value that it has.
  static bool leaves_as_it_is(const Opinion& theirs, std::span<const std::byte> bytes) {
    static const std::set<std::string> names = {"LR", "LTR", "NR", "OR", "NGR", "OGR"};
    const auto registers = std::to_integer<unsigned>(bytes[theirs.length - 1]);
    return names.contains(theirs.name) && registers >> 4 == (registers & 15);
  }

  /// What no compiler writes: instructions of kernels, and those with blocks of data of their own layout.
  static bool may_store_nothing(const std::string& name) {
    return starts_with_any(name, {"PLO", "CSST", "MVC", "TBEGIN", "STFL", "STPX", "ST", "QCTRI", "QPACI",
                                  "QSI", "LFPC", "TS", "TB", "PGOUT", "PFD", "TPI"}) &&
           !is_exact_store(name);
  }
  static bool is_exact_store(const std::string& name) {
    static const std::set<std::string> names = {"ST",   "STC",  "STCY",  "STD",   "STDY", "STE",  "STEY",
                                                "STG",  "STH",  "STHY",  "STM",   "STMG", "STMH", "STMY",
                                                "STPQ", "STRV", "STRVG", "STRVH", "STY",  "MVC"};
    return names.contains(name);
  }

  void compare(std::span<const std::byte> bytes, std::uint64_t address) {
    const auto theirs = llvm_.decode(bytes, address);
    if (!theirs) return;
    ++compared_;
    const auto ours = test::decode(*decoder_, bytes, address);
    const std::string what = theirs->name + " " + test::digits(bytes.first(theirs->length));
    ASSERT_TRUE(ours.ok) << what;
    EXPECT_EQ(ours.instruction.length, theirs->length) << what;
    EXPECT_TRUE(same_flow(*theirs, ours.instruction)) << what << " flow " << int(ours.instruction.flow);
    if (!leaves_as_it_is(*theirs, bytes)) {
      EXPECT_EQ(theirs->written & ~ours.written(), 0u) << what << " does not write all";
    }
    if (!may_write_more(*theirs)) {
      EXPECT_EQ(ours.written() & ~theirs->written, 0u) << what << " writes too much";
    }
    if (theirs->stores_to_sp && !may_store_nothing(theirs->name)) {
      EXPECT_TRUE(ours.stores_at(sp)) << what;
    }
  }

  void compare_all(std::span<const std::byte> code, std::uint64_t address) {
    constexpr std::size_t longest = 6;
    for (std::size_t at = 0; at < code.size() && !HasFailure();) {
      const auto bytes = code.subspan(at, std::min(longest, code.size() - at));
      compare(bytes, address + at);
      at += std::max<std::size_t>(test::decode(*decoder_, bytes, address + at).instruction.length, 1);
    }
  }
};

TEST_F(S390xAgainstLlvm, OnFixtures) {
  for (const auto& path : test::inputs_ending(".so"))
    if (path.parent_path().filename() == "s390x")
      test::for_each_code_section(path, [this](auto code, auto address) { compare_all(code, address); });
  EXPECT_GT(compared_, 100u);
}

TEST_F(S390xAgainstLlvm, OnSystemLibraries) {
  const std::filesystem::path path = "/usr/s390x-linux-gnu/lib/libc.so.6";
  if (!test::for_each_code_section(path, [this](auto code, auto address) { compare_all(code, address); }))
    GTEST_SKIP() << "no " << path;
  EXPECT_GT(compared_, 200'000u);
}

TEST_F(S390xAgainstLlvm, OnRandomInstructions) {
  constexpr int instructions = 2'000'000;
  constexpr std::uint8_t short_operands = 0x0f; // many formats have 0 there
  std::mt19937 random(1);
  for (int i = 0; i < instructions && !HasFailure(); ++i) {
    std::array<std::byte, 6> bytes;
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    if (i & 1) bytes[4] &= static_cast<std::byte>(short_operands);
    if (i & 2) bytes[2] &= static_cast<std::byte>(i & 4 ? short_operands : 0);
    if (i & 8) bytes[3] &= static_cast<std::byte>(short_operands & 0);
    compare(bytes, 0x1000'0000);
  }
  EXPECT_GT(compared_, 500'000u);
}

} // namespace code_s390x_llvm_test

#else

#  include "gtest/gtest.h"

TEST(S390xAgainstLlvm, TargetIsAvailable) {
  GTEST_SKIP() << "built without LLVM's disassembler of this target";
}

#endif
