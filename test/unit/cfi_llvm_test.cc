// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks rows against LLVM: its DWARF library reads the same bytes, and every rule of every row must be
// equal. The bytes are those of this system's programs and libraries, and random programs that use every
// instruction.
//
// The comparison removes known differences in form, not in meaning. LLVM gives a row for an advance by 0 (the
// later one applies) and for an advance to the end of the range, and ends .eh_frame at its terminator.

#include "cfi_assembler.h"
#include "inputs.h"
#include "sframe/cfi/rows.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDataExtractor.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugFrame.h"
#include "llvm/DebugInfo/DWARF/LowLevel/DWARFUnwindTable.h"
#include "llvm/Object/ELFObjectFile.h"
#include "gtest/gtest.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <random>

namespace cfi_llvm_test {

using namespace sframe;
using namespace sframe::cfi;
using cfi::Fde;
namespace dwarf = llvm::dwarf;
using Location = dwarf::UnwindLocation;

constexpr std::uint32_t aarch64_ra_sign_state = 34;

std::span<const std::byte> bytes_of(llvm::StringRef text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

bool same_bytes(const Location& theirs, std::span<const std::byte> ours) {
  const auto expression = theirs.getDWARFExpressionBytes();
  return expression && std::ranges::equal(bytes_of(expression->getData()), ours);
}

/// LLVM keeps offsets in 32 bits.
bool same_offset(std::int32_t theirs, std::int64_t ours) {
  return theirs == static_cast<std::int32_t>(ours);
}

bool same_cfa(const Location& theirs, const FullRow& row) {
  switch (row.cfa.kind) {
  case CfaRule::Kind::unspecified: return theirs.getLocation() == Location::Unspecified;
  case CfaRule::Kind::register_offset:
    return theirs.getLocation() == Location::RegPlusOffset && theirs.getRegister() == row.cfa.number &&
           same_offset(theirs.getOffset(), row.cfa.offset) && !theirs.getDereference();
  case CfaRule::Kind::expression:
    return theirs.getLocation() == Location::DWARFExpr && same_bytes(theirs, row.expression(row.cfa));
  }
  return false;
}

bool same_rule(const std::optional<Location>& theirs, const RegisterRule& rule, const FullRow& row) {
  using Kind = RegisterRule::Kind;
  if (!theirs) return rule.kind == Kind::unspecified;
  const auto where = theirs->getLocation();
  switch (rule.kind) {
  case Kind::unspecified: return where == Location::Unspecified;
  case Kind::undefined: return where == Location::Undefined;
  case Kind::same: return where == Location::Same;
  case Kind::offset:
  case Kind::val_offset:
    return where == Location::CFAPlusOffset && theirs->getDereference() == (rule.kind == Kind::offset) &&
           same_offset(theirs->getOffset(), rule.offset);
  case Kind::reg: return where == Location::RegPlusOffset && theirs->getRegister() == rule.number;
  case Kind::expression:
  case Kind::val_expression:
    return where == Location::DWARFExpr && theirs->getDereference() == (rule.kind == Kind::expression) &&
           same_bytes(*theirs, row.expression(rule));
  }
  return false;
}

bool same_row(const dwarf::UnwindRow& theirs, const FullRow& ours, bool aarch64) {
  if (theirs.getAddress() != ours.begin || !same_cfa(theirs.getCFAValue(), ours)) return false;
  const auto& locations = theirs.getRegisterLocations();
  for (std::uint32_t reg = 0; reg < AllRegisters::slots; ++reg) {
    if (aarch64 && reg == aarch64_ra_sign_state) continue;
    if (!same_rule(locations.getRegisterLocation(reg), ours.rule(reg), ours)) return false;
  }
  if (!aarch64) return true;
  const auto state = locations.getRegisterLocation(aarch64_ra_sign_state);
  const int wanted = (ours.ra_signed ? 1 : 0) | (ours.ra_signed_with_pc ? 2 : 0);
  return (state ? state->getConstant() : 0) == wanted;
}

/// The rows that hold somewhere: LLVM's list without those of no extent.
std::vector<const dwarf::UnwindRow*> with_extent(const dwarf::UnwindTable& table, std::uint64_t end) {
  std::vector<const dwarf::UnwindRow*> rows;
  for (const auto& row : table) {
    if (!rows.empty() && rows.back()->getAddress() == row.getAddress()) rows.pop_back();
    if (row.getAddress() < end) rows.push_back(&row);
  }
  return rows;
}

/// The rows of one FDE by both engines of ours and by LLVM; the number of rows compared.
std::uint64_t compare_fde(const CfiSection& section, const Fde& fde, const dwarf::FDE& theirs, bool aarch64) {
  EXPECT_EQ(fde.start, theirs.getInitialLocation());
  EXPECT_EQ(fde.size, theirs.getAddressRange());
  auto table = dwarf::createUnwindTable(&theirs);
  FullRowCursor cursor(section, fde);
  MinimalRowCursor core_cursor(section, fde);
  FullRow row;
  MinimalRow core;
  std::uint64_t compared = 0, next = fde.start;
  if (!table) {
    llvm::consumeError(table.takeError());
    while (cursor.next(row)) {
    }
    EXPECT_TRUE(cursor.error()) << "LLVM refuses the FDE at 0x" << std::hex << fde.offset;
    return 0;
  }
  const auto rows = with_extent(*table, fde.end());
  while (cursor.next(row)) {
    EXPECT_EQ(row.begin, next);
    EXPECT_LT(row.begin, row.end);
    next = row.end;
    if (compared >= rows.size() || !same_row(*rows[compared], row, aarch64)) {
      ADD_FAILURE() << "FDE at 0x" << std::hex << fde.offset << ": row at 0x" << row.begin << " differs";
      return compared;
    }
    ++compared;
    const bool cored = core_cursor.next(core);
    EXPECT_TRUE(cored && core.begin == row.begin && core.end == row.end && core.cfa == row.cfa &&
                core.ra() == row.ra() && core.rule(section.abi().fp) == row.rule(section.abi().fp) &&
                core.rule(section.abi().sp) == row.rule(section.abi().sp) && core.ra_signed == row.ra_signed);
  }
  EXPECT_FALSE(cursor.error()) << message(cursor.error()->kind) << " at 0x" << std::hex
                               << cursor.error()->offset;
  EXPECT_FALSE(core_cursor.next(core));
  EXPECT_EQ(next, fde.end());
  EXPECT_EQ(compared, rows.size());
  return compared;
}

struct Counts {
  std::uint64_t fdes = 0, rows = 0;
};

Counts compare_section(const CfiSection& section, const llvm::DWARFDebugFrame& theirs, bool aarch64) {
  std::map<std::uint64_t, const dwarf::FDE*> by_offset;
  for (const auto& entry : theirs)
    if (const auto* fde = llvm::dyn_cast<dwarf::FDE>(&entry)) by_offset[fde->getOffset()] = fde;
  Counts counts;
  for (auto fdes = section.fdes();;) {
    const auto fde = fdes.next();
    if (!fde) {
      ADD_FAILURE() << message(fde.error().kind) << " at 0x" << std::hex << fde.error().offset;
      continue;
    }
    if (!*fde) break;
    const auto match = by_offset.find((*fde)->offset);
    if (match == by_offset.end()) {
      EXPECT_TRUE((*fde)->after_terminator) << "LLVM has no FDE at 0x" << std::hex << (*fde)->offset;
      continue;
    }
    ++counts.fdes;
    counts.rows += compare_fde(section, **fde, *match->second, aarch64);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GE(counts.fdes, by_offset.size());
  return counts;
}

Counts compare_file(const std::string& path) {
  auto binary = llvm::object::ObjectFile::createObjectFile(path);
  if (!binary) {
    llvm::consumeError(binary.takeError());
    ADD_FAILURE() << "not an object file: " << path;
    return {};
  }
  const auto* elf = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(binary->getBinary());
  const AbiTraits* abi =
      find_abi(elf->getEMachine(), elf->isLittleEndian() ? ByteOrder::little : ByteOrder::big);
  Counts total;
  const auto context = llvm::DWARFContext::create(*elf);
  for (const auto& part : elf->sections()) {
    const llvm::StringRef name = llvm::cantFail(part.getName());
    const bool eh = name == ".eh_frame";
    if (!eh && name != ".debug_frame") continue;
    auto frame = eh ? context->getEHFrame() : context->getDebugFrame();
    const CfiSection section(eh ? SectionKind::eh_frame : SectionKind::debug_frame,
                             bytes_of(llvm::cantFail(part.getContents())), part.getAddress(), *abi);
    const Counts counts =
        compare_section(section, *llvm::cantFail(std::move(frame)), abi->signs_return_addresses);
    total.fdes += counts.fdes;
    total.rows += counts.rows;
  }
  return total;
}

class SystemBinary : public testing::TestWithParam<const char*> {};

TEST_P(SystemBinary, RowsAreLlvms) {
  const std::string path = GetParam();
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not on this system";
  const Counts counts = compare_file(path);
  std::printf("  %s: %llu FDEs, %llu rows compared\n", path.c_str(),
              static_cast<unsigned long long>(counts.fdes), static_cast<unsigned long long>(counts.rows));
  EXPECT_GT(counts.rows, 0u);
}

INSTANTIATE_TEST_SUITE_P(Cfi, SystemBinary,
                         testing::Values("/usr/bin/bash", "/usr/bin/git", "/usr/bin/python3", "/usr/bin/perl",
                                         "/usr/bin/gdb", "/usr/bin/ld.bfd", "/usr/bin/cmake",
                                         "/usr/bin/openssl", "/usr/lib/x86_64-linux-gnu/libc.so.6",
                                         "/usr/lib/x86_64-linux-gnu/libm.so.6",
                                         "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
                                         "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                         "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
                                         "/usr/lib/x86_64-linux-gnu/libLLVM.so.22.1"),
                         [](const auto& test) {
                           std::string name = std::filesystem::path(test.param).filename().string();
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

/// The linked images of test/inputs: the ABIs that this system's programs do not have. (In a relocatable
/// object addresses are 0 until relocations are applied, which is not this library's work.)
class LinkedInputs : public testing::TestWithParam<const char*> {};

TEST_P(LinkedInputs, RowsAreLlvms) {
  const std::string folder = (test::inputs() / GetParam()).string();
  Counts total;
  for (const char* ending : {".so", "-pie"})
    for (const auto& path : test::inputs_ending(ending)) {
      if (!path.string().starts_with(folder + '/')) continue;
      SCOPED_TRACE(path.string());
      const Counts counts = compare_file(path.string());
      total.fdes += counts.fdes;
      total.rows += counts.rows;
    }
  std::printf("  %s: %llu FDEs, %llu rows compared\n", GetParam(),
              static_cast<unsigned long long>(total.fdes), static_cast<unsigned long long>(total.rows));
  EXPECT_GT(total.rows, 0u);
}

INSTANTIATE_TEST_SUITE_P(Cfi, LinkedInputs, testing::Values("amd64", "aarch64", "aarch64_be", "s390x"),
                         [](const auto& test) { return std::string(test.param); });

/// Random instructions, of which most are valid where they stand.
class RandomProgram {
public:
  RandomProgram(unsigned seed, bool aarch64) : random_(seed), aarch64_(aarch64) {}

  void initial(test::Bytes& out) {
    // The first defines the CFA; the others may be anything but advances and restores.
    out.u8(0x0c).uleb(below(40)).uleb(below(300));
    for (unsigned i = below(4); i--;) definition(out);
  }

  void instructions(test::Bytes& out) {
    unsigned depth = 0;
    for (unsigned i = below(40); i--;) {
      switch (below(10)) {
      case 0: out.u8(0x40 | below(16)); break;
      case 1: out.u8(0x02).u8(below(4)); break;
      case 2: out.u8(0x03).u16(below(300)); break;
      case 3: out.u8(0x04).u32(below(300)); break;
      case 4:
        if (depth < 8) out.u8(0x0a), ++depth;
        break;
      case 5:
        if (depth) out.u8(0x0b), --depth;
        break;
      case 6: below(2) ? out.u8(0xc0 | reg(64)) : out.u8(0x06).uleb(reg(110)); break;
      default: definition(out);
      }
    }
  }

private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
  /// LLVM keeps AArch64's signing state as a rule of its pseudo-register, which plain rules then must leave
  /// alone.
  unsigned reg(unsigned limit) {
    const unsigned number = below(limit);
    return number == aarch64_ra_sign_state ? 0 : number;
  }
  std::int64_t small() { return static_cast<std::int64_t>(below(2000)) - 1000; }

  void block(test::Bytes& out) {
    const unsigned size = below(5);
    out.uleb(size);
    for (unsigned i = 0; i < size; ++i) out.u8(0x30 + below(32));
  }

  void definition(test::Bytes& out) {
    switch (below(19)) {
    case 0: out.u8(0x80 | reg(64)).uleb(below(1000)); break;
    case 1: out.u8(0x05).uleb(reg(110)).uleb(below(1000)); break;
    case 2: out.u8(0x07).uleb(reg(110)); break;
    case 3: out.u8(0x08).uleb(reg(110)); break;
    case 4: out.u8(0x09).uleb(reg(110)).uleb(below(200)); break;
    case 5: out.u8(0x0c).uleb(below(40)).uleb(below(1000)); break;
    // Changes of half a CFA rule are valid only after a whole one.
    case 6: out.u8(0x0c).uleb(1).uleb(8).u8(0x0d).uleb(below(200)); break;
    case 7: out.u8(0x0c).uleb(2).uleb(8).u8(0x0e).uleb(below(1000)); break;
    case 8: out.u8(0x0f), block(out); break;
    case 9: out.u8(0x10).uleb(reg(110)), block(out); break;
    case 10: out.u8(0x11).uleb(reg(110)).sleb(small()); break;
    case 11: out.u8(0x12).uleb(below(40)).sleb(small()); break;
    case 12: out.u8(0x0c).uleb(3).uleb(8).u8(0x13).sleb(small()); break;
    case 13: out.u8(0x14).uleb(reg(110)).uleb(below(1000)); break;
    case 14: out.u8(0x15).uleb(reg(110)).sleb(small()); break;
    case 15: out.u8(0x16).uleb(reg(110)), block(out); break;
    case 16: out.u8(0x2e).uleb(below(1000)); break;
    case 17:
      if (aarch64_) out.u8(0x2d);
      break;
    default: out.u8(0x00);
    }
  }

  std::mt19937 random_;
  bool aarch64_;
};

struct Flavour {
  const char* name;
  Abi abi;
  llvm::Triple::ArchType arch;
  SectionKind kind;
  bool dwarf64;
};

class RandomCfi : public testing::TestWithParam<Flavour> {};

TEST_P(RandomCfi, RowsAreLlvms) {
  const Flavour& flavour = GetParam();
  const ByteOrder order = traits(flavour.abi).byte_order;
  const bool aarch64 = traits(flavour.abi).signs_return_addresses;
  Counts total;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RandomProgram program(seed, aarch64);
    test::CfiAssembler assembler(flavour.kind, order, flavour.dwarf64);
    test::Bytes cie = assembler.body();
    cie.u8(3).text("").uleb(seed % 5 + 1).sleb(seed % 2 ? -8 : 4).uleb(traits(flavour.abi).ra);
    program.initial(cie);
    const std::size_t at = assembler.cie(cie);
    test::Bytes fde = assembler.body();
    fde.u64(0x1000).u64(0x100000);
    program.instructions(fde);
    assembler.fde(at, fde);
    const llvm::StringRef text(reinterpret_cast<const char*>(assembler.bytes().get().data()),
                               assembler.bytes().size());
    llvm::DWARFDebugFrame theirs(flavour.arch, flavour.kind == SectionKind::eh_frame);
    llvm::DWARFDataExtractor data(text, order == ByteOrder::little, 8);
    ASSERT_FALSE(static_cast<bool>(theirs.parse(data)));
    const Counts counts = compare_section(assembler.section(flavour.abi), theirs, aarch64);
    total.fdes += counts.fdes;
    total.rows += counts.rows;
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_EQ(total.fdes, 2000u);
  EXPECT_GT(total.rows, 5000u);
}

INSTANTIATE_TEST_SUITE_P(
    Cfi, RandomCfi,
    testing::Values(
        Flavour{"amd64_eh_frame", Abi::amd64, llvm::Triple::x86_64, SectionKind::eh_frame, false},
        Flavour{"amd64_eh_frame_64", Abi::amd64, llvm::Triple::x86_64, SectionKind::eh_frame, true},
        Flavour{"amd64_debug_frame_64", Abi::amd64, llvm::Triple::x86_64, SectionKind::debug_frame, true},
        Flavour{"aarch64_debug_frame", Abi::aarch64_little, llvm::Triple::aarch64, SectionKind::debug_frame,
                false},
        Flavour{"s390x_eh_frame", Abi::s390x, llvm::Triple::systemz, SectionKind::eh_frame, false}),
    [](const auto& test) { return test.param.name; });

} // namespace cfi_llvm_test
