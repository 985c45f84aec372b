// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// -v: each byte of a section once, in the order of the bytes, with its field, the section of the
// specification that describes it, and what it says.
//
//     OFFSET  BYTES                    SECTION  FIELD                    VALUE
//     0x0004  03                       2.2      sfh_abi_arch             amd64
//     0x0124  04 00                    2.3.2    sfda_func_num_fres       4
//
// The index is printed as the Driver passes functions. Rows come in the order of the index, too, but may be
// anywhere in their sub-section, and functions may share them: they are printed at the end of the part, up
// from what has been printed already. So no byte comes twice, whatever a hostile index says. Only what is
// kept for that, 16 bytes for each function, depends on the section's size.

#include "describe.h"
#include "formats.h"
#include "section_dumper.h"

#include <sframe/address.h>
#include <sframe/base/line.h>
#include <sframe/base/text.h>
#include <sframe/bytes.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sframe::dump {

namespace {

constexpr std::size_t offset_column = 2, bytes_column = 12, chapter_column = 37, field_column = 46,
                      value_column = 71;
constexpr std::uint64_t bytes_per_line = 8;

/// A field of fixed size, and the section of the specification that describes it.
struct Field {
  std::string_view name;
  std::uint32_t size;
  std::string_view chapter;
};

/// The same in all versions (SFrame 3 specification, sections 2.1 and 2.2).
constexpr Field header_fields[] = {{"sfp_magic", 2, "2.1.1"},
                                   {"sfp_version", 1, "2.1.2"},
                                   {"sfp_flags", 1, "2.1.3"},
                                   {"sfh_abi_arch", 1, "2.2.1"},
                                   {"sfh_cfa_fixed_fp_offset", 1, "2.2"},
                                   {"sfh_cfa_fixed_ra_offset", 1, "2.2"},
                                   {"sfh_auxhdr_len", 1, "2.2"},
                                   {"sfh_num_fdes", 4, "2.2"},
                                   {"sfh_num_fres", 4, "2.2"},
                                   {"sfh_fre_len", 4, "2.2"},
                                   {"sfh_fdeoff", 4, "2.2"},
                                   {"sfh_freoff", 4, "2.2"}};

/// The sections of the specification that describe data words, of versions with flexible FDEs and of those
/// without. Flexible FDEs have section 3.2.
struct WordChapter {
  std::string_view abi; ///< its name begins so
  std::string_view with_flex, without_flex;
};
constexpr WordChapter word_chapters[] = {
    {"amd64", "3.1.1", "3.1"}, {"aarch64", "3.1.2", "3.2"}, {"s390x", "3.1.3", "3.3"}};

std::string_view word_chapter(const Section& section, bool flex) {
  if (flex) return "3.2";
  for (const WordChapter& one : word_chapters)
    if (section.abi().name.starts_with(one.abi))
      return section.version().has_flex ? one.with_flex : one.without_flex;
  return "3";
}

class BytesDumper final : public SectionDumper {
public:
  explicit BytesDumper(const DumperContext& context)
      : SectionDumper(context.out), names_(context.names), has_all_(context.shows_all) {}

  void begin_section(const Object& object, const ObjectSection& section) override {
    SectionDumper::begin_section(object, section);
    bytes_ = section.contents.bytes();
    base_ = at_ = 0;
    is_damaged_ = false;
  }
  void begin_part(const Part& part) override;
  std::optional<Error> function(const EncodedFde& fde, const FunctionLocation& location,
                                RowCursor& rows) override;
  void end_part(const Problem* fault) override;
  void unreadable(const Problem&) override { is_damaged_ = true; }
  void end_section() override {
    if (has_all_ && !is_damaged_) unused(bytes_.size() - base_);
  }

private:
  void heading(std::string_view text, const EncodedFde& fde);
  void field(std::uint32_t size, std::string_view chapter, std::string_view name, std::string_view value);
  void unused(std::uint64_t end);
  void print_header();
  void print_entry(const EncodedFde& fde, const FunctionLocation& location);
  void print_rows(const EncodedFde& fde, std::uint64_t start);
  void print_attributes(const EncodedFde& fde);
  void print_row(const EncodedFde& fde, std::uint64_t start, const EncodedRow& row, const FrameRow& rules);
  void print_words(const EncodedFde& fde, const EncodedRow& row);
  bool has_attributes() const { return part_->version().attribute_size != 0; }

  Names& names_;
  bool has_all_; ///< no filter leaves out functions
  const Section* part_ = nullptr;
  std::span<const std::byte> bytes_; ///< of the section
  std::uint64_t base_ = 0;           ///< the part's offset in the section
  std::uint64_t at_ = 0;             ///< the next byte to print, from the part's start
  bool is_damaged_ = false;
  /// The functions that were passed: where their attributes or rows begin, and their numbers.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> functions_;
  Line line_;
};

/// A line about a function: "  index entry [4] 0x4fb-0x50b  main".
void BytesDumper::heading(std::string_view text, const EncodedFde& fde) {
  line_.clear();
  line_.text("\n  ").text(text).text(" [").number(fde.number).text("]");
  out_ << line_.view();
}

/// The next `size` bytes, or those that are left, as one line for each eight of them.
void BytesDumper::field(std::uint32_t size, std::string_view chapter, std::string_view name,
                        std::string_view value) {
  std::uint64_t left =
      std::min<std::uint64_t>(size, bytes_.size() - std::min<std::uint64_t>(bytes_.size(), base_ + at_));
  bool is_first = true;
  while (left != 0) {
    line_.clear();
    line_.pad_to(offset_column).text("0x");
    const std::uint64_t offset = base_ + at_;
    for (std::uint64_t limit = 0x1000; limit > 1 && offset < limit; limit /= 16) line_.put('0');
    line_.hex(offset).pad_to(bytes_column, 2);
    const std::uint64_t count = std::min(left, bytes_per_line);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto byte = std::to_integer<unsigned>(bytes_[offset + i]);
      line_.put("0123456789abcdef"[byte >> 4]).put("0123456789abcdef"[byte & 15]).put(' ');
    }
    if (is_first) line_.pad_to(chapter_column, 1).text(chapter).pad_to(field_column, 1).text(name);
    if (is_first && !value.empty()) line_.pad_to(value_column, 1);
    out_ << line_.view();
    if (is_first) out_.safe(value);
    out_ << "\n";
    at_ += count;
    left -= count;
    is_first = false;
  }
}

/// Bytes that nothing refers to, up to `end`.
void BytesDumper::unused(std::uint64_t end) {
  if (end <= at_) return;
  out_ << "\n";
  while (at_ < end && base_ + at_ < bytes_.size())
    field(static_cast<std::uint32_t>(std::min<std::uint64_t>(end - at_, 1 << 16)), "", "unused", "");
}

void BytesDumper::begin_part(const Part& part) {
  if (has_all_) unused(part.offset - base_);
  part_ = &part.section;
  base_ = part.offset;
  at_ = 0;
  functions_.clear();
  title();
  line_.clear();
  if (part.offset) line_.text(", part ").number(part.number + 1);
  line_.text(" at 0x").hex(part.section.address()).text(", version ").number(part.section.header().version);
  out_ << line_.view() << "\n";
  line_.clear();
  line_.pad_to(offset_column).text("OFFSET").pad_to(bytes_column).text("BYTES").pad_to(chapter_column);
  line_.text("SECTION").pad_to(field_column).text("FIELD").pad_to(value_column).text("VALUE\n");
  out_ << line_.view();
  print_header();
  if (has_all_) unused(std::min(part_->index_offset(), part_->rows_offset()));
}

void BytesDumper::print_header() {
  const Header& header = part_->header();
  std::string flags;
  for (const std::string& flag : flag_names(*part_)) flags += (flags.empty() ? "" : ", ") + flag;
  const std::uint64_t end = header_size + header.aux_header_size;
  const auto from_end = [&](std::uint32_t offset) {
    return std::to_string(offset) + " after the header: at " + hex(end + offset);
  };
  const auto fixed = [](std::int8_t offset, const char* reg) {
    if (offset == 0) return std::string("0: none, rows have rules for ") + reg;
    return std::to_string(offset) + ": " + reg + " at cfa" + std::to_string(offset);
  };
  const std::string values[] = {
      "0xdee2: " + std::string(byte_order_name(header.byte_order)) + "-endian",
      std::to_string(header.version),
      flags.empty() ? "none" : flags,
      std::string(part_->abi().name),
      fixed(header.fixed_fp_offset, "FP"),
      fixed(header.fixed_ra_offset, "RA"),
      counted(header.aux_header_size, "byte"),
      counted(header.num_fdes, "FDE"),
      counted(header.num_fres, "FRE"),
      counted(header.fre_size, "byte") + " of rows",
      from_end(header.fde_offset),
      from_end(header.fre_offset),
  };
  for (std::size_t i = 0; i < std::size(header_fields); ++i)
    field(header_fields[i].size, header_fields[i].chapter, header_fields[i].name, values[i]);
  if (header.aux_header_size != 0) field(header.aux_header_size, "2.2", "auxiliary header", "");
}

/// An entry of the index. Without attributes, it has what versions with them have there.
void BytesDumper::print_entry(const EncodedFde& fde, const FunctionLocation& location) {
  heading("index entry", fde);
  const auto name = names_.find(location);
  line_.clear();
  line_.text(" 0x")
      .hex(location.start)
      .text("-0x")
      .hex(range_end(location.start, fde.size))
      .text(name ? "  " : "");
  out_ << line_.view();
  if (name) out_.safe(name->text(true));
  out_ << "\n";
  const VersionTraits& version = part_->version();
  const bool split = has_attributes();
  const std::string_view chapter = split ? "2.3.1" : "2.3";
  at_ = fde.index_offset;
  const std::uint64_t end = at_ + version.entry_size;
  const auto stored = bytes_.subspan(base_ + at_, version.start_size);
  const auto start =
      static_cast<std::int64_t>(load_sized(stored.data(), version.start_size, part_->header().byte_order));
  const std::int64_t signed_start = version.start_size == 4 ? static_cast<std::int32_t>(start) : start;
  std::string section(names_.section_name(location));
  if (!section.empty()) section += " + ";
  field(version.start_size, chapter, split ? "sfdi_func_start_offset" : "sfde_func_start_address",
        std::to_string(signed_start) + " from " +
            (part_->header().flags & flag_func_start_pcrel ? "this field" : "the section's start") + ": " +
            section + hex(location.start));
  field(4, chapter, split ? "sfdi_func_size" : "sfde_func_size", counted(fde.size, "byte"));
  field(4, chapter, split ? "sfdi_func_start_fre_off" : "sfde_func_start_fre_off",
        std::to_string(fde.fre_offset) + " after the start of the rows: at " +
            hex(base_ + part_->rows_offset() + fde.fre_offset));
  if (split) return;
  field(4, chapter, "sfde_func_num_fres", counted(fde.num_fres, "row"));
  print_attributes(fde);
  if (at_ < end)
    field(static_cast<std::uint32_t>(end - at_), chapter, "sfde_func_padding2", std::to_string(fde.padding));
}

/// The info bytes, and the size of repeated blocks, which are in the index or in the attributes.
void BytesDumper::print_attributes(const EncodedFde& fde) {
  const bool split = has_attributes();
  std::string info = "row starts of " + counted(1U << static_cast<unsigned>(fde.fre_type), "byte");
  info += " (" + std::string(name_of(fde.fre_type)) + ")";
  if (fde.pc_type == PcType::mask) info += ", rows repeat (PCMASK)";
  if (fde.signal_frame) info += ", signal frame";
  if (part_->abi().signs_return_addresses) info += ", key " + std::string(name_of(fde.pauth_key));
  field(1, split ? "2.3.3" : "2.3.1", split ? "sfda_func_info" : "sfde_func_info", info);
  if (split) field(1, "2.3.3", "sfda_func_info2", std::string(name_of(fde.fde_type)) + " FDE");
  if (part_->version().has_rep_size)
    field(1, split ? "2.3.2" : "2.3", split ? "sfda_func_rep_size" : "sfde_func_rep_size",
          fde.pc_type == PcType::mask ? "blocks of " + counted(fde.rep_size, "byte")
                                      : std::to_string(fde.rep_size));
}

std::optional<Error> BytesDumper::function(const EncodedFde& fde, const FunctionLocation& location,
                                           RowCursor& rows) {
  print_entry(fde, location);
  functions_.emplace_back(fde.rows_offset - part_->version().attribute_size, fde.number);
  for (EncodedRow row; rows.next(row);)
    if (const auto rules = rows.decode(row); !rules) return rules.error();
  return rows.error();
}

void BytesDumper::end_part(const Problem* fault) {
  is_damaged_ |= fault != nullptr;
  const bool shows_unused = has_all_ && !is_damaged_;
  const bool index_is_last = part_->index_offset() > part_->rows_offset();
  const std::uint64_t after_index = at_;
  if (shows_unused && !index_is_last) unused(part_->rows_offset());
  at_ = part_->rows_offset();
  std::ranges::sort(functions_);
  for (const auto& [start, number] : functions_)
    if (const auto fde = part_->fde(number)) print_rows(*fde, start);
  if (!shows_unused) return;
  unused(part_->rows_offset() + part_->header().fre_size);
  if (index_is_last) {
    unused(part_->index_offset());
    at_ = std::max(at_, after_index);
  }
  unused(part_->bytes().size());
}

/// The attributes and rows of a function, which begin at `start`, from at_ on.
void BytesDumper::print_rows(const EncodedFde& fde, std::uint64_t start) {
  const std::uint64_t printed = at_;
  if (start > at_ && has_all_ && !is_damaged_) unused(start);
  at_ = std::max(at_, start);
  const bool is_shared = start < printed;
  heading("rows of", fde);
  const FunctionLocation location = names_.locate(*part_, base_, fde);
  if (const auto name = names_.find(location)) out_.safe(" " + name->text(true));
  out_ << (is_shared ? ", shared with functions above\n" : "\n");
  if (start >= printed && has_attributes()) {
    field(2, "2.3.2", "sfda_func_num_fres", counted(fde.num_fres, "row"));
    print_attributes(fde);
  }
  RowCursor rows = part_->rows(fde);
  for (EncodedRow row; rows.next(row);) {
    const auto rules = rows.decode(row);
    if (!rules) return;
    if (row.section_offset >= at_) print_row(fde, location.start, row, *rules);
  }
}

void BytesDumper::print_row(const EncodedFde& fde, std::uint64_t start, const EncodedRow& row,
                            const FrameRow& rules) {
  at_ = row.section_offset;
  std::string place = "+" + std::to_string(row.offset);
  place += fde.pc_type == PcType::mask ? " in each block" : ", " + hex(start + row.offset);
  field(1U << static_cast<unsigned>(fde.fre_type), "2.4", "sfre_start_address",
        place + ": " + rules_text(rules, part_->abi()));
  std::string info = (row.sp_based() ? "base SP, " : "base FP, ") + counted(row.word_count(), "data word");
  if (row.word_count() != 0) info += " of " + counted(row.word_size(), "byte");
  if (row.ra_signed()) info += ", RA signed";
  field(1, "2.4.1", "sfre_info", info);
  print_words(fde, row);
}

/// The words of a default FDE are offsets, those of a flexible one pairs of control word and offset.
void BytesDumper::print_words(const EncodedFde& fde, const EncodedRow& row) {
  const bool flex = fde.fde_type == FdeType::flex;
  std::vector<std::string_view> rules = {"CFA"};
  if (flex || part_->header().fixed_ra_offset == 0) rules.push_back("RA");
  if (flex || part_->header().fixed_fp_offset == 0) rules.push_back("FP");
  std::size_t rule = 0;
  bool is_offset = !flex; // the next word
  for (std::uint32_t i = 0; i < row.word_count(); ++i) {
    const std::string of(rule < rules.size() ? rules[rule] : "not used");
    std::string value = of + ": " + std::to_string(row.word(i));
    if (!is_offset) {
      const std::uint32_t control = row.control(i);
      constexpr std::uint32_t is_register = 1, is_memory = 2, register_shift = 3;
      value = of + (control == 0            ? ": no rule"
                    : control & is_register ? ": register " + std::to_string(control >> register_shift)
                                            : ": the CFA");
      if (control & is_memory) value += ", the value stored there";
      is_offset = control != 0;
      rule += control == 0;
    } else {
      ++rule;
      is_offset = !flex;
    }
    field(row.word_size(), word_chapter(*part_, flex), "data word " + std::to_string(i + 1), value);
  }
}

} // namespace

std::unique_ptr<Dumper> make_bytes_dumper(const DumperContext& context) {
  return std::make_unique<BytesDumper>(context);
}

} // namespace sframe::dump
