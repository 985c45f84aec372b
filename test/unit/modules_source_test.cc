// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source lines from incomplete DWARF.

#include "elf_builder.h"
#include "made_up_space.h"

#include "sframe/modules/module.h"
#include "sframe/modules/source.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace sframe;
using namespace sframe::test;

// .debug_aranges leads to a unit that is a header and nothing else (DWARF 4, sections 6.1.2 and 7.5.1.1).
TEST(Source, EmptyCompileUnit) {
  TestElf elf;
  elf.type = elf::et_exec;
  elf.sections.push_back({".text", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, 0x1000,
                          std::vector<std::byte>(0x100)});
  elf.sections.push_back(
      {".debug_info", elf::sht_progbits, 0, 0, Writer().u32(7).u16(4).u32(0).number(8, 1).bytes});
  elf.sections.push_back({".debug_abbrev", elf::sht_progbits, 0, 0, Writer().number(0, 1).bytes});
  Writer ranges;
  ranges.u32(44).u16(2).u32(0).number(8, 1).number(0, 1).u32(0).u64(0x1000).u64(0x100).u64(0).u64(0);
  elf.sections.push_back({".debug_aranges", elf::sht_progbits, 0, 0, ranges.bytes});
  const auto bytes = elf.build();
  const int fd = ::memfd_create("program", MFD_CLOEXEC);
  ASSERT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  const FileOptions files;
  NoBytes nothing;
  ModuleInfo info;
  info.path = info.file = "/proc/self/fd/" + std::to_string(fd);
  info.end = 0x2000;
  info.bias = 0;
  Module module(info, amd64, files, nothing);
  modules::DwarfSource source;
  ASSERT_TRUE(module.debug_image());
  EXPECT_FALSE(source.find(module, 0x1010));
  ::close(fd);
}

} // namespace
