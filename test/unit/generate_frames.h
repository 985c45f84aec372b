// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Call frame information by hand, and its conversion to SFrame as a section shows it.

#pragma once

#include "cfi_assembler.h"

#include <sframe/generate/from_cfi.h>
#include <sframe/section.h>

#include <gtest/gtest.h>

namespace sframe::generate {

using cfi::SectionKind;
using test::Bytes;
using test::CfiAssembler;

// AMD64: r6 = FP, r7 = SP, r16 = RA. DW_CFA_advance_loc n is 0x40 + n.
inline constexpr std::uint64_t base = 0x1000;

/// A section of FDEs that share a CIE: CFA = SP + 8, RA at CFA - 8.
struct Frames {
  explicit Frames(SectionKind kind = SectionKind::eh_frame, const char* augmentation = "",
                  Bytes initial = Bytes().raw({0x0c, 7, 8, 0x90, 1}), std::uint64_t ra = 16)
      : a(kind), augmented(*augmentation != 0) {
    Bytes body = a.body();
    body.u8(1).text(augmentation).uleb(1).sleb(-8).u8(ra);
    if (augmented) body.uleb(0);
    cie = a.cie(body.append(initial));
  }
  Frames& fde(std::uint64_t start, std::uint64_t size, Bytes instructions = Bytes()) {
    Bytes body = a.body();
    body.u64(start).u64(size);
    if (augmented) body.uleb(0);
    a.fde(cie, body.append(instructions));
    return *this;
  }
  CfiAssembler a;
  std::size_t cie = 0;
  bool augmented;
};

/// A function of the result.
struct Function {
  std::uint64_t start = 0;
  std::uint32_t size = 0;
  std::vector<FrameRow> rows;
  EncodedFde fde;
};

struct Result {
  Report report;
  std::vector<Function> functions;
};

inline Result convert(const CfiInput& input, const Options& options = {}) {
  auto [builder, report] = from_cfi(input, options);
  Result out{std::move(report), {}};
  const auto bytes = builder.finish(base);
  EXPECT_TRUE(bytes.has_value());
  const auto section = Section::parse(*bytes, base);
  EXPECT_TRUE(section.has_value());
  for (std::uint32_t i = 0; i < section->num_fdes(); ++i) {
    const auto fde = section->fde(i);
    Function function{fde->start, fde->size, {}, *fde};
    RowCursor rows = section->rows(*fde);
    for (FrameRow row; rows.next(row);) function.rows.push_back(row);
    EXPECT_FALSE(rows.error());
    out.functions.push_back(std::move(function));
  }
  return out;
}

inline CfiInput input_of(std::initializer_list<const Frames*> sections, Abi abi = Abi::amd64) {
  CfiInput input;
  input.abi = &traits(abi);
  for (const Frames* frames : sections) input.sections.push_back(frames->a.section(abi));
  return input;
}

inline Result convert(const Frames& frames, const Options& options = {}, Abi abi = Abi::amd64) {
  return convert(input_of({&frames}, abi), options);
}

inline FrameRow sp_row(std::uint32_t offset, std::int32_t cfa) {
  return {offset, Rule::value(7, cfa), Rule::fixed(), Rule::same(), false};
}

} // namespace sframe::generate
