// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A section as GNU binutils lists it (`objdump --sframe`, dump_sframe()), byte for byte: as 2.47 does for
// versions 2 and 3, as 2.40, the last one that supported it, for version 1. Determined by running these
// programs. Notation:
//
//    CFA  sp+16    register and offset              (fp-8)  the value stored there (flexible FDEs)
//    FP   u        unchanged    c-16  stored at CFA - 16, or (of a flexible FDE) CFA - 16 itself
//    RA   f        at the header's fixed offset     u  not saved     U  the row has a padding word for it
//    r10+0 the value of register 10; r16 the same in version 2, s390x      [s] the return address is signed
//
// Version 1 prints `u` for every fixed offset, and omits the fixed offsets from the header.

#pragma once

#include <sframe/base/line.h>
#include <sframe/listing/row_texts.h>
#include <sframe/section.h>

#include <functional>
#include <optional>
#include <string_view>

namespace sframe::listing {

class GnuListing {
public:
  /// Receives the text, line by line or several lines at once.
  using Write = std::function<void(std::string_view)>;

  /// `section` must outlive the object.
  GnuListing(const Section& section, Write write);

  void header();
  /// The line before the first function.
  void index_heading();
  /// A function with its rows, up to the first fault, which is returned. Advances `rows` to their end.
  std::optional<Error> function(const EncodedFde& fde, RowCursor& rows);

private:
  void flags();
  void function_heading(const EncodedFde& fde);
  void append_rules(const EncodedRow& encoded, const FrameRow& row);
  void append_register(std::uint16_t reg);
  void append_located(const Rule& rule);
  void append_cfa(const Rule& rule);
  void append_fp(const Rule& rule);
  void append_ra(const Rule& rule, bool padded);

  const Header& header_;
  const AbiTraits& abi_;
  Write write_;
  bool old_;          ///< version 1
  bool flex_ = false; ///< the current function is of the flexible type
  Line line_;
  BasicLine<8192> lines_; ///< of rows
  RowTexts texts_;        ///< the columns after the address
};

} // namespace sframe::listing
