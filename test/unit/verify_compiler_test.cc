// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of compilers: DW_AT_producer as compilers write it, .comment, and Go's build information (the layout
// is that of Go's package debug/buildinfo).

#include "compiler_names.h"
#include "elf_builder.h"

#include <gtest/gtest.h>

#include <string>

namespace sframe::verify {
namespace verify_compiler_test {

using From = Compiler::From;

TEST(VerifyCompiler, Producers) {
  EXPECT_EQ(compiler_of_producer("GNU C17 12.2.0 -mtune=generic -O2 -g"), "GNU C17 12.2.0");
  EXPECT_EQ(compiler_of_producer("Debian clang version 19.1.7; -O2"), "Debian clang version 19.1.7");
  EXPECT_EQ(compiler_of_producer("a; b -c"), "a");
  EXPECT_EQ(compiler_of_producer("a -b; c"), "a");
  EXPECT_EQ(compiler_of_producer("Go cmd/compile go1.22.2"), "Go cmd/compile go1.22.2");
  EXPECT_EQ(compiler_of_producer(""), "");
  std::string longest(200, 'x');
  EXPECT_EQ(compiler_of_producer(longest), longest);
  const std::string longer(201, 'x');
  longest += "...";
  EXPECT_EQ(compiler_of_producer(longer), longest);
}

Compiler compiler_of(const std::string& comment, const std::string& build_info) {
  test::TestElf elf;
  elf.type = elf::et_exec;
  elf.sections.push_back({".text", elf::sht_progbits, elf::shf_alloc, 0x1000, std::vector<std::byte>(16)});
  if (!comment.empty())
    elf.sections.push_back({".comment", elf::sht_progbits, 0, 0, test::Writer().text(comment).bytes});
  if (!build_info.empty())
    elf.sections.push_back(
        {".go.buildinfo", elf::sht_progbits, elf::shf_alloc, 0x2000, test::Writer().text(build_info).bytes});
  const auto bytes = elf.build();
  const auto image = elf::Image::parse(bytes);
  EXPECT_TRUE(image);
  return compiler_of_file(*image);
}

TEST(VerifyCompiler, Comments) {
  EXPECT_EQ(compiler_of("", ""), (Compiler{"unknown", From::nothing}));
  EXPECT_EQ(compiler_of(std::string("GCC 12\0", 7), ""), (Compiler{"GCC 12", From::comment}));
  EXPECT_EQ(compiler_of("GCC 12", ""), (Compiler{"GCC 12", From::comment})) << "without an end";
  // Each once, in order; not the linker.
  EXPECT_EQ(compiler_of(std::string("b\0a\0\0b\0Linker: LLD 19\0c\0", 24), "").name, "b, a, c");
  std::string many;
  for (char c = 'a'; c < 'm'; ++c) many += std::string(1, c) + '\0';
  EXPECT_EQ(compiler_of(many, "").name, "a, b, c, d, e, f, g, h");
}

TEST(VerifyCompiler, GoBuildInfo) {
  const auto info = [](char flags, const std::string& version) {
    std::string text = "\xff Go buildinf:";
    text += '\x08';
    text += flags;
    text.resize(32, '\0');
    return text + version;
  };
  const Compiler go{"Go go1.22", From::build_info};
  EXPECT_EQ(compiler_of("", info(2, "\x06go1.22")), go);
  EXPECT_EQ(compiler_of("", info(3, "\x06go1.22 and more")), go);
  EXPECT_EQ(compiler_of("", info(2, "\x01x")).name, "Go x");
  const Compiler none{"unknown", From::nothing};
  EXPECT_EQ(compiler_of("", info(0, "\x06go1.22")), none) << "pointers";
  EXPECT_EQ(compiler_of("", info(2, "\x07go1.22")), none) << "cut";
  EXPECT_EQ(compiler_of("", info(2, "")), none);
  EXPECT_EQ(compiler_of("", info(2, std::string("\0x", 2))), none);
  std::string version(128, 'x');
  version[0] = '\x7f';
  EXPECT_EQ(compiler_of("", info(2, version)).name.size(), 3 + 127u);
  version = std::string(200, 'x');
  version[0] = '\x80';
  EXPECT_EQ(compiler_of("", info(2, version)), none);
  EXPECT_EQ(compiler_of("", "\xff Go build" + std::string(40, '\2')), none);
  EXPECT_EQ(compiler_of(std::string("GCC\0", 4), info(2, "\x06go1.22")),
            (Compiler{"Go go1.22, GCC", From::comment}));
}

} // namespace verify_compiler_test
} // namespace sframe::verify
