// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the studies of section sizes (format_study.cc, size_bound.cc) read: the functions and rows of a
// section made by sframe-gen. Bodies of rows, their info byte and words, are numbered and never interpreted:
// rows with equal bodies and marks have equal rules.

#pragma once

#include "sframe/builder.h"
#include "sframe/elf/file.h"
#include "sframe/elf/image.h"
#include "sframe/generate/optimize.h"
#include "sframe/section.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

namespace sframe::bench {

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(2);
}

struct StudyRow {
  std::uint32_t offset; ///< from the function's start
  std::uint32_t body;   ///< number in Study::bodies
};

struct StudyFunction {
  std::uint64_t start = 0;
  std::uint32_t size = 0;  ///< up to the next function, if they overlap: what a lookup finds
  std::uint32_t marks = 0; ///< V3's info byte without the FRE type, info2 << 8, rep_size << 16
  std::vector<StudyRow> rows;

  std::uint64_t end() const { return start + size; }
  bool is_mask() const { return marks & 0x10; }
  bool is_signal() const { return marks & 0x80; }
  bool is_flex() const { return marks >> 8 & 1; }
  std::uint32_t rep_size() const { return marks >> 16; }
};

/// A section in version 2 or 3.
struct Study {
  std::vector<std::byte> bytes;
  std::vector<StudyFunction> functions; ///< by start
  std::vector<std::string> bodies;
  std::vector<FrameRow> rules; ///< of bodies; a body in default and in flexible FDEs has two numbers
  const AbiTraits* abi = nullptr;
  std::size_t size = 0;

  explicit Study(const char* path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    bytes.resize(text.size());
    std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
    const auto section = Section::parse(bytes);
    if (!section || section->version().number < 2)
      fail(std::string(path) + ": not a section of version 2 or 3");
    abi = &section->abi();
    size = section->bytes().size();
    std::unordered_map<std::string, std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < section->num_fdes(); ++i) {
      const auto fde = section->fde(i);
      if (!fde) fail(std::string(path) + ": damaged index");
      StudyFunction function{fde->start,
                             fde->size,
                             (fde->info & 0xf0u) | std::uint32_t{fde->info2} << 8 |
                                 std::uint32_t{fde->rep_size} << 16,
                             {}};
      auto rows = section->rows(*fde);
      for (EncodedRow row; rows.next(row);) {
        std::string body(1, static_cast<char>(row.info));
        if (row.word_count() != 0)
          body.append(reinterpret_cast<const char*>(row.words), row.word_count() * row.word_size());
        const std::string key = body + (function.is_flex() ? "f" : "");
        const auto number = numbers.emplace(key, static_cast<std::uint32_t>(bodies.size())).first->second;
        if (number == bodies.size()) {
          const auto decoded = rows.decode(row);
          if (!decoded) fail(std::string(path) + ": damaged row");
          bodies.push_back(std::move(body));
          rules.push_back(*decoded);
        }
        function.rows.push_back({row.offset, number});
      }
      if (rows.error()) fail(std::string(path) + ": damaged rows");
      if (function.size != 0) functions.push_back(std::move(function));
    }
    std::ranges::stable_sort(functions, {}, &StudyFunction::start);
    for (std::size_t i = 0; i + 1 < functions.size(); ++i) {
      const std::uint64_t room = functions[i + 1].start - functions[i].start;
      functions[i].size = static_cast<std::uint32_t>(std::min<std::uint64_t>(functions[i].size, room));
    }
    std::erase_if(functions, [](const StudyFunction& f) { return f.size == 0; });
    for (StudyFunction& function : functions)
      if (!function.is_mask())
        std::erase_if(function.rows, [&](const StudyRow& row) { return row.offset >= function.size; });
  }
};

/// The file that sections were made from.
class StudyFile {
public:
  explicit StudyFile(const char* path) : file_(open(path)), image_(parse(file_)) {}

  /// Bytes of the CFI and its index.
  std::uint64_t cfi_size() const {
    std::uint64_t size = 0;
    for (const elf::SectionHeader& section : image_.sections())
      if (section.name == ".eh_frame" || section.name == ".eh_frame_hdr") size += section.size;
    return size;
  }

  /// For each function whether it may be in one FDE with the one before, as Builder::optimize() decides it.
  std::vector<bool> joins(const Study& study) const {
    std::vector<bool> result(study.functions.size());
    generate::JoinCheck check(image_, {});
    for (std::size_t i = 1; i < result.size(); ++i) {
      const StudyFunction &a = study.functions[i - 1], &b = study.functions[i];
      if (a.marks != b.marks || a.is_mask() || a.is_signal() || a.rows.empty() || b.rows.empty() ||
          b.rows.front().offset != 0)
        continue;
      result[i] = check({a.end(), b.start - a.end()});
    }
    return result;
  }

private:
  static elf::File open(const char* path) {
    auto file = elf::File::open(path);
    if (!file) fail(std::string(path) + ": cannot be opened");
    return std::move(*file);
  }
  static elf::Image parse(const elf::File& file) {
    auto image = elf::Image::parse(file.bytes());
    if (!image) fail("not an ELF file");
    return std::move(*image);
  }

  elf::File file_;
  elf::Image image_;
};

} // namespace sframe::bench
