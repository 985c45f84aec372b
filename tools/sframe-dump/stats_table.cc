// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --stats of many files: one line for each and a total, for people or as CSV (RFC 4180). The members of an
// archive are one line.

#include "stats.h"

#include <sframe/base/text.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace sframe::dump {

namespace {

/// What is added up.
struct Sums {
  std::uint64_t files = 0, functions = 0, rows = 0, bytes = 0;
  ObjectStats object;

  void add(const ObjectStats& other) {
    object.executable_bytes += other.executable_bytes;
    object.covered_bytes += other.covered_bytes;
    object.cfi_bytes += other.cfi_bytes;
    object.covered_cfi_bytes += other.covered_cfi_bytes;
    object.eh_frame += other.eh_frame;
    object.eh_frame_hdr += other.eh_frame_hdr;
  }
  void add(const Sums& other) {
    ++files;
    functions += other.functions;
    rows += other.rows;
    bytes += other.bytes;
    add(other.object);
  }
};

class StatsTableDumper final : public Dumper {
public:
  StatsTableDumper(const DumperContext& context, bool is_csv) : out_(context.out), is_csv_(is_csv) {}

  void begin_object(const Object& object) override {
    if (object.path != path_) print();
    path_ = object.path;
    object_ = &object;
    collector_.begin_object(object);
    has_part_ = false;
  }
  void empty_section(const Object&, const ObjectSection&) override { has_line_ = true; }
  void begin_section(const Object&, const ObjectSection&) override {}
  void begin_part(const Part& part) override {
    collector_.begin_part(part);
    has_part_ = has_line_ = true;
  }
  std::optional<Error> function(const EncodedFde& fde, const FunctionLocation& location,
                                RowCursor& rows) override {
    return collector_.function(fde, location, rows);
  }
  void end_part(const Problem*) override {
    const PartStats stats = collector_.part();
    file_.functions += stats.functions;
    file_.rows += stats.rows;
    file_.bytes += stats.bytes.total;
  }
  void end_object() override {
    if (has_part_ && object_->image) file_.add(collector_.object());
  }
  void finish() override {
    print();
    begin_table();
    if (is_csv_)
      print_csv("total", total_);
    else
      print_text("total of " + counted(total_.files, "file"), total_);
  }

private:
  void begin_table() {
    if (has_table_) return;
    has_table_ = true;
    out_ << (is_csv_ ? "file,functions,rows,sframe_bytes,executable_bytes,covered_bytes,cfi_bytes,"
                       "covered_cfi_bytes,eh_frame_bytes,eh_frame_hdr_bytes\r\n"
                     : "   FUNCTIONS        ROWS       BYTES  /EH_FRAME  COVERED   OF CFI  FILE\n");
  }
  /// The line of the file that ends.
  void print() {
    if (has_line_) {
      begin_table();
      if (is_csv_)
        print_csv(path_, file_);
      else
        print_text(path_, file_);
      total_.add(file_);
    }
    file_ = {};
    has_line_ = false;
  }
  void print_text(std::string_view name, const Sums& sums) {
    const ObjectStats& object = sums.object;
    for (const std::uint64_t number : {sums.functions, sums.rows, sums.bytes})
      out_.right(with_commas(number), number_width);
    out_.right(percent(sums.bytes, object.eh_frame + object.eh_frame_hdr), share_width + 2);
    out_.right(percent(object.covered_bytes, object.executable_bytes), share_width);
    out_.right(percent(object.covered_cfi_bytes, object.cfi_bytes), share_width) << "  ";
    out_.safe(name) << '\n';
  }
  void print_csv(std::string_view name, const Sums& sums) {
    const ObjectStats& object = sums.object;
    const bool is_quoted = name.find_first_of(",\"\r\n") != name.npos;
    if (is_quoted) out_ << '"';
    for (const char c : name) {
      if (c == '"') out_ << c;
      out_ << c;
    }
    if (is_quoted) out_ << '"';
    for (const std::uint64_t number :
         {sums.functions, sums.rows, sums.bytes, object.executable_bytes, object.covered_bytes,
          object.cfi_bytes, object.covered_cfi_bytes, object.eh_frame, object.eh_frame_hdr})
      out_ << ',' << std::to_string(number);
    out_ << "\r\n";
  }

  static constexpr unsigned number_width = 12, share_width = 9;

  tool::Output& out_;
  bool is_csv_;
  StatsCollector collector_;
  const Object* object_ = nullptr;
  std::string path_;
  bool has_part_ = false, has_line_ = false, has_table_ = false;
  Sums file_, total_;
};

} // namespace

std::unique_ptr<Dumper> make_stats_table_dumper(const DumperContext& context) {
  return std::make_unique<StatsTableDumper>(context, false);
}

std::unique_ptr<Dumper> make_stats_csv_dumper(const DumperContext& context) {
  return std::make_unique<StatsTableDumper>(context, true);
}

} // namespace sframe::dump
