// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --stats with --format=json: docs/json.md describes every key. The page of --format=html has the same, and
// the details of stats_details.h.

#include "describe.h"
#include "json.h"
#include "stats.h"
#include "stats_details.h"

namespace sframe::dump {

namespace {

using llvm::json::OStream;

class StatsJsonDumper final : public Dumper {
public:
  explicit StatsJsonDumper(const DumperContext& context) : files_(context.out), json_(files_.json()) {}
  /// Writes a page.
  StatsJsonDumper(const DumperContext& context, Details details)
      : files_(context.out, context.title), json_(files_.json()), details_(std::move(details)) {}

  void begin_object(const Object& object) override {
    object_ = &object;
    collector_.begin_object(object);
    files_.begin_object(object);
  }
  void end_object() override;
  void empty_section(const Object&, const ObjectSection& section) override { files_.empty_section(section); }
  void begin_section(const Object&, const ObjectSection& section) override { section_ = &section; }
  void unreadable(const Problem& fault) override { files_.unreadable(*section_, fault); }
  void begin_part(const Part& part) override {
    collector_.begin_part(part);
    if (details_) details_->begin_part();
    json_.objectBegin();
    write_header(json_, section_->name, part);
  }
  void end_part(const Problem* fault) override;
  std::optional<Error> function(const EncodedFde& fde, const FunctionLocation& location,
                                RowCursor& rows) override {
    auto error = collector_.function(fde, location, rows);
    if (details_ && !error) details_->add(fde, location, collector_.last());
    return error;
  }
  void unreadable_file(const std::string& name, const Problem& problem) override {
    files_.unreadable_file(name, problem);
  }
  void finish() override { files_.finish(); }

private:
  void write_part(const PartStats& stats);
  void write_bytes(const ByteStats& bytes);
  void write_encoding(std::string_view name, const EncodingStats& stats, bool functions);

  JsonFiles files_;
  OStream& json_;
  StatsCollector collector_;
  std::optional<Details> details_;
  const Object* object_ = nullptr;
  const ObjectSection* section_ = nullptr;
};

void StatsJsonDumper::end_part(const Problem* fault) {
  json_.attributeObject("stats", [&] { write_part(collector_.part()); });
  if (details_) details_->write_part(json_);
  if (fault) write_fault(json_, *fault);
  json_.objectEnd();
}

void StatsJsonDumper::write_part(const PartStats& stats) {
  json_.attribute("functions", stats.functions);
  json_.attribute("rows", stats.rows);
  json_.attribute("data_words", stats.words);
  json_.attribute("pcmask_functions", stats.masked);
  json_.attribute("signal_functions", stats.signal);
  json_.attribute("key_b_functions", stats.key_b);
  json_.attribute("functions_without_rows", stats.without_rows);
  json_.attribute("outermost_rows", stats.outermost);
  json_.attribute("max_rows", stats.max_rows);
  json_.attribute("max_row_bytes", stats.max_bytes);
  json_.attribute("row_bytes", stats.row_bytes);
  json_.attribute("shared_bytes", stats.shared_bytes);
  json_.attribute("stored_rows", stats.stored_rows);
  write_bytes(stats.bytes);
  json_.attributeObject("encodings", [&] {
    for (std::size_t i = 0; i < stats.by_fre_type.size(); ++i)
      write_encoding(name_of(static_cast<FreType>(i)), stats.by_fre_type[i], true);
    for (std::size_t i = 0; i < stats.by_fde_type.size(); ++i)
      write_encoding(name_of(static_cast<FdeType>(i)), stats.by_fde_type[i], true);
    write_encoding("word1", stats.by_word_size[0], false);
    write_encoding("word2", stats.by_word_size[1], false);
    write_encoding("word4", stats.by_word_size[2], false);
  });
}

void StatsJsonDumper::write_bytes(const ByteStats& bytes) {
  json_.attributeObject("bytes", [&] {
    json_.attribute("header", bytes.header);
    json_.attribute("aux_header", bytes.aux_header);
    json_.attribute("index", bytes.index);
    json_.attribute("attributes", bytes.attributes);
    json_.attribute("row_starts", bytes.row_starts);
    json_.attribute("data_words", bytes.data_words);
    json_.attribute("padding", bytes.padding);
    json_.attribute("total", bytes.total);
  });
}

void StatsJsonDumper::write_encoding(std::string_view name, const EncodingStats& stats, bool functions) {
  json_.attributeObject(to_ref(name), [&] {
    if (functions) json_.attribute("functions", stats.functions);
    json_.attribute("rows", stats.rows);
    json_.attribute("bytes", stats.bytes);
  });
}

void StatsJsonDumper::end_object() {
  files_.end_sections();
  if (object_->image) {
    CodeMaps maps;
    const ObjectStats stats = collector_.object(details_ ? &maps : nullptr);
    json_.attributeObject("stats", [&] {
      json_.attribute("executable_bytes", stats.executable_bytes);
      json_.attribute("covered_bytes", stats.covered_bytes);
      json_.attribute("cfi_bytes", stats.cfi_bytes);
      json_.attribute("covered_cfi_bytes", stats.covered_cfi_bytes);
      json_.attribute("sframe", stats.sframe);
      json_.attribute("eh_frame", stats.eh_frame);
      json_.attribute("eh_frame_hdr", stats.eh_frame_hdr);
    });
    if (details_) write_maps(json_, maps);
  }
  json_.objectEnd();
}

} // namespace

std::unique_ptr<Dumper> make_stats_json_dumper(const DumperContext& context) {
  return std::make_unique<StatsJsonDumper>(context);
}

std::unique_ptr<Dumper> make_stats_html_dumper(const DumperContext& context) {
  return std::make_unique<StatsJsonDumper>(context, Details(context.names));
}

} // namespace sframe::dump
