// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface to sections: sections of every version, ABI and byte order read, built, converted; what is
// malformed, truncated, NULL, or of another size; and running out of memory. The lit test
// unwind/python/dump.test compares whole sections with sframe-dump.

#include "allocations.h"
#include "inputs.h"

#include "sframe/c/builder.h"
#include "sframe/c/section.h"
#include "sframe/c/version.h"

#include "sframe/optimize.h"
#include "sframe/section.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace c_section_test {

using namespace sframe::test;
using Bytes = std::vector<std::byte>;

template <class T> T sized() {
  T made{};
  made.size = sizeof made;
  return made;
}

struct SectionCloser {
  void operator()(sframe_section* section) const { sframe_section_close(section); }
};
using SectionHandle = std::unique_ptr<sframe_section, SectionCloser>;

SectionHandle open(const Bytes& bytes, std::uint64_t address = 0x10000) {
  return SectionHandle(sframe_section_open(bytes.data(), bytes.size(), address, nullptr));
}

sframe_section_info info_of(const SectionHandle& section) {
  auto info = sized<sframe_section_info>();
  EXPECT_EQ(sframe_section_get_info(section.get(), &info), SFRAME_OK);
  return info;
}

sframe_function function_of(const SectionHandle& section, std::uint32_t number) {
  auto function = sized<sframe_function>();
  EXPECT_EQ(sframe_section_function(section.get(), number, &function, nullptr), SFRAME_OK);
  return function;
}

/// The bytes of all functions.
std::uint64_t function_bytes(const SectionHandle& section) {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < info_of(section).num_functions; ++i) bytes += function_of(section, i).length;
  return bytes;
}

std::vector<sframe_row> rows_of(const SectionHandle& section, const sframe_function& function) {
  std::vector<sframe_row> rows(function.num_rows + 1);
  rows[0].size = sizeof rows[0];
  std::size_t count = 0;
  EXPECT_EQ(
      sframe_section_rows_into(section.get(), function.number, rows.data(), rows.size(), &count, nullptr),
      SFRAME_OK);
  rows.resize(count);
  return rows;
}

bool same(const sframe_rule& a, const sframe_rule& b) {
  return a.kind == b.kind && a.base == b.base && a.offset == b.offset;
}
bool same(const sframe_row& a, const sframe_row& b) {
  return a.offset == b.offset && a.ra_signed == b.ra_signed && same(a.cfa, b.cfa) && same(a.ra, b.ra) &&
         same(a.fp, b.fp);
}

/// Takes bytes that the library made.
Bytes take(void* bytes, std::size_t length) {
  const auto* first = static_cast<const std::byte*>(bytes);
  Bytes taken(first, first + length);
  sframe_free(bytes);
  return taken;
}

Bytes flip(const SectionHandle& section) {
  void* bytes = nullptr;
  std::size_t length = 0;
  EXPECT_EQ(sframe_flip(section.get(), &bytes, &length, nullptr), SFRAME_OK);
  return take(bytes, length);
}

Bytes amd64_v3() {
  return read_file(inputs() / "amd64" / "v3-gas247.sframe");
}

bool is_case(const std::filesystem::path& path) {
  return path.parent_path().filename() == "cases";
}

/// Calls `test` with each well-formed raw section among the inputs.
template <class Test> void each_input(Test&& test) {
  std::size_t tested = 0;
  std::set<std::string> kinds;
  for (const auto& path : inputs_ending(".sframe")) {
    if (is_case(path)) continue;
    SCOPED_TRACE(path.string());
    const Bytes bytes = read_file(path);
    const SectionHandle section = open(bytes);
    ASSERT_TRUE(section);
    const auto info = info_of(section);
    kinds.insert(std::to_string(info.version) + info.abi);
    test(bytes, section);
    ++tested;
  }
  EXPECT_GE(tested, 8u);
  for (const char* kind : {"1amd64", "2amd64", "3amd64", "1aarch64_be", "2aarch64", "3aarch64_be", "3s390x"})
    EXPECT_TRUE(kinds.contains(kind)) << kind;
}

TEST(CSection, VersionIsThatOfTheHeaders) {
  EXPECT_EQ(sframe_version(), std::uint32_t{SFRAME_C_VERSION});
  EXPECT_STREQ(sframe_version_text(), SFRAME_C_VERSION_TEXT);
}

/// A section whose every field is known: the header by hand.
TEST(CSection, ReadsTheHeader) {
  const Bytes bytes = amd64_v3();
  const SectionHandle section = open(bytes, 0x400000);
  const auto info = info_of(section);
  EXPECT_EQ(info.address, 0x400000u);
  EXPECT_EQ(info.length, bytes.size());
  EXPECT_EQ(info.bytes, bytes.data());
  EXPECT_STREQ(info.abi, "amd64");
  EXPECT_EQ(info.byte_order, SFRAME_BYTE_ORDER_LITTLE);
  EXPECT_EQ(info.version, std::to_integer<int>(bytes[2]));
  EXPECT_EQ(info.flags, std::to_integer<int>(bytes[3]));
  EXPECT_EQ(info.fixed_ra_offset, -8);
  EXPECT_EQ(info.num_functions, std::to_integer<std::uint32_t>(bytes[8]));
  EXPECT_EQ(info.num_rows, std::to_integer<std::uint32_t>(bytes[12]));
  EXPECT_EQ(info.aux_header_size, 0u);
  EXPECT_EQ(sframe_section_check(section.get(), nullptr), SFRAME_OK);
}

TEST(CSection, ReadsWhatTheCodecReads) {
  each_input([](const Bytes& bytes, const SectionHandle& section) {
    const auto expected = sframe::Section::parse(bytes, 0x10000);
    ASSERT_TRUE(expected);
    EXPECT_EQ(info_of(section).num_functions, expected->num_fdes());
    for (std::uint32_t number = 0; number < expected->num_fdes(); ++number) {
      const auto fde = expected->fde(number);
      ASSERT_TRUE(fde);
      const sframe_function function = function_of(section, number);
      EXPECT_EQ(function.start, fde->start);
      EXPECT_EQ(function.length, fde->size);
      EXPECT_EQ(function.block_size, fde->pc_type == sframe::PcType::mask ? fde->rep_size : 0u);
      EXPECT_EQ(function.signal_frame, fde->signal_frame);
      EXPECT_EQ(function.rows_offset, fde->rows_offset);
      const auto rows = rows_of(section, function);
      auto cursor = expected->rows(*fde);
      for (const sframe_row& row : rows) {
        sframe::FrameRow want;
        ASSERT_TRUE(cursor.next(want));
        EXPECT_EQ(row.offset, want.offset);
        char text[32];
        ASSERT_EQ(sframe_rule_text(info_of(section).abi, &row.cfa, 1, text, sizeof text), SFRAME_OK);
        EXPECT_EQ(text, sframe::rule_text(want.cfa, expected->abi(), true));
        ASSERT_EQ(sframe_rule_text(info_of(section).abi, &row.ra, 0, text, sizeof text), SFRAME_OK);
        EXPECT_EQ(text, sframe::rule_text(want.ra, expected->abi()));
      }
    }
  });
}

/// Each row is found by an address in it, by the section and by an index.
TEST(CSection, Finds) {
  each_input([](const Bytes&, const SectionHandle& section) {
    const sframe_section* const sections[] = {section.get()};
    sframe_index* index = sframe_index_make(sections, 1, nullptr);
    ASSERT_TRUE(index);
    for (std::uint32_t number = 0; number < info_of(section).num_functions; ++number) {
      const sframe_function function = function_of(section, number);
      if (function.block_size || function.length == 0) continue;
      for (const sframe_row& row : rows_of(section, function)) {
        if (row.offset >= function.length) continue; // at the end: for no address
        auto found = sized<sframe_row>();
        auto in = sized<sframe_function>();
        const std::uint64_t pc = function.start + row.offset;
        ASSERT_EQ(sframe_section_find(section.get(), pc, &in, &found, nullptr), SFRAME_OK);
        EXPECT_EQ(in.number, number);
        EXPECT_TRUE(same(found, row));
        auto match = sized<sframe_index_match>();
        ASSERT_EQ(sframe_index_find(index, pc, &match), SFRAME_OK);
        EXPECT_TRUE(same(match.cfa, row.cfa) && same(match.ra, row.ra) && same(match.fp, row.fp));
        EXPECT_EQ(match.signal_frame, function.signal_frame);
      }
    }
    auto match = sized<sframe_index_match>();
    EXPECT_EQ(sframe_index_find(index, 1, &match), SFRAME_NO_INFO);
    EXPECT_EQ(sframe_section_find(section.get(), 1, nullptr, nullptr, nullptr), SFRAME_NO_INFO);
    sframe_index_free(index);
  });
}

/// The rows come one by one, too, until the callback has enough.
TEST(CSection, RowsByCallback) {
  const Bytes bytes = amd64_v3();
  const SectionHandle section = open(bytes);
  const auto all = rows_of(section, function_of(section, 4));
  ASSERT_GE(all.size(), 2u);
  struct Seen {
    std::vector<sframe_row> rows;
    std::size_t wanted;
  };
  const auto take_row = [](const sframe_row* row, void* data) {
    auto& seen = *static_cast<Seen*>(data);
    EXPECT_EQ(row->size, sizeof *row);
    seen.rows.push_back(*row);
    return static_cast<int>(seen.rows.size() == seen.wanted);
  };
  Seen seen{{}, 100};
  EXPECT_EQ(sframe_section_rows(section.get(), 4, take_row, &seen, nullptr), SFRAME_OK);
  EXPECT_EQ(seen.rows.size(), all.size());
  seen = {{}, 1};
  EXPECT_EQ(sframe_section_rows(section.get(), 4, take_row, &seen, nullptr), SFRAME_STOP);
  EXPECT_EQ(seen.rows.size(), 1u);
  EXPECT_TRUE(same(seen.rows[0], all[0]));
}

/// Reading all functions and building them again gives the same functions and rows; in the other byte order,
/// the flipped section.
TEST(CSection, BuildsWhatItReads) {
  each_input([](const Bytes&, const SectionHandle& section) {
    const auto info = info_of(section);
    auto options = sized<sframe_build_options>();
    options.abi = info.abi;
    options.version = info.version;
    sframe_builder* builder = sframe_builder_make(&options, nullptr);
    ASSERT_TRUE(builder);
    std::vector<sframe_function> functions;
    for (std::uint32_t number = 0; number < info.num_functions; ++number) {
      const sframe_function function = function_of(section, number);
      auto rows = rows_of(section, function);
      while (!rows.empty() && !function.block_size && rows.back().offset >= function.length) rows.pop_back();
      auto error = sized<sframe_error>();
      const auto added = sframe_builder_add(builder, &function, rows.data(), rows.size(), &error);
      if (added == SFRAME_REFUSED)
        continue; // fixed offsets other than the ABI's, rows that no version merges
      ASSERT_EQ(added, SFRAME_OK) << error.message;
      functions.push_back(function);
    }
    void* bytes = nullptr;
    std::size_t length = 0;
    ASSERT_EQ(sframe_builder_finish(builder, info.address, &bytes, &length, nullptr), SFRAME_OK);
    const Bytes built = take(bytes, length);
    sframe_builder_free(builder);
    const SectionHandle again = open(built);
    ASSERT_TRUE(again);
    EXPECT_EQ(info_of(again).num_functions, functions.size());
    for (const sframe_function& function : functions) {
      auto found = sized<sframe_function>();
      if (function.length == 0) continue;
      const auto status = sframe_section_find(again.get(), function.start, &found, nullptr, nullptr);
      if (status == SFRAME_NO_INFO) continue; // the first row is further on
      EXPECT_EQ(found.start, function.start);
      EXPECT_EQ(found.length, function.length);
    }
  });
}

TEST(CSection, FlipsAndConverts) {
  each_input([](const Bytes& bytes, const SectionHandle& section) {
    const auto info = info_of(section);
    const Bytes flipped = flip(section);
    const SectionHandle other = open(flipped);
    ASSERT_TRUE(other);
    EXPECT_NE(info_of(other).byte_order, info.byte_order);
    EXPECT_EQ(flip(other), Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(info.length)));

    for (std::uint32_t version = 1; version <= 3; ++version) {
      auto options = sized<sframe_build_options>();
      options.version = version;
      struct Refused {
        std::uint32_t count = 0;
        std::set<std::uint32_t> functions;
        std::uint64_t bytes = 0;
      } refused;
      const auto note = [](const sframe_refusal* refusal, void* data) {
        EXPECT_TRUE(*refusal->reason && *refusal->text);
        auto& seen = *static_cast<Refused*>(data);
        seen.functions.insert(refusal->function);
        seen.bytes += refusal->left_out_size;
        EXPECT_GE(refusal->left_out_start, refusal->start);
        ++seen.count;
        return 0;
      };
      const sframe_section* const sections[] = {section.get()};
      void* made = nullptr;
      std::size_t length = 0;
      ASSERT_EQ(sframe_convert(sections, 1, &options, info.address, note, &refused, &made, &length, nullptr),
                SFRAME_OK);
      const Bytes converted = take(made, length);
      const SectionHandle result = open(converted);
      ASSERT_TRUE(result);
      EXPECT_EQ(info_of(result).version, version);
      // A function may be split around what is left out; each byte is in one of the two.
      EXPECT_GE(info_of(result).num_functions + refused.functions.size(), info.num_functions);
      EXPECT_EQ(function_bytes(result) + refused.bytes, function_bytes(section));

      // Without a callback nothing may be lost.
      auto error = sized<sframe_error>();
      const auto strict =
          sframe_convert(sections, 1, &options, info.address, nullptr, nullptr, &made, &length, &error);
      EXPECT_EQ(strict, refused.count ? SFRAME_REFUSED : SFRAME_OK);
      if (strict == SFRAME_OK) {
        EXPECT_EQ(take(made, length), converted);
      } else {
        EXPECT_NE(std::strstr(error.message, "function 0x"), nullptr) << error.message;
      }
    }
  });
}

TEST(CSection, RefusesWhatCannotBeBuilt) {
  auto error = sized<sframe_error>();
  auto options = sized<sframe_build_options>();
  const auto refused = [&](auto&& change) {
    options = sized<sframe_build_options>();
    options.abi = "amd64";
    change(options);
    error = sized<sframe_error>();
    sframe_builder* made = sframe_builder_make(&options, &error);
    sframe_builder_free(made);
    return made == nullptr && error.status == SFRAME_INVALID && *error.message;
  };
  EXPECT_FALSE(refused([](auto&) {}));
  EXPECT_TRUE(refused([](auto& o) { o.abi = nullptr; }));
  EXPECT_TRUE(refused([](auto& o) { o.abi = "vax"; }));
  EXPECT_TRUE(refused([](auto& o) { o.version = 4; }));
  EXPECT_TRUE(refused([](auto& o) { o.version = 257; }));
  EXPECT_TRUE(refused([](auto& o) { o.byte_order = static_cast<sframe_byte_order>(3); }));
  EXPECT_TRUE(refused([](auto& o) { o.aux_header_size = 1; }));
  EXPECT_TRUE(refused([](auto& o) { o.size = 0; }));

  options = sized<sframe_build_options>();
  options.abi = "amd64";
  options.version = 1;
  sframe_builder* builder = sframe_builder_make(&options, nullptr);
  auto function = sized<sframe_function>();
  function.start = 0x1000;
  function.length = 16;
  auto row = sized<sframe_row>();
  row.cfa = {SFRAME_RULE_VALUE, 0, 7, 8};
  row.ra = {SFRAME_RULE_FIXED, 0, 0, 0};
  EXPECT_EQ(sframe_builder_add(builder, &function, &row, 1, &error), SFRAME_OK);
  row.cfa.base = 3; // rbx: only version 3 has it
  EXPECT_EQ(sframe_builder_add(builder, &function, &row, 1, &error), SFRAME_REFUSED);
  EXPECT_EQ(error.row, 0u);
  EXPECT_NE(std::strstr(error.message, "function 0x1000"), nullptr) << error.message;
  row.cfa.kind = 5;
  EXPECT_EQ(sframe_builder_add(builder, &function, &row, 1, &error), SFRAME_INVALID);
  row.cfa = {SFRAME_RULE_VALUE, 0, 7, 8};
  function.block_size = 256;
  EXPECT_EQ(sframe_builder_add(builder, &function, &row, 1, &error), SFRAME_INVALID);
  // Nothing but the first was added.
  void* bytes = nullptr;
  std::size_t length = 0;
  EXPECT_EQ(sframe_builder_finish(builder, 0x2000, &bytes, &length, &error), SFRAME_OK);
  const Bytes built = take(bytes, length);
  EXPECT_EQ(info_of(open(built)).num_functions, 1u);
  EXPECT_EQ(sframe_builder_finish(builder, std::uint64_t{1} << 40, &bytes, &length, &error), SFRAME_REFUSED)
      << "further than 2 GiB";
  sframe_builder_free(builder);
}

TEST(CSection, OutermostAndMergedFunctions) {
  auto options = sized<sframe_build_options>();
  options.abi = "amd64";
  options.merge_functions = 1;
  sframe_builder* builder = sframe_builder_make(&options, nullptr);
  auto function = sized<sframe_function>();
  auto row = sized<sframe_row>();
  row.cfa = {SFRAME_RULE_VALUE, 0, 7, 8};
  row.ra = {SFRAME_RULE_FIXED, 0, 0, 0};
  function.length = 16;
  for (function.start = 0x1000; function.start < 0x1040; function.start += 16)
    ASSERT_EQ(sframe_builder_add(builder, &function, &row, 1, nullptr), SFRAME_OK);
  ASSERT_EQ(sframe_builder_add(builder, &function, nullptr, 0, nullptr), SFRAME_OK);
  void* bytes = nullptr;
  std::size_t length = 0;
  ASSERT_EQ(sframe_builder_finish(builder, 0x10000, &bytes, &length, nullptr), SFRAME_OK);
  const Bytes built = take(bytes, length);
  sframe_builder_free(builder);
  const SectionHandle section = open(built);
  ASSERT_EQ(info_of(section).num_functions, 2u);
  EXPECT_EQ(function_of(section, 0).length, 64u);
  EXPECT_FALSE(function_of(section, 0).outermost);
  EXPECT_TRUE(function_of(section, 1).outermost);
}

/// Every prefix of a section is read without harm, and errors are inside it.
TEST(CSection, TruncatedSections) {
  each_input([](const Bytes& bytes, const SectionHandle&) {
    for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 64) {
      const Bytes part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      auto error = sized<sframe_error>();
      sframe_section* section =
          sframe_section_open(part.data() ? part.data() : bytes.data(), size, 0, &error);
      if (section) {
        EXPECT_LE(info_of(SectionHandle(section)).length, size);
        continue;
      }
      EXPECT_EQ(error.status, SFRAME_BAD_TABLE);
      EXPECT_LE(error.offset, size);
      EXPECT_TRUE(*error.message);
    }
  });
}

TEST(CSection, MalformedInputs) {
  std::size_t faults = 0;
  for (const auto& path : inputs_ending(".sframe")) {
    if (!is_case(path)) continue;
    SCOPED_TRACE(path.string());
    const Bytes bytes = read_file(path);
    auto error = sized<sframe_error>();
    const SectionHandle section(sframe_section_open(bytes.data(), bytes.size(), 0, &error));
    const std::uint32_t functions = section ? info_of(section).num_functions : 0;
    bool faulty = !section;
    for (std::uint32_t number = 0; number < functions; ++number) {
      const auto ignore = [](const sframe_row*, void*) { return 0; };
      const auto status = sframe_section_rows(section.get(), number, ignore, nullptr, &error);
      faulty |= status != SFRAME_OK;
      EXPECT_TRUE(status == SFRAME_OK || status == SFRAME_BAD_TABLE) << status;
    }
    if (!faulty) continue;
    EXPECT_EQ(error.status, SFRAME_BAD_TABLE);
    EXPECT_LE(error.offset, bytes.size());
    ++faults;
  }
  EXPECT_GT(faults, 5u);
}

TEST(CSection, MalformedRowIsLocated) {
  Bytes bytes = amd64_v3();
  const auto function = function_of(open(bytes), 4);
  // The second data word size code 3 does not exist: the first row's info byte.
  bytes[function.rows_offset + 1] |= std::byte{0x60};
  const SectionHandle section = open(bytes);
  auto error = sized<sframe_error>();
  auto row = sized<sframe_row>();
  std::size_t count = 7;
  EXPECT_EQ(sframe_section_rows_into(section.get(), 4, &row, 1, &count, &error), SFRAME_BAD_TABLE);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(error.function, 4u);
  EXPECT_EQ(error.row, 0u);
  EXPECT_EQ(error.offset, function.rows_offset);
  EXPECT_EQ(sframe_section_rows_into(section.get(), 999, &row, 1, &count, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_section_function(section.get(), 999, nullptr, &error), SFRAME_INVALID);
}

TEST(CSection, Files) {
  const std::string raw = inputs() / "amd64" / "v3-gas247.sframe";
  const std::string object = inputs() / "amd64" / "v2-gas244.o";
  const std::string archive = inputs() / "amd64" / "v2-gas244.a";
  for (const std::string& path : {raw, object}) {
    sframe_file* file = sframe_file_open(path.c_str(), nullptr);
    ASSERT_TRUE(file) << path;
    ASSERT_EQ(sframe_file_num_sections(file), 1u);
    auto info = sized<sframe_section_info>();
    EXPECT_EQ(sframe_section_get_info(sframe_file_section(file, 0), &info), SFRAME_OK);
    EXPECT_GT(info.num_functions, 0u);
    EXPECT_EQ(sframe_file_section(file, 1), nullptr);
    sframe_file_close(file);
  }
  auto error = sized<sframe_error>();
  EXPECT_EQ(sframe_file_open(archive.c_str(), &error), nullptr);
  EXPECT_EQ(error.status, SFRAME_INVALID);
  const std::string malformed = inputs() / "cases" / "abi-unknown-v2-amd64-number-9.sframe";
  EXPECT_EQ(sframe_file_open(malformed.c_str(), &error), nullptr);
  EXPECT_EQ(error.status, SFRAME_BAD_TABLE);
  EXPECT_TRUE(std::string(error.message).starts_with(malformed + ": ")) << error.message;
  EXPECT_EQ(sframe_file_open("/nowhere", &error), nullptr);
  EXPECT_EQ(error.status, SFRAME_UNREADABLE);
  EXPECT_EQ(error.message, std::string("/nowhere: cannot open: No such file or directory"));
}

TEST(CSection, CfiOfFiles) {
  const auto open_input = [](const char* name) {
    return sframe_file_open((inputs() / "amd64" / name).c_str(), nullptr);
  };
  sframe_file* file = open_input("v3-gas247.so");
  ASSERT_TRUE(file);
  std::uint64_t start = 0, length = 0;
  auto error = sized<sframe_error>();
  // `readelf -wF` has the FDEs 0x490..0x4f0, 0x4f0..0x4f8, 0x4f8..0x4fb, 0x4fb..0x50b.
  for (const std::uint64_t pc : {0x4fbu, 0x50au}) {
    EXPECT_EQ(sframe_file_find_cfi(file, pc, &start, &length, &error), SFRAME_OK);
    EXPECT_EQ(start, 0x4fbu);
    EXPECT_EQ(length, 0x10u);
  }
  EXPECT_EQ(sframe_file_find_cfi(file, 0x490, nullptr, nullptr, nullptr), SFRAME_OK);
  EXPECT_EQ(sframe_file_find_cfi(file, 0x48f, &start, &length, &error), SFRAME_NO_INFO);
  EXPECT_EQ(error.status, SFRAME_NO_INFO);
  EXPECT_EQ(sframe_file_find_cfi(file, ~0ull, nullptr, nullptr, nullptr), SFRAME_NO_INFO);
  sframe_file_close(file);
  for (const char* without : {"v3-gas247.o", "v3-gas247.sframe"}) { // addresses of sections; none
    file = open_input(without);
    ASSERT_TRUE(file);
    EXPECT_EQ(sframe_file_find_cfi(file, 0, nullptr, nullptr, nullptr), SFRAME_NO_INFO);
    sframe_file_close(file);
  }
}

TEST(CSection, NullIsRefused) {
  const Bytes bytes = amd64_v3();
  const SectionHandle section = open(bytes);
  auto error = sized<sframe_error>();
  auto info = sized<sframe_section_info>();
  auto function = sized<sframe_function>();
  auto row = sized<sframe_row>();
  auto match = sized<sframe_index_match>();
  auto options = sized<sframe_build_options>();
  options.abi = "amd64";
  std::size_t count = 0, length = 0;
  void* made = nullptr;
  char text[8];
  const sframe_rule rule{};
  const auto callback = [](const sframe_row*, void*) { return 0; };
  const sframe_section* const sections[] = {section.get(), nullptr};

  EXPECT_EQ(sframe_section_open(nullptr, 8, 0, &error), nullptr);
  EXPECT_EQ(error.status, SFRAME_INVALID);
  EXPECT_EQ(sframe_section_open(nullptr, 8, 0, nullptr), nullptr);
  sframe_section_close(nullptr);
  EXPECT_EQ(sframe_section_get_info(nullptr, &info), SFRAME_INVALID);
  EXPECT_EQ(sframe_section_get_info(section.get(), nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_section_check(nullptr, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_section_function(nullptr, 0, &function, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_section_function(section.get(), 0, nullptr, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_section_rows(nullptr, 0, callback, nullptr, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_section_rows(section.get(), 0, nullptr, nullptr, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_section_rows_into(nullptr, 0, &row, 1, &count, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_section_rows_into(section.get(), 0, nullptr, 1, &count, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_section_rows_into(section.get(), 0, &row, 1, nullptr, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_section_rows_into(section.get(), 0, nullptr, 0, &count, &error), SFRAME_OK);
  EXPECT_EQ(sframe_section_find(nullptr, 0, &function, &row, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_rule_text(nullptr, &rule, 0, text, 8), SFRAME_INVALID);
  EXPECT_EQ(sframe_rule_text("amd64", nullptr, 0, text, 8), SFRAME_INVALID);
  EXPECT_EQ(sframe_rule_text("amd64", &rule, 0, nullptr, 8), SFRAME_INVALID);
  EXPECT_EQ(sframe_rule_text("amd64", &rule, 0, text, 3), SFRAME_NO_MEMORY);
  EXPECT_STREQ(text, "sa");
  EXPECT_EQ(sframe_file_open(nullptr, &error), nullptr);
  sframe_file_close(nullptr);
  EXPECT_EQ(sframe_file_num_sections(nullptr), 0u);
  EXPECT_EQ(sframe_file_section(nullptr, 0), nullptr);
  EXPECT_EQ(sframe_file_find_cfi(nullptr, 0, nullptr, nullptr, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_index_make(nullptr, 1, &error), nullptr);
  EXPECT_EQ(sframe_index_make(sections, 2, &error), nullptr);
  sframe_index_free(nullptr);
  EXPECT_EQ(sframe_index_find(nullptr, 0, &match), SFRAME_INVALID);
  EXPECT_EQ(sframe_builder_make(nullptr, &error), nullptr);
  sframe_builder_free(nullptr);
  EXPECT_EQ(sframe_builder_add(nullptr, &function, &row, 1, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_builder_finish(nullptr, 0, &made, &length, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_convert(nullptr, 1, &options, 0, nullptr, nullptr, &made, &length, &error),
            SFRAME_INVALID);
  EXPECT_EQ(sframe_convert(sections, 2, &options, 0, nullptr, nullptr, &made, &length, &error),
            SFRAME_INVALID);
  EXPECT_EQ(sframe_convert(sections, 0, &options, 0, nullptr, nullptr, &made, &length, &error),
            SFRAME_INVALID);
  EXPECT_EQ(sframe_convert(sections, 1, nullptr, 0, nullptr, nullptr, &made, &length, &error),
            SFRAME_INVALID);
  EXPECT_EQ(sframe_convert(sections, 1, &options, 0, nullptr, nullptr, nullptr, &length, &error),
            SFRAME_INVALID);
  EXPECT_EQ(sframe_optimize(nullptr, nullptr, &made, &length, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_optimize(section.get(), nullptr, nullptr, &length, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_optimize(section.get(), nullptr, &made, nullptr, &error), SFRAME_INVALID);
  const sframe_optimize_options unsized{};
  EXPECT_EQ(sframe_optimize(section.get(), &unsized, &made, &length, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_flip(nullptr, &made, &length, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_flip(section.get(), nullptr, &length, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_flip(section.get(), &made, nullptr, &error), SFRAME_INVALID);
  sframe_free(nullptr);
}

TEST(CSection, OptimizesAsTheCodecDoes) {
  const Bytes bytes = amd64_v3();
  const SectionHandle section = open(bytes, 0x1000);
  const auto optimized = [&](const sframe_optimize_options* options) {
    void* made = nullptr;
    std::size_t length = 0;
    EXPECT_EQ(sframe_optimize(section.get(), options, &made, &length, nullptr), SFRAME_OK);
    return take(made, length);
  };
  const auto cpp = sframe::Section::parse(bytes, 0x1000);
  ASSERT_TRUE(cpp);
  EXPECT_EQ(optimized(nullptr), *sframe::optimize(*cpp, {}));

  auto options = sized<sframe_optimize_options>();
  options.goal = SFRAME_OPTIMIZE_LOOKUP;
  options.max_rows = 2;
  EXPECT_EQ(optimized(&options),
            *sframe::optimize(*cpp, {.goal = sframe::OptimizeOptions::Goal::lookup, .max_rows = 2}));
  options.goal = SFRAME_OPTIMIZE_SMALLEST;
  EXPECT_EQ(optimized(&options),
            *sframe::optimize(*cpp, {.goal = sframe::OptimizeOptions::Goal::smallest, .max_rows = 2}));
  options.goal = 3;
  void* none = nullptr;
  std::size_t length = 0;
  EXPECT_EQ(sframe_optimize(section.get(), &options, &none, &length, nullptr), SFRAME_INVALID);

  // The callback receives what is between two functions.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  options = sized<sframe_optimize_options>();
  options.data = &ranges;
  options.may_join = [](std::uint64_t begin, std::uint64_t end, void* data) {
    static_cast<decltype(ranges)*>(data)->emplace_back(begin, end);
    return 0;
  };
  const Bytes alone = optimized(&options);
  EXPECT_GE(sframe::Section::parse(alone, 0x1000)->num_fdes(), cpp->num_fdes()) << "only rows are shared";
  ASSERT_FALSE(ranges.empty());
  for (const auto& [begin, end] : ranges) {
    EXPECT_LE(begin, end);
    EXPECT_FALSE(*cpp->find_fde(begin) && begin != end);
    EXPECT_TRUE(*cpp->find_fde(begin - 1));
    EXPECT_TRUE(*cpp->find_fde(end));
  }
}

/// A struct of a caller of another release: fewer members are filled, or more stay as they are.
template <class T> struct Longer {
  T known{};
  std::uint64_t more[2] = {0, 0};
};

TEST(CSection, SizesOfOtherReleases) {
  const Bytes bytes = amd64_v3();
  const SectionHandle section = open(bytes);
  Longer<sframe_function> function;
  function.known.size = sizeof function;
  function.more[0] = 0x1234;
  EXPECT_EQ(sframe_section_function(section.get(), 4, &function.known, nullptr), SFRAME_OK);
  EXPECT_EQ(function.known.size, sizeof function) << "stays as it is";
  EXPECT_EQ(function.known.number, 4u);
  EXPECT_EQ(function.more[0], 0x1234u) << "not known: not touched";
  function.known.size = sizeof(sframe_function) - 1;
  auto error = sized<sframe_error>();
  EXPECT_EQ(sframe_section_function(section.get(), 4, &function.known, &error), SFRAME_INVALID);
  EXPECT_NE(std::strstr(error.message, "size"), nullptr);
  function.known.size = 0;
  EXPECT_EQ(sframe_section_find(section.get(), 0, &function.known, nullptr, &error), SFRAME_INVALID);

  // An array of longer elements.
  Longer<sframe_row> rows[2];
  rows[0].known.size = sizeof rows[0];
  std::size_t count = 0;
  EXPECT_EQ(sframe_section_rows_into(section.get(), 4, &rows[0].known, 2, &count, nullptr), SFRAME_OK);
  ASSERT_EQ(count, 2u);
  EXPECT_EQ(rows[1].known.size, sizeof rows[1]);
  EXPECT_GT(rows[1].known.offset, rows[0].known.offset);

  // Input: members that the library lacks must be 0.
  Longer<sframe_build_options> options;
  options.known.size = sizeof options;
  options.known.abi = "amd64";
  sframe_builder* builder = sframe_builder_make(&options.known, nullptr);
  EXPECT_TRUE(builder);
  function.known.size = sizeof function;
  EXPECT_EQ(sframe_builder_add(builder, &function.known, &rows[0].known, 2, &error), SFRAME_INVALID);
  function.more[0] = 0;
  EXPECT_EQ(sframe_builder_add(builder, &function.known, &rows[0].known, 2, &error), SFRAME_OK);
  sframe_builder_free(builder);
  options.more[1] = 1;
  EXPECT_EQ(sframe_builder_make(&options.known, &error), nullptr);
  EXPECT_EQ(error.status, SFRAME_INVALID);

  // An error without its location, and one whose size was not set.
  auto shorter = sized<sframe_error>();
  shorter.size = offsetof(sframe_error, function);
  shorter.function = 77;
  EXPECT_EQ(sframe_section_check(nullptr, &shorter), SFRAME_INVALID);
  EXPECT_EQ(shorter.status, SFRAME_INVALID);
  EXPECT_EQ(shorter.function, 77u);
  shorter.size = 0;
  shorter.status = SFRAME_OK;
  EXPECT_EQ(sframe_section_check(nullptr, &shorter), SFRAME_INVALID);
  EXPECT_EQ(shorter.status, SFRAME_OK);
}

/// Wherever memory runs out, the answer is a status, and the arguments remain usable.
TEST(CSection, OutOfMemoryIsAStatus) {
  const Bytes bytes = amd64_v3();
  const SectionHandle section = open(bytes);
  const sframe_section* const sections[] = {section.get()};
  const std::string path = inputs() / "amd64" / "v2-gas244.o";
  auto error = sized<sframe_error>();
  auto options = sized<sframe_build_options>();
  options.abi = "amd64";

  const auto needs = [&](auto&& make, auto&& free) {
    return with_little_memory([&] {
      error = sized<sframe_error>();
      auto* made = make();
      limit_allocations(std::nullopt);
      if (!made) {
        EXPECT_EQ(error.status, SFRAME_NO_MEMORY) << error.message;
      }
      free(made);
      return made != nullptr;
    });
  };
  EXPECT_GT(
      needs([&] { return sframe_section_open(bytes.data(), bytes.size(), 0, &error); }, sframe_section_close),
      0);
  EXPECT_GT(needs([&] { return sframe_file_open(path.c_str(), &error); }, sframe_file_close), 0);
  EXPECT_GT(needs([&] { return sframe_index_make(sections, 1, &error); }, sframe_index_free), 0);
  EXPECT_GT(needs([&] { return sframe_builder_make(&options, &error); }, sframe_builder_free), 0);

  void* made = nullptr;
  std::size_t length = 0;
  const auto needs_for = [&](auto&& call) {
    return with_little_memory([&] {
      error = sized<sframe_error>();
      const sframe_status status = call();
      limit_allocations(std::nullopt);
      if (status == SFRAME_OK) {
        sframe_free(made);
        return true;
      }
      EXPECT_EQ(status, SFRAME_NO_MEMORY);
      EXPECT_EQ(error.status, SFRAME_NO_MEMORY);
      return false;
    });
  };
  EXPECT_GT(needs_for([&] { return sframe_flip(section.get(), &made, &length, &error); }), 0);
  EXPECT_GT(needs_for([&] { return sframe_optimize(section.get(), nullptr, &made, &length, &error); }), 0);
  EXPECT_GT(needs_for([&] {
              return sframe_convert(sections, 1, &options, 0, nullptr, nullptr, &made, &length, &error);
            }),
            0);
  sframe_builder* builder = sframe_builder_make(&options, nullptr);
  const auto function = function_of(section, 4);
  const auto rows = rows_of(section, function);
  made = nullptr;
  EXPECT_GT(
      needs_for([&] { return sframe_builder_add(builder, &function, rows.data(), rows.size(), &error); }), 0);
  EXPECT_GT(needs_for([&] { return sframe_builder_finish(builder, 0, &made, &length, &error); }), 0);
  sframe_builder_free(builder);
}

/// One section and one index, many threads.
TEST(CSection, ManyThreads) {
  const Bytes bytes = amd64_v3();
  const SectionHandle section = open(bytes);
  const sframe_section* const sections[] = {section.get()};
  sframe_index* index = sframe_index_make(sections, 1, nullptr);
  const auto function = function_of(section, 4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        auto error = sized<sframe_error>();
        auto row = sized<sframe_row>();
        auto match = sized<sframe_index_match>();
        EXPECT_EQ(sframe_section_find(section.get(), function.start, nullptr, &row, &error), SFRAME_OK);
        EXPECT_EQ(sframe_index_find(index, function.start, &match), SFRAME_OK);
        EXPECT_EQ(sframe_section_find(section.get(), 1, nullptr, &row, &error), SFRAME_NO_INFO);
        EXPECT_EQ(error.status, SFRAME_NO_INFO);
      }
    });
  for (std::thread& thread : threads) thread.join();
  sframe_index_free(index);
}

} // namespace c_section_test
