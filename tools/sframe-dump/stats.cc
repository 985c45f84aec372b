// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --stats as tables for people.

#include "stats.h"

#include "describe.h"
#include "section_dumper.h"

#include <sframe/base/line.h>
#include <sframe/base/text.h>

#include <string>

namespace sframe::dump {

namespace {

constexpr std::size_t label_width = 26, number_width = 12;

class StatsDumper final : public SectionDumper {
public:
  explicit StatsDumper(const DumperContext& context) : SectionDumper(context.out) {}

  void begin_object(const Object& object) override {
    SectionDumper::begin_object(object);
    collector_.begin_object(object);
    any_ = false;
  }
  void begin_part(const Part& part) override;
  void end_part(const Problem*) override;
  void end_object() override;
  std::optional<Error> function(const EncodedFde& fde, const FunctionLocation& location,
                                RowCursor& rows) override {
    return collector_.function(fde, location, rows);
  }

private:
  void line(std::string_view label, std::uint64_t value, std::string_view remark = {});
  void share(std::string_view label, std::uint64_t value, std::uint64_t total);
  void encoding(std::string_view label, const EncodingStats& stats, bool functions);
  void print_counts(const PartStats& stats);
  void print_bytes(const PartStats& stats);
  void print_encodings(const PartStats& stats);

  StatsCollector collector_;
  bool any_ = false;
};

/// A ratio with one decimal place, rounded.
std::string decimal(std::uint64_t part, std::uint64_t whole, std::uint64_t scale) {
  if (whole == 0) return "-";
  const auto tenths = static_cast<std::uint64_t>(
      static_cast<double>(part) / static_cast<double>(whole) * static_cast<double>(scale * 10) + 0.5);
  return with_commas(tenths / 10) + "." + std::to_string(tenths % 10);
}

void StatsDumper::line(std::string_view label, std::uint64_t value, std::string_view remark) {
  out_ << "  ";
  out_.padded(label, label_width).right(with_commas(value), number_width);
  if (!remark.empty()) out_ << "  " << remark;
  out_ << "\n";
}

void StatsDumper::share(std::string_view label, std::uint64_t value, std::uint64_t total) {
  const std::string text = percent(value, total);
  Line remark;
  remark.pad_to(text.size() < 7 ? 7 - text.size() : 0).text(text);
  line(label, value, remark.view());
}

void StatsDumper::begin_part(const Part& part) {
  collector_.begin_part(part);
  any_ = true;
  title(part);
  out_ << ": version " << std::to_string(part.section.header().version) << ", " << part.section.abi().name
       << "\n";
}

void StatsDumper::print_counts(const PartStats& stats) {
  line("functions (FDEs)", stats.functions);
  line("  PCMASK", stats.masked);
  line("  signal frames", stats.signal);
  line("  key B", stats.key_b);
  line("  without rows", stats.without_rows);
  line("rows (FREs)", stats.rows,
       decimal(stats.rows, stats.functions, 1) + " per function, at most " + with_commas(stats.max_rows));
  line("  outermost", stats.outermost);
  line("data words", stats.words, decimal(stats.words, stats.rows, 1) + " per row");
}

void StatsDumper::print_bytes(const PartStats& stats) {
  const ByteStats& bytes = stats.bytes;
  out_ << "\n  bytes\n";
  share("  header", bytes.header, bytes.total);
  share("  auxiliary header", bytes.aux_header, bytes.total);
  share("  index", bytes.index, bytes.total);
  share("  attributes", bytes.attributes, bytes.total);
  share("  row starts and info", bytes.row_starts, bytes.total);
  share("  data words", bytes.data_words, bytes.total);
  share("  padding", bytes.padding, bytes.total);
  line("  total", bytes.total,
       decimal(bytes.total, stats.functions, 1) + " per function; rows of one function: " +
           decimal(stats.row_bytes, stats.functions, 1) + ", at most " + with_commas(stats.max_bytes));
  if (stats.shared_bytes) line("  saved by sharing rows", stats.shared_bytes);
}

void StatsDumper::encoding(std::string_view label, const EncodingStats& stats, bool functions) {
  out_ << "  ";
  out_.padded(label, label_width);
  if (functions)
    out_.right(with_commas(stats.functions), number_width);
  else
    out_.fill(' ', number_width);
  out_.right(with_commas(stats.rows), number_width).right(with_commas(stats.bytes), number_width) << "\n";
}

void StatsDumper::print_encodings(const PartStats& stats) {
  out_ << "\n  ";
  out_.padded("encoding", label_width);
  out_.right("functions", number_width).right("rows", number_width).right("bytes", number_width) << "\n";
  for (std::size_t i = 0; i < stats.by_fre_type.size(); ++i)
    encoding("  " + std::string(name_of(static_cast<FreType>(i))), stats.by_fre_type[i], true);
  for (std::size_t i = 0; i < stats.by_fde_type.size(); ++i)
    encoding("  " + std::string(name_of(static_cast<FdeType>(i))), stats.by_fde_type[i], true);
  encoding("  data words of 1 byte", stats.by_word_size[0], false);
  encoding("  data words of 2 bytes", stats.by_word_size[1], false);
  encoding("  data words of 4 bytes", stats.by_word_size[2], false);
}

void StatsDumper::end_part(const Problem*) {
  const PartStats stats = collector_.part();
  print_counts(stats);
  print_bytes(stats);
  print_encodings(stats);
}

void StatsDumper::end_object() {
  if (!any_ || !object_->image) return;
  const ObjectStats stats = collector_.object();
  const std::uint64_t cfi = stats.eh_frame + stats.eh_frame_hdr;
  out_ << "\n";
  out_.safe(object_->name());
  out_ << "\n";
  line("executable bytes", stats.executable_bytes);
  line("  covered", stats.covered_bytes, percent(stats.covered_bytes, stats.executable_bytes));
  line("bytes with CFI", stats.cfi_bytes);
  line("  covered", stats.covered_cfi_bytes, percent(stats.covered_cfi_bytes, stats.cfi_bytes));
  line("bytes of SFrame", stats.sframe,
       cfi ? percent(stats.sframe, cfi) + " of .eh_frame and .eh_frame_hdr" : "");
  line("bytes of .eh_frame", stats.eh_frame);
  line("bytes of .eh_frame_hdr", stats.eh_frame_hdr);
}

} // namespace

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return decimal(part, whole, 100) + " %";
}

std::unique_ptr<Dumper> make_stats_dumper(const DumperContext& context) {
  return std::make_unique<StatsDumper>(context);
}

} // namespace sframe::dump
