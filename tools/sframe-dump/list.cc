// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --list: one line for each function.

#include "describe.h"
#include "formats.h"
#include "section_dumper.h"

#include <sframe/base/line.h>
#include <sframe/base/text.h>

#include <array>
#include <string>

namespace sframe::dump {

namespace {

constexpr unsigned start_width = 18, size_width = 12, rows_width = 8, encoding_width = 14;

class ListDumper final : public SectionDumper {
public:
  explicit ListDumper(const DumperContext& context) : SectionDumper(context.out), names_(context.names) {}

  void begin_part(const Part& part) override {
    title(part);
    out_ << "\n  ";
    out_.padded("START", start_width).right("SIZE", size_width).right("ROWS", rows_width) << "  ";
    out_.padded("ENCODING", encoding_width) << "  NAME\n";
  }
  std::optional<Error> function(const EncodedFde& fde, const FunctionLocation& location,
                                RowCursor& rows) override {
    out_ << "  ";
    out_.padded(hex(location.start), start_width).right(with_commas(fde.size), size_width);
    out_.right(with_commas(fde.num_fres), rows_width) << "  ";
    std::string encoding(name_of(fde.fre_type));
    if (fde.fde_type == FdeType::flex) encoding += " flex";
    if (fde.pc_type == PcType::mask) encoding += " mask";
    if (fde.signal_frame) encoding += " signal";
    const auto name = names_.find(location);
    const std::string_view section = names_.section_name(location);
    if (!name && section.empty()) {
      out_ << encoding;
    } else {
      out_.padded(encoding, encoding_width) << "  ";
      if (!section.empty()) out_.safe(section) << (name ? " " : "");
      if (name) out_.safe(name->text(true));
    }
    out_ << '\n';
    std::array<FrameRow, 16> decoded;
    while (rows.next(decoded) == decoded.size()) {
    }
    return rows.error();
  }

private:
  Names& names_;
};

} // namespace

std::unique_ptr<Dumper> make_list_dumper(const DumperContext& context) {
  return std::make_unique<ListDumper>(context);
}

} // namespace sframe::dump
