// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --disassemble: a function's instructions, and before each the rows that begin there: those of the section,
// and of the CFI where it says something else.
//
//      row   0x4fc  CFA sp+16, RA fixed, FP [cfa-16]    CFI: the same
//            0x4fc    mov %rsp, %rbp
//      CFI   0x4ff  CFA sp+24, RA fixed, FP [cfa-16]      the section has no row there
//
// Three streams by address are merged: rows, CFI rows and instructions. Nothing is kept of a function; how
// many functions may be printed is up to the input's budget of printed bytes.

#include "describe.h"
#include "formats.h"
#include "section_dumper.h"

#include <sframe/address.h>
#include <sframe/base/line.h>
#include <sframe/cfi/frame_row.h>
#include <sframe/cfi/image.h>
#include <sframe/cfi/rows.h>
#include <sframe/code/disassembly.h>
#include <sframe/code/instruction.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sframe::dump {

namespace {

constexpr std::size_t address_column = 10, text_column = 30;

/// The rows of the CFI from an address on, one by one.
class CfiRows {
public:
  /// `budget`: charged for each row, since all functions may be inside one FDE; may be null.
  CfiRows(std::vector<cfi::FdeFinder>& finders, const AbiTraits& abi, Budget* budget)
      : finders_(finders), abi_(abi), budget_(budget) {}

  /// Goes to the address, which is not below the one before. True if another row begins there.
  bool seek(std::uint64_t address) {
    bool is_new = false;
    while (has_row_ && end_ <= address) is_new |= step();
    return has_row_ ? is_new : open(address);
  }
  /// False without CFI.
  bool has_row() const { return has_row_; }
  /// True if the CFI has the rules of `row`.
  bool agrees(const FrameRow& row) const { return current_ && current_->same_rules(row); }
  std::string text() const { return current_ ? rules_text(*current_, abi_) : cfi::message(current_.error()); }

private:
  /// The rows of the FDE that has the address. False if there is none.
  bool open(std::uint64_t address) {
    for (cfi::FdeFinder& finder : finders_) {
      const auto fde = finder.find(address);
      if (!fde || !*fde) continue;
      rows_.emplace(finder.section(), **fde);
      while (step() && end_ <= address) continue;
      return has_row_;
    }
    return false;
  }
  bool step() {
    cfi::MinimalRow row;
    has_row_ = (!budget_ || budget_->take(Resource::code_steps)) && rows_->next(row);
    if (!has_row_) return false;
    end_ = row.end;
    current_ = cfi::to_frame_row(row, abi_);
    return true;
  }

  std::vector<cfi::FdeFinder>& finders_;
  const AbiTraits& abi_;
  Budget* budget_;
  std::optional<cfi::MinimalRowCursor> rows_;
  expected<FrameRow, cfi::Unrepresentable> current_; ///< or why no row can have its rules
  std::uint64_t end_ = 0;                            ///< of the current row
  bool has_row_ = false;
};

class DisassemblyDumper final : public SectionDumper {
public:
  explicit DisassemblyDumper(const DumperContext& context)
      : SectionDumper(context.out), names_(context.names) {}

  void begin_object(const Object& object) override {
    SectionDumper::begin_object(object);
    finders_.clear();
    text_.reset();
    cfi_ = {};
    if (!object.image || object.relocatable()) return;
    cfi_ = cfi::open_cfi(*object.image);
    for (const cfi::ImageSection& section : cfi_.sections) finders_.push_back(section.finder());
  }
  void begin_part(const Part& part) override {
    part_ = &part.section;
    title(part);
    out_ << "\n";
  }
  std::optional<Error> function(const EncodedFde& fde, const FunctionLocation& location,
                                RowCursor& rows) override;

private:
  void heading(const EncodedFde& fde, const FunctionLocation& location);
  void line(std::string_view kind, std::uint64_t address, std::string_view text);
  std::span<const std::byte> code_of(const EncodedFde& fde, const FunctionLocation& location);
  std::size_t instruction(std::span<const std::byte> code, std::uint64_t address);

  Names& names_;
  const Section* part_ = nullptr;
  std::optional<elf::Contents> text_; ///< of an object's section of code
  std::uint32_t text_section_ = 0;
  cfi::ImageCfi cfi_; ///< finders_ refer to it
  std::vector<cfi::FdeFinder> finders_;
};

void DisassemblyDumper::heading(const EncodedFde& fde, const FunctionLocation& location) {
  Line line;
  line.text("\n  [").number(fde.number).text("] 0x").hex(location.start).text("-0x");
  line.hex(range_end(location.start, fde.size));
  out_ << line.view();
  if (const auto section = names_.section_name(location); !section.empty()) (out_ << "  ").safe(section);
  if (const auto name = names_.find(location)) (out_ << "  ").safe(name->text(true));
  if (fde.pc_type == PcType::mask)
    out_ << ", rows of the first of blocks of " << std::to_string(fde.rep_size) << " bytes";
  out_ << '\n';
}

/// "    row   0x4fc             CFA sp+16".
void DisassemblyDumper::line(std::string_view kind, std::uint64_t address, std::string_view text) {
  Line line;
  line.text("    ").text(kind).pad_to(address_column).text("0x").hex(address).pad_to(text_column, 1);
  out_ << line.view();
  out_.safe(text) << '\n';
}

/// The function's bytes, as far as the file has them.
std::span<const std::byte> DisassemblyDumper::code_of(const EncodedFde& fde,
                                                      const FunctionLocation& location) {
  if (!object_->image || object_->kind == Object::Kind::core_image) return {};
  const elf::Image& image = *object_->image;
  if (!object_->relocatable())
    return image.read(location.start, fde.size).value_or(std::span<const std::byte>());
  if (location.section == 0 || location.section >= image.sections().size()) return {};
  if (!text_ || text_section_ != location.section) {
    auto contents = image.contents(image.sections()[location.section]);
    text_ = contents ? std::move(*contents) : elf::Contents();
    text_section_ = location.section;
  }
  const auto code = text_->bytes();
  if (location.start >= code.size()) return {};
  return code.subspan(location.start, std::min<std::uint64_t>(fde.size, code.size() - location.start));
}

/// Returns its length; the least there is, where the disassembler knows no instruction.
std::size_t DisassemblyDumper::instruction(std::span<const std::byte> code, std::uint64_t address) {
  const AbiTraits& abi = part_->abi();
  const code::Machine& machine = code::machine(abi);
  const auto bytes = code.first(std::min<std::size_t>(code.size(), machine.max_length));
  const std::size_t known = code::instruction_operands(abi, bytes, address).length;
  const std::size_t length = std::min<std::size_t>(known ? known : machine.alignment, code.size());
  line("", address, "  " + code::instruction_text(abi, code.first(length), address));
  return length;
}

std::optional<Error> DisassemblyDumper::function(const EncodedFde& fde, const FunctionLocation& location,
                                                 RowCursor& rows) {
  heading(fde, location);
  const std::span<const std::byte> code = code_of(fde, location);
  if (code.empty() && fde.size != 0) out_ << "    the file does not have the code\n";
  Budget* const budget = object_->image ? object_->image->budget() : nullptr;
  CfiRows cfi(finders_, part_->abi(), budget);
  FrameRow row, before; // `before`: that of the current address, if there is one
  bool has_row = rows.next(row), has_before = false;
  for (std::size_t at = 0; at < code.size() || has_row;) {
    const std::uint64_t address = location.start + at;
    // A row inside an instruction, as of a wrong section, comes after it.
    for (; has_row && (row.offset <= at || at >= code.size()); has_row = rows.next(row)) {
      const std::uint64_t start = location.start + row.offset;
      std::string text = rules_text(row, part_->abi());
      cfi.seek(start);
      if (cfi.has_row()) text += "    CFI: " + (cfi.agrees(row) ? std::string("the same") : cfi.text());
      line("row", start, text);
      before = row;
      has_before = true;
    }
    if (at >= code.size()) break;
    if (cfi.seek(address) && !(has_before && cfi.agrees(before))) line("CFI", address, cfi.text());
    if (budget && !budget->take(Resource::code_steps)) break; // reported at the end of the file
    at += instruction(code.subspan(at), address);
  }
  return rows.error();
}

} // namespace

std::unique_ptr<Dumper> make_disassembly_dumper(const DumperContext& context) {
  return std::make_unique<DisassemblyDumper>(context);
}

} // namespace sframe::dump
