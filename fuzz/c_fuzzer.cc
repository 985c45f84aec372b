// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a file for the C interface: its sections are read (sframe/c/section.h), converted,
// joined, swapped and built again from their rows (sframe/c/builder.h). Properties: both ways to read rows
// give the same ones; each text has an end; what is written can be opened and checked; another version of the
// same bytes is reversible.

#include "memory_file.h"

#include "sframe/c/builder.h"
#include "sframe/c/section.h"
#include "sframe/c/version.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

using sframe::fuzz::require;

constexpr std::size_t max_sections = 16;
constexpr std::uint32_t max_functions = 512;

template <class T> T sized() {
  T made{};
  made.size = sizeof made;
  return made;
}

/// What a function that may fail reports.
class Error {
public:
  operator sframe_error*() { return &error_; }
  bool ok(sframe_status status) const {
    if (status == SFRAME_OK) return true;
    require(error_.status == status, "another status in the error");
    require(std::memchr(error_.message, 0, sizeof error_.message), "no end of a message");
    require(error_.message[0] != '\0', "an error without text");
    return false;
  }

private:
  sframe_error error_ = sized<sframe_error>();
};

/// Bytes that the library made.
struct Made {
  void* bytes = nullptr;
  std::size_t size = 0;
  Made() = default;
  Made(const Made&) = delete;
  ~Made() { sframe_free(bytes); }
  bool operator==(const Made& other) const {
    return size == other.size && std::memcmp(bytes, other.bytes, size) == 0;
  }
};

/// A section that the library made, which must be a good one.
class Checked {
public:
  Checked(const Made& made, std::uint64_t address)
      : section_(sframe_section_open(made.bytes, made.size, address, nullptr)) {
    require(section_, "a section that was made is not one");
    require(sframe_section_check(section_, nullptr) == SFRAME_OK, "a section that was made is malformed");
  }
  Checked(const Checked&) = delete;
  ~Checked() { sframe_section_close(section_); }
  const sframe_section* get() const { return section_; }

private:
  sframe_section* section_;
};

void check_rule(const char* abi, const sframe_rule& rule, int is_cfa) {
  for (const std::size_t size : {std::size_t(1), std::size_t(5), std::size_t(32)}) {
    char text[32];
    const sframe_status status = sframe_rule_text(abi, &rule, is_cfa, text, size);
    require(status == SFRAME_OK || (status == SFRAME_NO_MEMORY && size < sizeof text), "no text of a rule");
    require(std::memchr(text, 0, size), "no end of a rule");
  }
}

int keep_row(const sframe_row* row, void* data) {
  static_cast<std::vector<sframe_row>*>(data)->push_back(*row);
  return 0;
}

bool same(const sframe_row& a, const sframe_row& b) {
  const auto same_rule = [](const sframe_rule& x, const sframe_rule& y) {
    return x.kind == y.kind && x.base == y.base && x.offset == y.offset;
  };
  return a.offset == b.offset && a.ra_signed == b.ra_signed && same_rule(a.cfa, b.cfa) &&
         same_rule(a.ra, b.ra) && same_rule(a.fp, b.fp);
}

/// Reads a function; returns the number of its rows.
std::size_t read_function(const sframe_section* section, const sframe_function& function, const char* abi) {
  std::vector<sframe_row> rows;
  Error error;
  const bool whole = error.ok(sframe_section_rows(section, function.number, keep_row, &rows, error));
  std::vector<sframe_row> again(rows.size() + 1, sized<sframe_row>());
  std::size_t count = 0;
  Error second;
  const bool whole_again = second.ok(
      sframe_section_rows_into(section, function.number, again.data(), again.size(), &count, second));
  require(whole == whole_again && count == rows.size(), "other rows in the array");
  require(std::ranges::equal(rows, std::span(again).first(count), same), "another row in the array");
  if (whole) require(count == function.num_rows, "another number of rows");
  for (std::size_t i = 0; i < std::min<std::size_t>(count, 64); ++i) {
    check_rule(abi, rows[i].cfa, 1);
    check_rule(abi, rows[i].ra, 0);
    check_rule(abi, rows[i].fp, 0);
  }
  auto found = sized<sframe_function>();
  auto row = sized<sframe_row>();
  Error third;
  if (third.ok(sframe_section_find(section, function.start, &found, &row, third))) {
    require(function.start - found.start < found.length, "a function that does not hold the pc");
    require(found.block_size || row.offset <= function.start - found.start, "a row after the pc");
  }
  return count;
}

/// The section's functions and rows, one by one, to a new section of each version. A function that was
/// refused leaves the builder as it was.
void build_again(const sframe_section* section, const sframe_section_info& info) {
  for (const std::uint32_t version : {1u, 2u, 3u}) {
    auto options = sized<sframe_build_options>();
    options.abi = info.abi;
    options.version = version;
    options.aux_header = "auxiliary";
    options.aux_header_size = info.num_functions % 10;
    options.byte_order = version == 2 ? SFRAME_BYTE_ORDER_BIG : SFRAME_BYTE_ORDER_LITTLE;
    options.keep_equal_rows = info.num_functions % 2;
    options.merge_functions = info.num_functions % 3 == 0;
    options.share_rows = info.num_functions % 5 == 0;
    Error error;
    sframe_builder* const builder = sframe_builder_make(&options, error);
    require(builder, "no builder");
    std::uint32_t added = 0;
    for (std::uint32_t i = 0; i < std::min(info.num_functions, max_functions); ++i) {
      auto function = sized<sframe_function>();
      std::vector<sframe_row> rows;
      if (sframe_section_function(section, i, &function, nullptr) != SFRAME_OK) continue;
      if (sframe_section_rows(section, i, keep_row, &rows, nullptr) != SFRAME_OK) continue;
      Error refused;
      if (refused.ok(sframe_builder_add(builder, &function, rows.data(), rows.size(), refused))) ++added;
    }
    Made made;
    Error failed;
    if (failed.ok(sframe_builder_finish(builder, info.address, &made.bytes, &made.size, failed))) {
      const Checked checked(made, info.address);
      auto other = sized<sframe_section_info>();
      require(sframe_section_get_info(checked.get(), &other) == SFRAME_OK, "no info");
      require(other.version == version && other.num_functions <= added, "functions that were not added");
    }
    sframe_builder_free(builder);
  }
}

/// What is made of the section, if it is a good one.
void write_others(const sframe_section* section, const sframe_section_info& info) {
  Made flipped, back;
  Error error;
  if (error.ok(sframe_flip(section, &flipped.bytes, &flipped.size, error))) {
    const Checked other(flipped, info.address);
    require(sframe_flip(other.get(), &back.bytes, &back.size, nullptr) == SFRAME_OK, "not flipped back");
    require(back.size == info.length && std::memcmp(back.bytes, info.bytes, back.size) == 0,
            "another section, flipped twice");
  }
  for (const std::uint32_t version : {1u, 2u, 3u})
    for (const bool partly : {false, true}) {
      auto options = sized<sframe_build_options>();
      options.version = version;
      options.share_rows = partly;
      Made converted;
      Error refused;
      const auto leave_out = [](const sframe_refusal* refusal, void*) {
        require(refusal->reason && refusal->text, "a refusal without text");
        return 0;
      };
      if (refused.ok(sframe_convert(&section, 1, &options, info.address,
                                    partly ? sframe_refusal_callback(leave_out) : nullptr, nullptr,
                                    &converted.bytes, &converted.size, refused)))
        const Checked other(converted, info.address);
    }
  build_again(section, info);
  Made optimized, twice;
  Error failed;
  if (failed.ok(sframe_optimize(section, nullptr, &optimized.bytes, &optimized.size, failed))) {
    require(optimized.size <= info.length, "larger, optimized");
    const Checked other(optimized, info.address);
    require(sframe_optimize(other.get(), nullptr, &twice.bytes, &twice.size, nullptr) == SFRAME_OK,
            "not optimized again");
    require(optimized == twice, "another section, optimized twice");
  }
}

/// Reads at most `rows` rows; takes them off. Returns true if there were no more.
bool read_section(const sframe_section* section, std::uint64_t& rows) {
  auto info = sized<sframe_section_info>();
  require(sframe_section_get_info(section, &info) == SFRAME_OK, "no info");
  Error error;
  const bool is_good = error.ok(sframe_section_check(section, error));
  std::uint64_t listed = 0;
  for (std::uint32_t i = 0; i < info.num_functions; ++i) {
    auto function = sized<sframe_function>();
    Error missing;
    if (!missing.ok(sframe_section_function(section, i, &function, missing))) {
      require(!is_good, "no function in a good index");
      continue;
    }
    require(function.number == i, "another number");
    listed += function.num_rows;
    if (i < max_functions && function.num_rows <= rows) rows -= read_function(section, function, info.abi);
  }
  auto none = sized<sframe_function>();
  require(sframe_section_function(section, info.num_functions, &none, nullptr) == SFRAME_INVALID,
          "a function after the last one");
  // Functions may share very many rows: the cost is that of their number, not of the file's size.
  if (listed > rows) return false;
  write_others(section, info);
  return true;
}

void read_index(const std::vector<const sframe_section*>& sections) {
  Error error;
  sframe_index* const index = sframe_index_make(sections.data(), sections.size(), error);
  if (!index) return;
  for (const sframe_section* section : sections)
    for (std::uint32_t i = 0; i < 64; ++i) {
      auto function = sized<sframe_function>();
      if (sframe_section_function(section, i, &function, nullptr) != SFRAME_OK) break;
      auto match = sized<sframe_index_match>();
      const sframe_status status = sframe_index_find(index, function.start, &match);
      require(status == SFRAME_OK || status == SFRAME_NO_INFO, "the index cannot be read");
    }
  sframe_index_free(index);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  require(sframe_version() == SFRAME_C_VERSION &&
              sframe_version_text() == std::string_view(SFRAME_C_VERSION_TEXT),
          "another version");
  const sframe::fuzz::MemoryFile memory(std::as_bytes(std::span(data, size)));
  Error error;
  sframe_file* const file = sframe_file_open(memory.path().c_str(), error);
  if (!file) return 0;
  std::vector<const sframe_section*> sections;
  std::uint64_t rows = size;
  bool all = true;
  for (std::size_t i = 0; i < std::min(sframe_file_num_sections(file), max_sections); ++i) {
    sections.push_back(sframe_file_section(file, i));
    all = read_section(sections.back(), rows) && all;
    auto function = sized<sframe_function>();
    std::uint64_t start = 0, length = 0;
    if (sframe_section_function(sections.back(), 0, &function, nullptr) == SFRAME_OK &&
        sframe_file_find_cfi(file, function.start, &start, &length, nullptr) == SFRAME_OK)
      require(function.start - start < length, "CFI that does not hold the pc");
  }
  require(!sframe_file_section(file, sframe_file_num_sections(file)), "a section after the last one");
  if (all && !sections.empty()) read_index(sections);
  sframe_file_close(file);
  return 0;
}
