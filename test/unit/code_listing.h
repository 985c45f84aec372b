// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Listings of AMD64 code for tests of the analysis: bytes, assembly, and the row before each instruction.

#pragma once

#include "sframe/code/analysis.h"

#include "inputs.h"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace sframe::test::listing {

using namespace sframe::code;

inline constexpr std::uint64_t start = 0x401000;
/// Addresses of the listings' callees and tables, outside the code.
inline constexpr std::uint64_t far = start + 0x10000, table = start + 0x20000;

struct Line {
  const char* bytes;
  const char* assembly;
  const char* row;
};

inline const AbiTraits& amd64() {
  return traits(Abi::amd64);
}

/// Constant data and callees by address.
class World : public Environment {
public:
  std::map<std::uint64_t, std::uint32_t> words;
  std::map<std::uint64_t, std::uint64_t> pointers;
  std::uint64_t noreturn = 0;

  std::span<const std::byte> constant_data(std::uint64_t address, std::uint64_t size) override {
    const auto at = words.find(address);
    if (at == words.end() || size != sizeof at->second) return {};
    return std::as_bytes(std::span(&at->second, 1));
  }
  std::optional<std::uint64_t> constant_pointer(std::uint64_t address) override {
    const auto at = pointers.find(address);
    return at == pointers.end() ? std::nullopt : std::optional(at->second);
  }
  bool never_returns(std::uint64_t target) override { return target == noreturn; }
};

/// A listing, its bytes, and the results of its analysis.
class Listing {
public:
  explicit Listing(std::span<const Line> lines) : lines_(lines), analyzer_(amd64()) {
    for (const Line& line : lines) {
      offsets_.push_back(bytes_.size());
      const auto some = hex(line.bytes);
      bytes_.insert(bytes_.end(), some.begin(), some.end());
    }
    function_ = {.start = start, .bytes = bytes_, .entry = amd64().entry_row()};
  }

  Function& function() { return function_; }
  /// The address of a line, counted from 0.
  std::uint64_t address(std::size_t line) const { return start + offsets_[line]; }

  const Results& run() { return analyzer_.run(function_); }

  /// Compares every line's row.
  void expect_rows() {
    const Results& results = run();
    for (std::size_t i = 0; i < lines_.size(); ++i)
      EXPECT_EQ(text_at(results, address(i)), lines_[i].row) << "line " << i << ": " << lines_[i].assembly;
  }

  Exit exit_at(std::size_t line) {
    Exit exit = Exit::none;
    run().visit([&](const Reached& at) {
      if (at.instruction.address == address(line)) exit = at.exit;
    });
    return exit;
  }
  Certainty certainty_at(std::size_t line) {
    Certainty certainty = Certainty::unreached;
    run().visit([&](const Reached& at) {
      if (at.instruction.address == address(line)) certainty = at.certainty;
    });
    return certainty;
  }
  bool has(Obstacle::Kind kind) {
    for (const Obstacle& obstacle : run().obstacles())
      if (obstacle.kind == kind) return true;
    return false;
  }

private:
  static std::string text_at(const Results& results, std::uint64_t address) {
    if (!results.state_at(address)) return "";
    const auto row = results.row_at(address);
    if (!row) return "none";
    EXPECT_EQ(row->ra, Rule::fixed());
    return rule_text(row->cfa, amd64(), true) + " " + rule_text(row->fp, amd64());
  }

  std::span<const Line> lines_;
  std::vector<std::size_t> offsets_;
  std::vector<std::byte> bytes_;
  Function function_;
  Analyzer analyzer_;
};

/// A row with the CFA by SP, FP not saved.
inline FrameRow row(std::uint32_t offset, std::int32_t cfa_offset) {
  return {offset, Rule::value(amd64().sp, cfa_offset), Rule::fixed(), Rule::same(), false};
}

// Listings that several tests use.

inline constexpr Line frame_pointer[] = {
    {"f3 0f 1e fa", "endbr64", "sp+8 same"},
    {"55", "push %rbp", "sp+8 same"},
    {"48 89 e5", "mov %rsp,%rbp", "sp+16 [cfa-16]"},
    {"48 83 ec 20", "sub $0x20,%rsp", "sp+16 [cfa-16]"},
    {"48 89 7d f8", "mov %rdi,-8(%rbp)", "sp+48 [cfa-16]"},
    {"c9", "leave", "sp+48 [cfa-16]"},
    {"c3", "ret", "sp+8 same"},
};

inline constexpr Line jump_table[] = {
    {"53", "push %rbx", "sp+8 same"},
    {"83 ff 02", "cmp $2,%edi", "sp+16 same"},
    {"77 21", "ja 4f", "sp+16 same"},
    {"89 ff", "mov %edi,%edi", "sp+16 same"},
    {"48 8d 15 f1 ff 01 00", "lea table(%rip),%rdx", "sp+16 same"},
    {"48 63 04 ba", "movslq (%rdx,%rdi,4),%rax", "sp+16 same"},
    {"48 01 d0", "add %rdx,%rax", "sp+16 same"},
    {"3e ff e0", "notrack jmp *%rax", "sp+16 same"},
    {"b8 01 00 00 00", "mov $1,%eax", "sp+16 same"},
    {"5b", "pop %rbx", "sp+16 same"},
    {"c3", "ret", "sp+8 same"},
    {"b8 02 00 00 00", "mov $2,%eax", "sp+16 same"},
    {"5b", "pop %rbx", "sp+16 same"},
    {"c3", "ret", "sp+8 same"},
    {"5b", "pop %rbx", "sp+16 same"},
    {"c3", "ret", "sp+8 same"},
};

} // namespace sframe::test::listing
