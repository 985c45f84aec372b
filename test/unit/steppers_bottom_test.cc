// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The outermost frame of a stack that no table marks: a frame in the function at the program's entry point,
// if symbols give that function's start.

#include "elf_builder.h"
#include "made_up_space.h"

#include "sframe/modules/module.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

namespace steppers_bottom_test {

using namespace sframe;
using namespace sframe::test;

/// A program with the functions `_start` at 0x1000 and `main` at 0x1100, 0x100 bytes each.
std::vector<std::byte> program(std::uint64_t entry) {
  Writer symbols;
  symbols.zeros(24);
  for (const std::uint64_t number : {0, 1}) // global functions in section 1
    symbols.u32(1 + 7 * number).number(0x12, 1).number(0, 1).u16(1).u64(0x1000 + 0x100 * number).u64(0x100);
  TestElf elf;
  elf.type = elf::et_exec;
  elf.sections.push_back({".text", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, 0x1000,
                          std::vector<std::byte>(0x200)});
  elf.sections.push_back({".symtab", elf::sht_symtab, 0, 0, symbols.bytes, 3, 1, 24});
  elf.sections.push_back(
      {".strtab", elf::sht_strtab, 0, 0, Writer().number(0, 1).text("_start", 7).text("main", 5).bytes});
  auto bytes = elf.build();
  constexpr std::size_t entry_at = 24; // e_entry
  for (unsigned i = 0; i < 8; ++i) bytes[entry_at + i] = std::byte(entry >> 8 * i);
  return bytes;
}

class OneModule final : public MadeUpSpace {
public:
  explicit OneModule(Module& module) : module_(module) {}
  RuleSource* rules_at(std::uint64_t) override { return &module_; }

private:
  Module& module_;
};

/// Whether a frame at `pc` is the outermost one in a program with that entry point.
bool is_bottom(std::uint64_t entry, std::uint64_t pc) {
  const auto bytes = program(entry);
  const int fd = ::memfd_create("program", MFD_CLOEXEC);
  EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const FileOptions files;
  NoBytes nothing;
  ModuleInfo info;
  info.path = info.file = path;
  info.main = true;
  info.end = 0x2000;
  info.bias = 0;
  Module module(info, amd64, files, nothing);
  EXPECT_TRUE(module.image()) << module.file().problem();
  OneModule space(module);
  Memory memory(space);
  FrameState frame, caller;
  frame.registers = start(pc, 0x7000);
  const StepResult result = make_bottom_stepper(&module)->step(frame, memory, caller);
  ::close(fd);
  return result.status == StepStatus::bottom;
}

TEST(BottomStepper, IsTheFunctionAtTheEntryPoint) {
  EXPECT_TRUE(is_bottom(0x1000, 0x1000));
  EXPECT_TRUE(is_bottom(0x1000, 0x10ff));
  EXPECT_FALSE(is_bottom(0x1000, 0x1100));
  EXPECT_FALSE(is_bottom(0x1000, 0x1300)) << "in no function";
}

// The entry point is a place in a function, not a function: others may have called that.
TEST(BottomStepper, IgnoresEntryInsideSymbol) {
  EXPECT_FALSE(is_bottom(0x1010, 0x1010));
  EXPECT_FALSE(is_bottom(0x1010, 0x1000));
  EXPECT_FALSE(is_bottom(0x3000, 0x1000));
}

} // namespace steppers_bottom_test
