// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The readers that exist, as models (reader_models.h), against the library: the same rules at every address
// of sections that they accept, and their profiles in sframe-verify against what the models do with damaged
// sections.

#include "inputs.h"
#include "reader_models.h"

#include <sframe/abi.h>
#include <sframe/convert.h>
#include <sframe/elf/file.h>
#include <sframe/elf/image.h>
#include <sframe/generate/from_cfi.h>
#include <sframe/readers/readers.h>
#include <sframe/section.h>
#include <sframe/verify/input.h>
#include <sframe/verify/profile.h>
#include <sframe/verify/structure.h>

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace sframe::test {
namespace verify_readers_test {

using Bytes = std::vector<std::byte>;
using readers::Reader;

/// A section in memory.
struct Sample {
  std::string name;
  Bytes bytes;
  std::uint64_t address = 0;
  AddressRange text{0, ~std::uint64_t{0}};
};

const AbiTraits& abi_of(const Bytes& bytes) {
  return *find_abi(static_cast<std::uint8_t>(bytes.at(4)));
}

/// What a model does with a section, as a whole and by address.
class Model {
public:
  Model(const Reader& reader, const Sample& sample, const AbiTraits& abi) {
    if (reader.name == "glibc")
      glibc_.emplace(sample.bytes, sample.address, abi);
    else
      linux_.emplace(sample.bytes, sample.address, abi, sample.text);
  }

  bool accepts() const { return linux_ ? linux_->accepts() : glibc_->accepts(); }
  bool accepts_always() const { return linux_ ? linux_->validates() : glibc_->accepts(); }
  ReaderAnswer find(std::uint64_t pc) const { return linux_ ? linux_->find(pc) : glibc_->find(pc); }

  /// True if the reader does what the section states: `ours` is the library's row, or nothing.
  bool agrees(const ReaderAnswer& theirs, const std::optional<FrameRow>& ours) const {
    using Kind = ReaderAnswer::Kind;
    if (theirs.kind == Kind::nothing) return !ours || (linux_ && ours->is_outermost());
    // The return address is in a register: only a signal's frame has such rows, and DWARF CFI helps there.
    if (theirs.kind == Kind::discards) return ours && ours->ra.kind == Rule::Kind::same;
    if (theirs.kind != Kind::rules || !ours) return false;
    return theirs.row.cfa == ours->cfa && theirs.row.ra == ours->ra && theirs.row.fp == ours->fp;
  }

private:
  std::optional<LinuxReader> linux_;
  std::optional<GlibcReader> glibc_;
};

std::string text(const std::optional<FrameRow>& row, const AbiTraits& abi) {
  if (!row) return "nothing";
  if (row->is_outermost()) return "outermost";
  return rule_text(row->cfa, abi, true) + " ra " + rule_text(row->ra, abi) + " fp " + rule_text(row->fp, abi);
}

std::string text(const ReaderAnswer& answer, const AbiTraits& abi) {
  constexpr const char* names[] = {"", "nothing", "discards", "refuses", "breaks"};
  return answer.kind == ReaderAnswer::Kind::rules ? text(std::optional(answer.row), abi)
                                                  : names[static_cast<int>(answer.kind)];
}

/// The first, the last and the next address of every row, in the first two blocks of PCMASK functions.
std::vector<std::uint64_t> boundaries(const Section& section) {
  std::vector<std::uint64_t> all;
  const auto add = [&](std::uint64_t address) { all.insert(all.end(), {address - 1, address, address + 1}); };
  std::uint64_t rows_left = section.plausible_rows();
  for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
    const auto fde = section.fde(i);
    if (!fde) continue;
    add(fde->start);
    add(fde->start + fde->size);
    RowCursor rows = section.rows(*fde);
    for (EncodedRow row; rows_left && rows.next(row); --rows_left) {
      add(fde->start + row.offset);
      if (fde->pc_type == PcType::mask) add(fde->start + fde->rep_size + row.offset);
    }
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// The addresses to compare: boundaries and some others. Not further than 2 GiB from the section, where a
/// damaged start may be; glibc counts in 32 bits.
std::vector<std::uint64_t> addresses(const Section& section, std::uint32_t others) {
  auto all = boundaries(section);
  const auto is_far = [&](std::uint64_t pc) { return pc - section.address() + 0x80000000 > 0xffffffff; };
  all.erase(std::remove_if(all.begin(), all.end(), is_far), all.end());
  if (all.empty()) return all;
  std::mt19937 random(section.num_fdes());
  const std::uint64_t first = all.front(), reach = std::clamp<std::uint64_t>(all.back() - first, 1, 1 << 30);
  for (; others; --others) all.push_back(first + random() % reach);
  return all;
}

std::string hex_text(std::uint64_t number) {
  std::ostringstream out;
  out << std::hex << "0x" << number;
  return out.str();
}

/// The first difference between model and library, if there is any.
std::optional<std::string> difference(const Model& model, const Section& section,
                                      std::span<const std::uint64_t> pcs, std::uint64_t* compared = nullptr) {
  for (const std::uint64_t pc : pcs) {
    const auto match = section.find(pc);
    if (!match) continue; // an error of the structure
    std::optional<FrameRow> ours;
    if (*match) {
      ours = resolve_fixed((*match)->row, section.header().fixed_ra_offset, section.header().fixed_fp_offset);
      ours->offset = 0;
    }
    if (compared) ++*compared;
    if (const auto theirs = model.find(pc); !model.agrees(theirs, ours))
      return hex_text(pc) + ": reader: " + text(theirs, section.abi()) +
             ", section: " + text(ours, section.abi());
  }
  return std::nullopt;
}

/// The checks with findings of severity error.
class Errors : public verify::Sink {
public:
  void add(verify::Finding finding) override {
    const verify::Check& check = verify::check(finding.id);
    all_.insert(std::string(check.name));
    if (check.severity == verify::Severity::error) errors_.insert(std::string(check.name));
  }
  bool any(char letter) const {
    return std::ranges::any_of(errors_, [&](const std::string& id) { return id.front() == letter; });
  }
  bool has(const char* id) const { return all_.contains(id); }
  std::string text() const {
    std::string out;
    for (const std::string& id : errors_) out += id + " ";
    return out;
  }

private:
  std::set<std::string> all_, errors_;
};

Errors verify_sample(const Sample& sample, const Reader& reader, const elf::Image* image = nullptr) {
  Errors errors;
  verify::Input::Sources sources{.image = image,
                                 .sframe_image = nullptr,
                                 .raw = sample.bytes,
                                 .raw_address = sample.address,
                                 .use_raw = image == nullptr,
                                 .debug_image = nullptr,
                                 .cfi = false,
                                 .budget = nullptr,
                                 .progress = {}};
  const auto input = verify::Input::load(sources);
  EXPECT_TRUE(input) << sample.name;
  if (!input) return errors;
  verify::check_structure(*input, errors);
  verify::check_profile(*input, reader, errors);
  return errors;
}

const Reader& reader_named(const char* name) {
  return *readers::find_reader(name);
}

constexpr const char* readers[] = {"linux", "glibc"};

bool ends(const std::string& name, std::initializer_list<const char*> with) {
  return std::ranges::any_of(with, [&](const char* suffix) { return name.ends_with(suffix); });
}

/// All linked files of test/inputs.
std::vector<std::filesystem::path> linked_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& path : inputs_ending(""))
    if (ends(path.filename().string(), {".so", "-static", "-pie"})) files.push_back(path);
  return files;
}

/// The whole executable mapping with the section's functions.
AddressRange text_of(const elf::Image& image) {
  for (const elf::Segment& segment : image.segments())
    if (segment.type == elf::pt_load && segment.flags & elf::pf_x)
      return {segment.address, segment.memory_size};
  return {};
}

/// Calls use(file, image, sample) for the section of each linked file.
template <class Use> void for_each_linked(const Use& use) {
  for (const auto& path : linked_files()) {
    const Bytes file = read_file(path);
    const auto image = elf::Image::parse(file);
    if (!image || !image->abi()) continue;
    for (const auto& table : image->sframe_tables()) {
      const auto contents = image->contents(table);
      if (!contents || !Section::parse(contents->bytes())) continue;
      const std::span<const std::byte> bytes = contents->bytes();
      use(*image, Sample{path.parent_path().filename().string() + "/" + path.filename().string(),
                         Bytes(bytes.begin(), bytes.end()), table.address, text_of(*image)});
    }
  }
}

/// The section that sframe-gen --for=READER writes for a file; empty if there is none.
Bytes made_for(const Reader& reader, const elf::Image& image, std::uint64_t address) {
  const auto cfi = generate::CfiInput::from_image(image);
  if (!cfi || cfi->sections.empty()) return {};
  generate::Options options;
  options.version = reader.version;
  options.share_rows = image.abi()->byte_order == ByteOrder::little;
  options.return_addresses = reader.exact_lookup;
  options.usable = reader.rows;
  const auto conversion = generate::from_cfi(*cfi, options);
  if (conversion.builder.num_fdes() == 0) return {};
  auto bytes = conversion.builder.finish(address);
  EXPECT_TRUE(bytes);
  return bytes ? *bytes : Bytes();
}

// Producers' sections, where the reader reads their version: what has no finding is read as it is meant, and
// what is refused or misread has one.
TEST(VerifyReaders, Fixtures) {
  std::uint64_t sections = 0, compared = 0, misread = 0;
  for_each_linked([&](const elf::Image& image, const Sample& sample) {
    for (const char* name : readers) {
      const Reader& reader = reader_named(name);
      const auto section = Section::parse(sample.bytes, sample.address);
      ASSERT_TRUE(section);
      const Model model(reader, sample, section->abi());
      const Errors errors = verify_sample(sample, reader, &image);
      const bool accepted = model.accepts_always() && image.find_segment(elf::pt_gnu_sframe);
      const auto wrong = accepted ? difference(model, *section, addresses(*section, 200), &compared)
                                  : std::optional("refused");
      EXPECT_EQ(wrong.has_value(), errors.any('P') || (wrong && errors.any('S')))
          << name << " " << sample.name << ": " << wrong.value_or("agrees") << "; found: " << errors.text();
      ++sections;
      misread += wrong.has_value();
    }
  });
  EXPECT_GT(sections, 50u);
  EXPECT_GT(sections - misread, 5u);
  EXPECT_GT(compared, 1000u) << sections << " " << misread;
}

// Generated sections are accepted and read as they are meant.
TEST(VerifyReaders, GeneratedSections) {
  std::uint64_t sections = 0, compared = 0;
  for_each_linked([&](const elf::Image& image, Sample sample) {
    for (const char* name : readers) {
      const Reader& reader = reader_named(name);
      // glibc has no reader on s390x.
      if (reader.name == "glibc" && image.abi()->id == Abi::s390x) continue;
      sample.bytes = made_for(reader, image, sample.address);
      if (sample.bytes.empty()) continue;
      const auto section = Section::parse(sample.bytes, sample.address);
      ASSERT_TRUE(section) << sample.name;
      const Model model(reader, sample, section->abi());
      EXPECT_TRUE(model.accepts_always()) << name << " " << sample.name;
      EXPECT_EQ(difference(model, *section, addresses(*section, 200), &compared), std::nullopt)
          << name << " " << sample.name;
      EXPECT_EQ(verify_sample(sample, reader).text(), "") << name << " " << sample.name;
      ++sections;
    }
  });
  EXPECT_GT(sections, 50u);
  EXPECT_GT(compared, 20000u);
}

/// Sections to damage: producers' and generated ones that are sound.
std::vector<Sample> samples_for(const Reader& reader) {
  std::vector<Sample> samples;
  const auto add = [&](const Sample& sample) {
    if (!sample.bytes.empty() && sample.bytes.size() < 4000 && !verify_sample(sample, reader).any('P'))
      samples.push_back(sample);
  };
  for_each_linked([&](const elf::Image& image, Sample sample) {
    if (reader.name == "glibc" && image.abi()->id == Abi::s390x) return;
    sample.text = {0, ~std::uint64_t{0}};
    add(sample);
    sample.name += " generated";
    sample.bytes = made_for(reader, image, sample.address);
    add(sample);
  });
  return samples;
}

class Damaged : public testing::TestWithParam<const char*> {};

// One byte is changed at a time. Whatever the reader refuses or misreads has an error, of the structure or of
// the profile; and an error of the profile alone stands for something that the reader refuses or misreads.
// The structure's own errors are stricter than the readers, as the specification is.
TEST_P(Damaged, NoFalseAcceptNoFalseRefuse) {
  const Reader& reader = reader_named(GetParam());
  const auto samples = samples_for(reader);
  ASSERT_GT(samples.size(), 10u);
  std::mt19937 random(20261123);
  std::uint64_t mutants = 0, refused = 0, by_profile = 0, stricter = 0, failures = 0;
  while (mutants < 20000 && failures < 20) {
    Sample sample = samples[random() % samples.size()];
    const AbiTraits& abi = abi_of(sample.bytes);
    // Half of the mutants are in the header and the first functions, where most fields are.
    const std::size_t reach =
        random() % 2 ? sample.bytes.size() : std::min<std::size_t>(100, sample.bytes.size());
    const std::size_t at = random() % reach;
    const auto change = static_cast<std::byte>(random() % 4 ? 1U << random() % 8 : 1 + random() % 255);
    if (at == 4) continue; // the ABI: the section of another machine
    sample.bytes[at] ^= change;
    ++mutants;

    const Model model(reader, sample, abi);
    const auto section = Section::parse(sample.bytes, sample.address);
    const Errors errors = verify_sample(sample, reader);
    std::optional<std::string> wrong;
    if (!model.accepts_always())
      wrong = "refused";
    else if (section)
      wrong = difference(model, *section, addresses(*section, 20));
    else
      ASSERT_TRUE(errors.any('S'));
    const bool structure = errors.any('S'), profile = errors.any('P');
    refused += wrong.has_value();
    by_profile += profile && !structure;
    stricter += structure && !wrong;
    const bool right = wrong ? structure || profile : structure || !profile;
    failures += !right;
    EXPECT_TRUE(right) << sample.name << " " << hex_text(at) << " to "
                       << hex_text(static_cast<unsigned>(sample.bytes[at])) << ": "
                       << wrong.value_or("agrees") << "; found: " << errors.text();
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(by_profile, 50u);
  RecordProperty("mutants", static_cast<int>(mutants));
  RecordProperty("refused or misread", static_cast<int>(refused));
  RecordProperty("errors of the profile alone", static_cast<int>(by_profile));
  RecordProperty("errors of the structure in what the reader reads", static_cast<int>(stricter));
}

INSTANTIATE_TEST_SUITE_P(VerifyReaders, Damaged, testing::ValuesIn(readers),
                         [](const auto& reader) { return std::string(reader.param); });

} // namespace verify_readers_test
} // namespace sframe::test
