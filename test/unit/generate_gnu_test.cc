// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparison with the GNU tools: the linked files of test/inputs have .eh_frame and .sframe from the same
// assembler run. The section generated from the former must be equivalent to the latter, except for the
// producers' bugs listed in test/inputs/README.md.

#include "inputs.h"

#include <sframe/convert.h>
#include <sframe/elf/file.h>
#include <sframe/elf/symbols.h>
#include <sframe/generate/from_cfi.h>

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace sframe::generate {
namespace generate_gnu_test {

/// A producer's rules for an address, without "fixed".
std::optional<FrameRow> row_at(std::span<const Section> sections, std::uint64_t pc) {
  for (const Section& section : sections)
    if (const auto match = section.find(pc); match && *match)
      return resolve_fixed((*match)->row, section.header().fixed_ra_offset, section.header().fixed_fp_offset);
  return std::nullopt;
}

/// A rule as a person reads it; rows that only differ in their offset are the same.
std::string text(const std::optional<FrameRow>& row, const AbiTraits& abi) {
  if (!row) return "nothing";
  if (row->is_outermost()) return "outermost";
  return rule_text(row->cfa, abi, true) + " ra " + rule_text(row->ra, abi) + " fp " +
         rule_text(row->fp, abi) + (row->ra_signed ? " signed" : "");
}

/// The function, else the section.
std::string place(const elf::Image& image, const elf::SymbolTable& symbols, std::uint64_t pc) {
  if (const auto match = symbols.find(pc)) return std::string(match->symbol->name);
  for (const elf::SectionHeader& section : image.sections())
    if (section.executable() && pc - section.address < section.size) return std::string(section.name);
  return "";
}

/// A difference: where, the GNU tools' rules, the generated rules.
struct Difference {
  std::string where, theirs, ours;
  friend auto operator<=>(const Difference&, const Difference&) = default;
};

/// Differences that test/inputs/README.md explains, and signal frames, which versions 1 and 2 cannot mark and
/// are left out.
struct Known {
  const char *abi, *file, *where, *ours;
};
constexpr Known known[] = {
    // RA undefined is ignored by gas 2.40 and 2.44; version 1 has no mark for it.
    {"", "v1-", "_start", "nothing"},
    {"", "v2-", "_start", "outermost"},
    {"", "v1-", "restorer", "nothing"},
    {"", "v2-", "restorer", "nothing"},
    // ld and x86 PLTs.
    {"amd64", "v1-", ".plt.got", "sp+8 ra [cfa-8] fp same"},
    {"amd64", "v2-", ".plt.got", "sp+8 ra [cfa-8] fp same"},
    {"amd64", "v3-", ".plt.got", "sp+8 ra [cfa-8] fp same"},
    {"amd64", "v1-gas240-ibtplt.so", ".plt.sec", "sp+8 ra [cfa-8] fp same"},
    {"amd64", "v1-gas240-ibtplt.so", ".plt", "sp+16 ra [cfa-8] fp same"},
    // ld makes nothing for the PLTs of AArch64. PLT0 saves RA, but still has it in its register.
    {"aarch64", "v", ".plt", "sp+0 ra same fp same"},
    {"aarch64", "v", ".plt", "sp+16 ra [cfa-8] fp same"},
    // gas 2.47 on amd64 and s390x.
    {"amd64", "v3-gas247-flex.so", "drap_far", "[fp-512] ra [cfa-8] fp [fp+0]"},
    {"amd64", "v3-gas247-flex.so", "outermost_part", "sp+8 ra [cfa-8] fp same"},
    {"amd64", "v3-gas247-flex.so", "sigreturn_like", "[sp+160] ra [sp+168] fp [sp+120]"},
    {"s390x", "v3-gas247-flex.so", "cfa_unaligned", "nothing"},
    // gas drops the whole function; its entry can be represented.
    {"amd64", "v3-gas247-flex.so", "unsayable", "sp+8 ra [cfa-8] fp same"},
};

bool explains(const Known& known, const std::filesystem::path& path, const Difference& difference) {
  return path.string().find(known.abi) != std::string::npos &&
         path.filename().string().starts_with(known.file) && difference.where == known.where &&
         difference.ours == known.ours;
}

std::set<Difference> differences(const std::filesystem::path& path, std::uint64_t& compared) {
  std::set<Difference> out;
  const auto file = elf::File::open(path.string());
  const auto image = elf::Image::parse(file->bytes());
  EXPECT_TRUE(image.has_value()) << path;
  const auto input = CfiInput::from_image(*image);
  if (!input || input->sections.empty()) return out;
  std::vector<Section> theirs;
  std::vector<elf::Contents> storage;
  for (const elf::SframeLocation& table : image->sframe_tables()) {
    storage.push_back(*image->contents(table));
    Concatenated parts(storage.back().bytes(), table.address);
    for (auto part = parts.next(); part && *part; part = parts.next()) theirs.push_back(**part);
  }
  if (theirs.empty()) return out;

  const auto version = static_cast<VersionNumber>(theirs.front().header().version);
  const auto conversion = from_cfi(*input, {.version = version, .wanted = {}});
  const auto bytes = conversion.builder.finish(0);
  EXPECT_TRUE(bytes.has_value()) << path;
  const auto ours = Section::parse(*bytes, 0);
  const auto symbols = elf::SymbolTable::load(*image);
  for (const AddressRange& code : input->code)
    for (std::uint64_t pc = code.start; pc < code.start + std::min<std::uint64_t>(code.size, 4096); ++pc) {
      const auto their_row = row_at(theirs, pc), our_row = row_at({&*ours, 1}, pc);
      ++compared;
      Difference difference{place(*image, symbols, pc), text(their_row, *input->abi),
                            text(our_row, *input->abi)};
      if (difference.theirs != difference.ours) out.insert(std::move(difference));
    }
  return out;
}

TEST(GenerateGnu, MatchesGnuAssembler) {
  std::uint64_t compared = 0;
  std::set<const Known*> met;
  for (const char* suffix : {".so", "-pie", "-static"})
    for (const auto& path : test::inputs_ending(suffix)) {
      if (path.filename().string().find("-gas2") == std::string::npos) continue;
      for (const Difference& difference : differences(path, compared)) {
        const auto* why =
            std::ranges::find_if(known, [&](const Known& k) { return explains(k, path, difference); });
        if (why != std::end(known))
          met.insert(why);
        else
          ADD_FAILURE() << path << ' ' << difference.where << ": " << difference.theirs << " | "
                        << difference.ours;
      }
    }
  EXPECT_GT(compared, 1000u);
  EXPECT_EQ(met.size(), std::size(known)) << "an explanation is no longer needed";
}

} // namespace generate_gnu_test
} // namespace sframe::generate
