// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine's real libraries and programs: at each boundary of a CFI row the generated section agrees with
// the CFI, or the address is listed as left out; other versions agree or list it.

#include <sframe/cfi/frame_row.h>
#include <sframe/cfi/index.h>
#include <sframe/convert.h>
#include <sframe/elf/file.h>
#include <sframe/generate/from_cfi.h>
#include <sframe/index.h>

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <link.h>
#include <set>

namespace sframe::generate {
namespace generate_system_test {

/// The libraries of this process, and programs that are there.
std::vector<std::string> files() {
  std::set<std::string> found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        if (info->dlpi_name[0] == '/') static_cast<std::set<std::string>*>(out)->insert(info->dlpi_name);
        return 0;
      },
      &found);
  for (const char* program : {"bash", "ls", "tar", "gzip", "sed", "grep", "find", "python3", "perl", "git"})
    if (const auto path = std::filesystem::path("/usr/bin") / program; std::filesystem::is_regular_file(path))
      found.insert(path.string());
  return {found.begin(), found.end()};
}

/// The generated section in one version, ready for questions.
struct Generated {
  Report report;
  std::vector<std::byte> bytes;
  Index index;

  Generated(const CfiInput& input, const Options& options) {
    auto [builder, made] = from_cfi(input, options);
    report = std::move(made);
    auto finished = builder.finish(0);
    EXPECT_TRUE(finished.has_value());
    if (finished) bytes = std::move(*finished);
    const auto section = Section::parse(bytes, 0);
    EXPECT_TRUE(section.has_value());
    if (!section) return;
    EXPECT_FALSE(section->check_index());
    auto built = Index::build({&*section, 1});
    EXPECT_TRUE(built.has_value());
    if (built) index = std::move(*built);
  }

  bool left_out(std::uint64_t pc) const {
    const auto after = std::ranges::upper_bound(report.left_out, pc, {}, &LeftOut::start);
    if (after == report.left_out.begin()) return false;
    const LeftOut& range = *std::prev(after);
    return pc - range.start < range.size;
  }
};

/// The CFI row as a FrameRow for one address: of a PLT's expression, what it comes to there.
expected<FrameRow, cfi::Unrepresentable> expected_row(cfi::MinimalRow row, std::uint64_t pc,
                                                      const AbiTraits& abi) {
  auto converted = cfi::to_frame_row(row, abi);
  if (converted || converted.error() != cfi::Unrepresentable::cfa_plt) return converted;
  const auto plt = *cfi::plt_cfa(row.expression(row.cfa), abi);
  const int step = (pc & plt.mask) >= plt.threshold ? plt.step : 0;
  row.cfa = {cfi::CfaRule::Kind::register_offset, plt.base, plt.offset + step};
  return cfi::to_frame_row(row, abi);
}

struct Counts {
  std::uint64_t addresses = 0, left_out = 0;
};

void compare_at(std::uint64_t pc, const cfi::MinimalRow& row, const AbiTraits& abi,
                const Generated& generated, bool all_sayable, Counts& counts) {
  ++counts.addresses;
  const auto want = expected_row(row, pc, abi);
  const IndexedRow* got = generated.index.find(pc);
  if (!got) {
    ++counts.left_out;
    ASSERT_TRUE(generated.left_out(pc)) << std::hex << pc;
    if (all_sayable) {
      ASSERT_FALSE(want) << std::hex << pc;
    }
    return;
  }
  ASSERT_FALSE(generated.left_out(pc)) << std::hex << pc;
  ASSERT_TRUE(want) << std::hex << pc;
  ASSERT_TRUE(got->row.same_rules(*want)) << std::hex << pc << " cfa " << rule_text(got->row.cfa, abi, true)
                                          << " instead of " << rule_text(want->cfa, abi, true);
}

/// Compares at the first and last address of each CFI row.
Counts compare(const CfiInput& input, const Generated& generated, bool all_sayable) {
  Counts counts;
  const cfi::CfiSection& section = input.sections.front();
  const auto owners = cfi::FdeIndex::build(section);
  cfi::FdeCursor fdes = section.fdes();
  for (;;) {
    const auto fde = fdes.next();
    if (!fde) continue;
    if (!*fde) break;
    cfi::MinimalRowCursor rows(section, **fde);
    for (cfi::MinimalRow row; rows.next(row);)
      for (const std::uint64_t pc : {row.begin, row.end - 1}) {
        if (owners->find(pc)->offset != (*fde)->offset) continue;
        compare_at(pc, row, *input.abi, generated, all_sayable, counts);
        if (testing::Test::HasFatalFailure()) return counts;
      }
  }
  return counts;
}

class GenerateSystem : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    auto opened = elf::File::open(GetParam());
    ASSERT_TRUE(opened.has_value());
    file = std::make_unique<elf::File>(std::move(*opened));
    auto parsed = elf::Image::parse(file->bytes());
    ASSERT_TRUE(parsed.has_value());
    image = std::move(*parsed);
    auto found = CfiInput::from_image(*image);
    if (!found || found->sections.empty()) GTEST_SKIP() << "no CFI";
    input = std::move(*found);
  }
  std::unique_ptr<elf::File> file;
  std::optional<elf::Image> image;
  CfiInput input;
};

TEST_P(GenerateSystem, EachRowIsRepresentedOrHasReason) {
  for (const bool share : {false, true}) {
    const Generated generated(input, {.share_rows = share, .wanted = {}});
    const Counts counts = compare(input, generated, true);
    EXPECT_GT(counts.addresses, 0u);
    const Report& report = generated.report;
    EXPECT_TRUE(report.faults.empty());
    EXPECT_EQ(report.functions.total,
              report.functions.converted + report.functions.partial + report.functions.skipped);
    std::uint64_t left = 0;
    for (const LeftOut& range : report.left_out) left += range.size;
    EXPECT_EQ(report.pc_bytes.total - report.pc_bytes.covered, left);
    EXPECT_GT(report.pc_bytes.percent(), 90); // hand-written assembly uses other expressions
  }
}

TEST_P(GenerateSystem, OtherVersionsMatchOrRefuse) {
  for (const VersionNumber version : {VersionNumber::v2, VersionNumber::v1}) {
    const Generated generated(input, {.version = version, .wanted = {}});
    const Counts counts = compare(input, generated, false);
    EXPECT_GT(counts.addresses, counts.left_out);
  }
}

/// What is generated in a version is what re-encoding the version 3 section gives: the same bytes are
/// covered, by the same rows.
TEST_P(GenerateSystem, ReencodedRowsAreTheSame) {
  const Generated three(input, {});
  const auto section = Section::parse(three.bytes, 0);
  const auto two = sframe::convert(
      {&*section, 1},
      {.version = VersionNumber::v2, .abi = input.abi->id, .byte_order = {}, .aux_header = {}}, 0);
  ASSERT_TRUE(two.has_value());
  const auto back = Section::parse(two->bytes, 0);
  ASSERT_TRUE(back.has_value());
  const auto index = Index::build({&*back, 1});
  ASSERT_TRUE(index.has_value());
  const Generated direct(input, {.version = VersionNumber::v2, .wanted = {}});
  const auto covered = [](const Section& some) {
    std::vector<AddressRange> ranges;
    for (std::uint32_t i = 0; i < some.num_fdes(); ++i)
      if (const auto fde = some.fde(i)) ranges.push_back({fde->start, fde->size});
    return AddressSet(std::move(ranges));
  };
  const auto direct_section = Section::parse(direct.bytes, 0);
  ASSERT_TRUE(direct_section.has_value());
  const AddressSet ours = covered(*back), theirs = covered(*direct_section);
  EXPECT_EQ(ours.size(), theirs.size());
  EXPECT_EQ(ours.size_in_common(theirs), theirs.size());
  for (std::uint32_t i = 0; i < back->num_fdes(); ++i) {
    const auto fde = back->fde(i);
    RowCursor rows = back->rows(*fde);
    for (FrameRow row; rows.next(row);) {
      const IndexedRow* original = three.index.find(fde->start + row.offset);
      ASSERT_TRUE(original && original->row.same_rules(row)) << std::hex << fde->start + row.offset;
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).filename();
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(Generate, GenerateSystem, testing::ValuesIn(files()), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GenerateSystem);

} // namespace generate_system_test
} // namespace sframe::generate
