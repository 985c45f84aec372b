// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format text, for people: names as in the source, how each function is encoded, and rows in columns as
// wide as the function's widest rule. Rows whose rules all fit the least widths, as most do, are appended in
// one pass; for others a first pass determines the widths. Only the texts of rules are stored.

#include "describe.h"
#include "formats.h"
#include "section_dumper.h"

#include <sframe/address.h>
#include <sframe/base/line.h>
#include <sframe/base/text.h>
#include <sframe/listing/row_texts.h>

#include <algorithm>
#include <array>

namespace sframe::dump {

namespace {

constexpr std::size_t header_label_width = 24;
constexpr std::size_t indent = 6;                                 ///< of a function's lines
constexpr std::size_t start_width = 18, least_width = 8, gap = 2; ///< of a row's columns
constexpr std::string_view row_start = "      0x";
static_assert(row_start.size() == indent + 2);

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

Line& append_plural(Line& line, std::uint64_t count, std::string_view noun) {
  return line.text(counted(count, noun));
}

/// The texts of a row, one after the other in memory: those of CFA and RA with spaces up to the next column,
/// where columns have the least width. An outermost row has only the first text, without spaces.
struct RuleTexts {
  std::string_view cfa, ra, fp;

  RuleTexts(std::string_view cfa_text, std::string_view ra_text, std::string_view fp_text)
      : cfa(cfa_text), ra(ra_text), fp(fp_text) {}
  explicit RuleTexts(const listing::RowTexts::Text& kept)
      : RuleTexts(kept.piece(0), kept.piece(1), kept.piece(2)) {}
  std::array<std::string_view, 3> pieces() const { return {cfa, ra, fp}; }
  bool is_outermost() const { return ra.empty(); }
  bool fits_least_widths() const {
    return is_outermost() ||
           (cfa.size() == least_width + gap && ra.size() == least_width + gap && fp.size() <= least_width);
  }
  std::string_view all() const { return {cfa.data(), cfa.size() + ra.size() + fp.size()}; }
};
std::string_view without_spaces(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

struct Widths {
  std::size_t cfa = least_width, ra = least_width, fp = least_width;
};

/// Appends the columns after the first one, where the line began at `begin`.
template <std::size_t Capacity>
void append_columns(BasicLine<Capacity>& line, std::size_t begin, const RuleTexts& texts,
                    std::string_view origin, const Widths& widths) {
  const std::size_t cfa_at = begin + indent + start_width + gap, ra_at = cfa_at + widths.cfa + gap,
                    fp_at = ra_at + widths.ra + gap, origin_at = fp_at + widths.fp + gap;
  line.pad_to(cfa_at).text(without_spaces(texts.cfa));
  if (!texts.is_outermost()) line.pad_to(ra_at).text(without_spaces(texts.ra)).pad_to(fp_at).text(texts.fp);
  if (!origin.empty()) line.pad_to(origin_at).text(origin);
}

class TextDumper final : public SectionDumper {
public:
  explicit TextDumper(const DumperContext& context)
      : SectionDumper(context.out), names_(context.names), color_(context.color), origins_(context.origins) {}

  std::optional<std::string> refuses(const Part& part) const override {
    return origins_ ? origins_->mismatch(*object_, *section_, part) : std::nullopt;
  }
  void begin_part(const Part& part) override;
  std::optional<Error> function(const EncodedFde& fde, const FunctionLocation& location,
                                RowCursor& rows) override;

private:
  enum class Style : std::uint8_t { title, name, faint };
  std::string_view style_start(Style style) const;
  std::string_view style_end() const { return color_ ? "\x1b[0m" : ""; }
  void begin_style(Style style) {
    if (color_) out_ << style_start(style);
  }
  void end_style() {
    if (color_) out_ << style_end();
  }
  void styled(Style style, std::string_view text);
  void print_title(std::string_view text) override { styled(Style::title, text); }
  void field(std::string_view label, std::string_view value);
  void sub_section(std::string_view label, std::uint64_t offset, std::uint64_t size);
  void function_heading(const EncodedFde& fde, const FunctionLocation& location);
  void describe(const EncodedFde& fde, const FunctionLocation& location);
  std::string origin_text(const AddressRange& range) const;
  void list_functions(std::span<const Names::Inner> functions);
  /// The row's texts, valid until the next call; sets error_ if it cannot be decoded.
  std::optional<RuleTexts> texts_of(const EncodedRow& row, const RowCursor& rows, bool flex) {
    return texts_.get<RuleTexts>(row, rows, flex, error_,
                                 [&](const FrameRow& decoded) { return make_texts(decoded); });
  }
  RuleTexts make_texts(const FrameRow& row);
  bool append_narrow_rows(RowCursor& rows, std::uint64_t start, bool flex);
  std::optional<Widths> measure(RowCursor rows, bool flex);
  std::string heading(bool mask, const Widths& widths) const;
  void append_row(std::uint64_t address, const RuleTexts& texts, const AddressRange& range,
                  const Widths& widths);
  bool lines_are_full() const { return lines_.size() > lines_.capacity - Line::capacity; }
  void print_lines();

  Names& names_;
  bool color_;
  const Origins* origins_;
  const Section* part_ = nullptr;
  listing::RowTexts texts_;                    ///< of the current section's rows
  std::string row_;                            ///< the texts of a row that texts_ did not have
  std::array<std::string, 2> narrow_headings_; ///< of columns of the least widths, once needed: START, OFFSET
  std::optional<Error> error_;
  Line line_;
  BasicLine<8192> lines_; ///< of rows
};

std::string_view TextDumper::style_start(Style style) const {
  constexpr std::array<std::string_view, 3> codes{"\x1b[1m", "\x1b[1;36m", "\x1b[2m"};
  return color_ ? codes[static_cast<std::size_t>(style)] : std::string_view();
}

void TextDumper::styled(Style style, std::string_view text) {
  begin_style(style);
  out_.safe(text);
  end_style();
}

void TextDumper::field(std::string_view label, std::string_view value) {
  line_.clear();
  out_ << line_.text("  ").text(label).pad_to(header_label_width).view() << value << "\n";
}

void TextDumper::sub_section(std::string_view label, std::uint64_t offset, std::uint64_t size) {
  Line value;
  field(label, append_plural(value, size, "byte").text(" at offset 0x").hex(offset).view());
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
  title(part);
  out_ << "\n";
  field("Address", hex(part.section.address()));
  Line size, auxiliary;
  field("Size", append_plural(size, part.section.bytes().size(), "byte").view());
  field("Version", std::to_string(header.version));
  field("ABI", std::string(part.section.abi().name) + ", " + std::string(byte_order_name(header.byte_order)) +
                   "-endian");
  field("Flags", header.flags ? hex(header.flags) + " (" + join(flag_names(part.section)) + ")" : "none");
  field("Fixed FP offset", fixed_offset_text(header.fixed_fp_offset, "FP"));
  field("Fixed RA offset", fixed_offset_text(header.fixed_ra_offset, "RA"));
  field("Auxiliary header", append_plural(auxiliary, header.aux_header_size, "byte").view());
  field("Functions (FDEs)", with_commas(header.num_fdes));
  field("Rows (FREs)", with_commas(header.num_fres));
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
  begin_style(Style::faint);
  out_ << line_.view();
  end_style();
  if (const auto name = names_.find(location)) {
    out_ << "  ";
    styled(Style::name, name->text(true));
  }
  out_ << "\n";
}

/// The line that describes how a function is encoded.
void TextDumper::describe(const EncodedFde& fde, const FunctionLocation& location) {
  line_.clear();
  append_plural(line_.text("      "), fde.size, "byte").text(", ").text(name_of(fde.fre_type));
  append_plural(line_.text(fde.fde_type == FdeType::flex ? ", flex, " : ", "), fde.num_fres, "row");
  if (fde.pc_type == PcType::mask)
    append_plural(line_.text(" repeating every "), fde.rep_size, "byte").text(" (PCMASK)");
  if (fde.signal_frame) line_.text(", signal frame");
  if (part_->abi().signs_return_addresses && fde.pauth_key == PauthKey::b) line_.text(", key B");
  if (part_->outermost_throughout(fde)) line_.text(", outermost frame throughout");
  out_ << line_.view();
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

/// Valid until the next call.
RuleTexts TextDumper::make_texts(const FrameRow& row) {
  row_.clear();
  if (row.is_outermost()) return {row_ = "outermost frame (RA undefined)", {}, {}};
  const auto next_column = [this](std::size_t column) {
    row_.resize(std::max(row_.size(), column + least_width) + gap, ' ');
    return row_.size();
  };
  append_rule(row_, row.cfa, part_->abi(), true);
  const std::size_t ra_at = next_column(0);
  append_rule(row_, row.ra, part_->abi(), false);
  if (row.ra_signed) row_ += " signed";
  const std::size_t fp_at = next_column(ra_at);
  append_rule(row_, row.fp, part_->abi(), false);
  const std::string_view all = row_;
  return {all.substr(0, ra_at), all.substr(ra_at, fp_at - ra_at), all.substr(fp_at)};
}

/// Appends the rows to lines_, if all fit columns of the least widths, can be decoded and are few. Otherwise
/// appends none, and leaves `rows` where it was.
bool TextDumper::append_narrow_rows(RowCursor& rows, std::uint64_t start, bool flex) {
  const RowCursor first = rows;
  bool fit = true;
  for (EncodedRow row; rows.next(row);) {
    const auto texts = texts_of(row, rows, flex);
    fit = texts && texts->fits_least_widths() && !lines_are_full();
    if (!fit) break;
    const std::size_t line = lines_.size();
    lines_.text(row_start).hex(start + row.offset).pad_to(line + indent + start_width + gap);
    lines_.text(texts->all()).put('\n');
  }
  if (fit && !rows.error()) return lines_.size() != 0;
  rows = first;
  error_.reset();
  lines_.clear();
  return false;
}

/// The widths of the columns; empty if there is no row to show.
std::optional<Widths> TextDumper::measure(RowCursor rows, bool flex) {
  std::optional<Widths> widths;
  for (EncodedRow row; rows.next(row);) {
    const auto texts = texts_of(row, rows, flex);
    if (!texts) break;
    if (!widths) widths = Widths();
    if (texts->is_outermost()) continue;
    widths->cfa = std::max(widths->cfa, without_spaces(texts->cfa).size());
    widths->ra = std::max(widths->ra, without_spaces(texts->ra).size());
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
  const std::uint64_t start = mask ? 0 : location.start;
  error_.reset();
  if (!origins_ && append_narrow_rows(rows, start, flex)) {
    std::string& narrow = narrow_headings_[mask ? 1 : 0];
    if (narrow.empty()) narrow = heading(mask, Widths());
    out_ << narrow;
    print_lines();
    return std::nullopt;
  }
  const auto widths = measure(rows, flex);
  if (widths) out_ << heading(mask, *widths);
  for (PlacedRow row; next_row(rows, fde, origins_, row);) {
    const auto texts = texts_of(row.row, rows, flex);
    if (!texts) break;
    append_row(start + row.row.offset, *texts, {location.start + row.begin, row.size}, *widths);
  }
  print_lines();
  return error_ ? error_ : rows.error();
}

/// The line above a function's rows.
std::string TextDumper::heading(bool mask, const Widths& widths) const {
  Line line;
  line.pad_to(indent).text(mask ? "OFFSET" : "START");
  append_columns(line, 0, RuleTexts("CFA", "RA", "FP"), origins_ ? "ORIGIN" : "", widths);
  return std::string(style_start(Style::faint)).append(line.view()).append(style_end()).append("\n");
}

void TextDumper::append_row(std::uint64_t address, const RuleTexts& texts, const AddressRange& range,
                            const Widths& widths) {
  if (lines_are_full()) print_lines();
  const std::size_t line = lines_.size();
  lines_.text(row_start).hex(address);
  append_columns(lines_, line, texts, origins_ ? origin_text(range) : std::string(), widths);
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
