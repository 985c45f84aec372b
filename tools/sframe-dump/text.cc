// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format text, for people: names as in the source, how each function is encoded, and rows in columns as
// wide as the function's widest rule. A first pass over a function's rows determines the widths; only the
// texts of rules are stored.

#include "describe.h"
#include "formats.h"

#include <sframe/address.h>
#include <sframe/base/line.h>
#include <sframe/listing/row_texts.h>

#include <algorithm>
#include <array>

namespace sframe::dump {

namespace {

constexpr std::size_t header_label_width = 24;
constexpr std::size_t indent = 6; ///< of a function's lines

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

/// The texts of a row, and the column widths that they need. An outermost row has only the first text.
struct RuleTexts {
  std::string_view cfa, ra, fp;
  bool is_outermost() const { return ra.empty(); }
};
struct Widths {
  std::size_t cfa = 8, ra = 8, fp = 8;
};

class TextDumper final : public Dumper {
public:
  explicit TextDumper(const DumperContext& context)
      : out_(context.out), names_(context.names), color_(context.color), origins_(context.origins) {}

  void begin_object(const Object& object) override {
    object_ = &object;
    object_name_ = object.name();
  }
  std::optional<std::string> refuses(const Part& part) const override {
    return origins_ ? origins_->mismatch(*object_, *section_, part) : std::nullopt;
  }
  void empty_section(const Object& object, const ObjectSection& section) override {
    begin_section(object, section);
    title();
    out_ << ", empty\n";
  }
  void begin_section(const Object&, const ObjectSection& section) override { section_ = &section; }
  void begin_part(const Part& part) override;
  std::optional<Error> function(const EncodedFde& fde, const FunctionLocation& location,
                                RowCursor& rows) override;

private:
  enum class Style : std::uint8_t { title, name, faint };
  void styled(Style style, std::string_view text);
  void title();
  void field(std::string_view label, std::string_view value);
  void sub_section(std::string_view label, std::uint64_t offset, std::uint64_t size);
  void function_heading(const EncodedFde& fde, const FunctionLocation& location);
  void describe(const EncodedFde& fde, const FunctionLocation& location);
  std::string origin_text(const AddressRange& range) const;
  void list_functions(std::span<const Names::Inner> functions);
  std::optional<RuleTexts> texts_of(const EncodedRow& row, const RowCursor& rows, bool flex);
  std::optional<Widths> measure(RowCursor rows, bool flex);
  void append_columns(const RuleTexts& texts, std::string_view origin, const Widths& widths,
                      std::size_t line);
  void print_heading(bool mask, const Widths& widths);
  void append_row(std::uint64_t address, const RuleTexts& texts, const AddressRange& range,
                  const Widths& widths);
  void print_lines();

  tool::Output& out_;
  Names& names_;
  bool color_;
  const Origins* origins_;
  bool first_ = true;
  const Object* object_ = nullptr;
  std::string object_name_;
  const ObjectSection* section_ = nullptr;
  const Section* part_ = nullptr;
  listing::RowTexts texts_; ///< of the current section's rows
  std::string cfa_, ra_, fp_;
  std::optional<Error> error_;
  Line line_;
  BasicLine<8192> lines_; ///< of rows
};

void TextDumper::styled(Style style, std::string_view text) {
  constexpr std::array<std::string_view, 3> codes{"\x1b[1m", "\x1b[1;36m", "\x1b[2m"};
  if (color_) out_ << codes[static_cast<std::size_t>(style)];
  out_.safe(text);
  if (color_) out_ << "\x1b[0m";
}

void TextDumper::title() {
  if (!first_) out_ << "\n";
  first_ = false;
  styled(Style::title, object_name_ + ": section " + section_->name);
}

void TextDumper::field(std::string_view label, std::string_view value) {
  line_.clear();
  out_ << line_.text("  ").text(label).pad_to(header_label_width).view() << value << "\n";
}

void TextDumper::sub_section(std::string_view label, std::uint64_t offset, std::uint64_t size) {
  field(label, plural(size, "byte") + " at offset " + hex(offset));
}

/// The meaning of a fixed offset in the header.
std::string fixed_offset_text(std::int8_t offset, std::string_view reg) {
  if (offset == 0) return "0 (each row gives the rule for " + std::string(reg) + ")";
  Line line;
  line.number(offset).text(" (").text(reg).text(" at cfa").offset(offset).put(')');
  return std::string(line.view());
}

void TextDumper::begin_part(const Part& part) {
  part_ = &part.section;
  texts_ = {};
  const Header& header = part.section.header();
  title();
  if (part.offset) out_ << ", part " << std::to_string(part.number + 1) << " at offset " << hex(part.offset);
  out_ << "\n";
  field("Address", hex(part.section.address()));
  field("Size", plural(part.section.bytes().size(), "byte"));
  field("Version", std::to_string(header.version));
  field("ABI", std::string(part.section.abi().name) + ", " + std::string(byte_order_name(header.byte_order)) +
                   "-endian");
  field("Flags", header.flags ? hex(header.flags) + " (" + join(flag_names(part.section)) + ")" : "none");
  field("Fixed FP offset", fixed_offset_text(header.fixed_fp_offset, "FP"));
  field("Fixed RA offset", fixed_offset_text(header.fixed_ra_offset, "RA"));
  field("Auxiliary header", plural(header.aux_header_size, "byte"));
  field("Functions (FDEs)", std::to_string(header.num_fdes));
  field("Rows (FREs)", std::to_string(header.num_fres));
  sub_section("Index", part.section.index_offset(),
              std::uint64_t{header.num_fdes} * part.section.version().entry_size);
  sub_section("Rows", part.section.rows_offset(), header.fre_size);
}

void TextDumper::function_heading(const EncodedFde& fde, const FunctionLocation& location) {
  line_.clear();
  line_.text("\n  [").number(fde.number).text("] ");
  out_ << line_.view();
  if (const auto section = names_.section_name(location); !section.empty()) {
    out_.safe(section);
    out_ << " ";
  }
  line_.clear();
  line_.text("0x").hex(location.start).text("-0x").hex(range_end(location.start, fde.size));
  styled(Style::faint, line_.view());
  if (const auto name = names_.find(location)) {
    out_ << "  ";
    styled(Style::name, name->text(true));
  }
  out_ << "\n";
}

/// The line that describes how a function is encoded.
void TextDumper::describe(const EncodedFde& fde, const FunctionLocation& location) {
  out_ << "      " << plural(fde.size, "byte") << ", " << name_of(fde.fre_type);
  out_ << (fde.fde_type == FdeType::flex ? ", flex, " : ", ") << plural(fde.num_fres, "row");
  if (fde.pc_type == PcType::mask) out_ << " repeating every " << plural(fde.rep_size, "byte") << " (PCMASK)";
  if (fde.signal_frame) out_ << ", signal frame";
  if (part_->abi().signs_return_addresses && fde.pauth_key == PauthKey::b) out_ << ", key B";
  if (part_->outermost_throughout(fde)) out_ << ", outermost frame throughout";
  if (origins_) out_ << ", from " << origin_text({location.start, fde.size});
  out_ << "\n";
}

std::string TextDumper::origin_text(const AddressRange& range) const {
  std::string text;
  for (const std::string_view name : Origins::names(origins_->of({range.start - object_->bias, range.size})))
    text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

/// The other functions of an FDE that has several.
void TextDumper::list_functions(std::span<const Names::Inner> functions) {
  if (functions.empty()) return;
  out_ << "      also";
  for (const Names::Inner& function : functions) {
    line_.clear();
    line_.text(&function == &functions.front() ? " 0x" : ", 0x").hex(function.start).text(" ");
    out_ << line_.view();
    styled(Style::name, function.name.text(true));
  }
  out_ << "\n";
}

/// The row's texts, valid until the next call; sets error_ if it cannot be decoded.
std::optional<RuleTexts> TextDumper::texts_of(const EncodedRow& row, const RowCursor& rows, bool flex) {
  if (const listing::RowTexts::Text* const known = texts_.find(row, flex))
    return RuleTexts{known->piece(0), known->piece(1), known->piece(2)};
  const auto decoded = rows.decode(row);
  if (!decoded) {
    error_ = decoded.error();
    return std::nullopt;
  }
  cfa_.clear();
  ra_.clear();
  fp_.clear();
  if (decoded->is_outermost()) {
    cfa_ = "outermost frame (RA undefined)";
  } else {
    append_rule(cfa_, decoded->cfa, part_->abi(), true);
    append_rule(ra_, decoded->ra, part_->abi(), false);
    append_rule(fp_, decoded->fp, part_->abi(), false);
    if (decoded->ra_signed) ra_ += " signed";
  }
  texts_.add(cfa_, ra_, fp_);
  return RuleTexts{cfa_, ra_, fp_};
}

/// The widths of the columns; empty if there is no row to show.
std::optional<Widths> TextDumper::measure(RowCursor rows, bool flex) {
  std::optional<Widths> widths;
  for (EncodedRow row; rows.next(row);) {
    const auto texts = texts_of(row, rows, flex);
    if (!texts) break;
    if (!widths) widths = Widths();
    if (texts->is_outermost()) continue;
    widths->cfa = std::max(widths->cfa, texts->cfa.size());
    widths->ra = std::max(widths->ra, texts->ra.size());
    widths->fp = std::max(widths->fp, texts->fp.size());
  }
  return widths;
}

std::optional<Error> TextDumper::function(const EncodedFde& fde, const FunctionLocation& location,
                                          RowCursor& rows) {
  function_heading(fde, location);
  describe(fde, location);
  list_functions(names_.inside(location, fde.size));
  const bool mask = fde.pc_type == PcType::mask, flex = fde.fde_type == FdeType::flex;
  error_.reset();
  const auto widths = measure(rows, flex);
  if (widths) print_heading(mask, *widths);
  for (PlacedRow row; next_row(rows, fde, origins_, row);) {
    const auto texts = texts_of(row.row, rows, flex);
    if (!texts) break;
    append_row(row.row.offset + (mask ? 0 : location.start), *texts, {location.start + row.begin, row.size},
               *widths);
  }
  print_lines();
  return error_ ? error_ : rows.error();
}

/// Appends the columns after the first one to lines_, where the line began at `line`.
void TextDumper::append_columns(const RuleTexts& texts, std::string_view origin, const Widths& widths,
                                std::size_t line) {
  constexpr std::size_t start_width = 18, gap = 2;
  const std::size_t cfa_at = line + indent + start_width + gap, ra_at = cfa_at + widths.cfa + gap,
                    fp_at = ra_at + widths.ra + gap, origin_at = fp_at + widths.fp + gap;
  lines_.pad_to(cfa_at).text(texts.cfa);
  if (!texts.is_outermost()) lines_.pad_to(ra_at).text(texts.ra).pad_to(fp_at).text(texts.fp);
  if (!origin.empty()) lines_.pad_to(origin_at).text(origin);
}

void TextDumper::print_heading(bool mask, const Widths& widths) {
  lines_.clear();
  lines_.pad_to(indent).text(mask ? "OFFSET" : "START");
  append_columns({"CFA", "RA", "FP"}, origins_ ? "ORIGIN" : "", widths, 0);
  styled(Style::faint, lines_.view());
  out_ << "\n";
  lines_.clear();
}

void TextDumper::append_row(std::uint64_t address, const RuleTexts& texts, const AddressRange& range,
                            const Widths& widths) {
  if (lines_.size() > lines_.capacity - Line::capacity) print_lines();
  const std::size_t line = lines_.size();
  lines_.pad_to(line + indent).text("0x").hex(address);
  append_columns(texts, origins_ ? origin_text(range) : std::string(), widths, line);
  lines_.put('\n');
}

void TextDumper::print_lines() {
  out_ << lines_.view();
  lines_.clear();
}

} // namespace

std::unique_ptr<Dumper> make_text_dumper(const DumperContext& context) {
  return std::make_unique<TextDumper>(context);
}

} // namespace sframe::dump
