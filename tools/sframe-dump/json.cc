// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format json: docs/json.md describes every key. It is written row by row, so memory does not depend on
// the size of a section. Names and paths are bytes; those that are not UTF-8 are repaired.

#include "json.h"

#include "describe.h"

#include <sframe/base/line.h>
#include <sframe/base/printable.h>
#include <sframe/listing/row_texts.h>

namespace sframe::dump {

namespace {

using llvm::json::OStream;

std::string_view kind_name(Object::Kind kind) {
  constexpr std::array<std::string_view, 4> names{"file", "archive-member", "core-image", "raw"};
  return names[static_cast<std::size_t>(kind)];
}

} // namespace

void write_text(OStream& json, std::string_view key, std::string_view text) {
  std::string quoted;
  append_json_string(quoted, text);
  json.attributeBegin(to_ref(key));
  json.rawValue(to_ref(quoted));
  json.attributeEnd();
}

void write_header(OStream& json, std::string_view name, const Part& part) {
  const Section& section = part.section;
  const Header& header = section.header();
  write_text(json, "name", name);
  json.attribute("address", hex(part.section.address()));
  json.attribute("size", section.bytes().size());
  json.attribute("offset", part.offset);
  json.attribute("version", header.version);
  json.attribute("byte_order", to_ref(byte_order_name(header.byte_order)));
  json.attribute("abi", to_ref(section.abi().name));
  json.attributeArray("flags", [&] {
    for (const std::string& flag : flag_names(section)) json.value(flag);
  });
  json.attribute("fixed_fp_offset", header.fixed_fp_offset);
  json.attribute("fixed_ra_offset", header.fixed_ra_offset);
  json.attribute("aux_header_size", header.aux_header_size);
  json.attribute("num_fdes", header.num_fdes);
  json.attribute("num_fres", header.num_fres);
}

namespace {

void write_message(OStream& json, const Problem& problem) {
  write_text(json, "message", problem.what);
  if (problem.offset) json.attribute("offset", *problem.offset);
}

} // namespace

void write_fault(OStream& json, const Problem& fault) {
  json.attributeObject("error", [&] { write_message(json, fault); });
}

JsonFiles::JsonFiles(tool::Output& out) : JsonFiles(out, false) {}

JsonFiles::JsonFiles(tool::Output& out, std::string_view page_title)
    : JsonFiles(out << page::page_start("sframe-dump", page_title), true) {}

JsonFiles::JsonFiles(tool::Output& out, bool in_page)
    : out_(out), in_page_(in_page), stream_(out, in_page), json_(stream_, in_page ? 0 : 1) {
  json_.objectBegin();
  json_.attributeBegin("files");
  json_.arrayBegin();
}

void JsonFiles::finish() {
  json_.arrayEnd();
  json_.attributeEnd();
  json_.objectEnd();
  stream_ << '\n';
  stream_.flush();
  if (in_page_) out_ << page::page_end(page::Kind::dump);
}

void JsonFiles::unreadable_file(const std::string& name, const Problem& problem) {
  json_.object([&] {
    write_text(json_, "path", name);
    json_.attribute("kind", nullptr);
    json_.attributeArray("sections", [] {});
    write_fault(json_, problem);
  });
}

void JsonFiles::begin_object(const Object& object) {
  object_ = &object;
  json_.objectBegin();
  write_text(json_, "path", object.name());
  json_.attribute("kind", to_ref(kind_name(object.kind)));
  json_.attributeBegin("sections");
  json_.arrayBegin();
}

void JsonFiles::end_sections() {
  json_.arrayEnd();
  json_.attributeEnd();
  if (object_->problems.empty()) return;
  json_.attributeArray("problems", [&] {
    for (const Problem& problem : object_->problems)
      json_.object([&] {
        if (!problem.section.empty()) write_text(json_, "section", problem.section);
        write_message(json_, problem);
      });
  });
}

void JsonFiles::end_object() {
  end_sections();
  json_.objectEnd();
}

void JsonFiles::empty_section(const ObjectSection& section) {
  json_.object([&] {
    write_text(json_, "name", section.name);
    json_.attribute("address", hex(section.address));
    json_.attribute("size", 0);
  });
}

void JsonFiles::unreadable(const ObjectSection& section, const Problem& fault) {
  json_.object([&] {
    write_text(json_, "name", section.name);
    json_.attribute("address", hex(section.address));
    json_.attribute("size", section.contents.size());
    write_fault(json_, fault);
  });
}

namespace {

/// Ends of lines, and the indentation of functions, of their keys and of rows.
constexpr std::string_view next_function = "\n      ";
constexpr std::string_view line_end = "\n       ";
constexpr std::string_view next_key = ",\n       \"";
constexpr std::string_view row_start = ",\n        {\"offset\":";

class JsonDumper final : public Dumper {
public:
  explicit JsonDumper(const DumperContext& context)
      : files_(context.out), json_(files_.json()), names_(context.names), origins_(context.origins),
        header_only_(context.header_only) {}

  void begin_object(const Object& object) override {
    object_ = &object;
    files_.begin_object(object);
  }
  std::optional<std::string> refuses(const Part& part) const override {
    return origins_ ? origins_->mismatch(*object_, *object_section_, part) : std::nullopt;
  }
  void end_object() override { files_.end_object(); }
  void empty_section(const Object&, const ObjectSection& section) override { files_.empty_section(section); }
  void begin_section(const Object&, const ObjectSection& section) override { object_section_ = &section; }
  void unreadable(const Problem& fault) override { files_.unreadable(*object_section_, fault); }
  void unreadable_file(const std::string& name, const Problem& problem) override {
    files_.unreadable_file(name, problem);
  }
  void finish() override { files_.finish(); }

  void begin_part(const Part& part) override;
  void end_part(const Problem* fault) override;
  std::optional<Error> function(const EncodedFde& fde, const FunctionLocation& location,
                                RowCursor& rows) override;

private:
  void append_names(const FunctionLocation& location);
  void append_other_functions(std::span<const Names::Inner> functions);
  void append_encoding(const EncodedFde& fde);
  std::optional<Error> append_rows(const EncodedFde& fde, const FunctionLocation& location, RowCursor& rows);
  void append_origins(const AddressRange& range);
  void append_string(std::string_view text);
  std::string_view rules_text(const FrameRow& row);
  void append_quoted(std::string_view key, const Rule& rule, bool is_cfa);
  /// Makes room for a line.
  void make_room() {
    if (lines_.size() > lines_.capacity - Line::capacity) write_lines();
  }
  void write_lines();

  JsonFiles files_;
  OStream& json_;
  Names& names_;
  const Origins* origins_;
  bool header_only_;
  const Object* object_ = nullptr;
  const ObjectSection* object_section_ = nullptr;
  const Section* section_ = nullptr;
  listing::RowTexts texts_; ///< of the current section's rows
  std::string scratch_;
  Line line_;
  /// "functions": written to the stream directly, past the OStream, which would take most of the time.
  llvm::raw_ostream* functions_ = nullptr;
  bool first_function_ = true;
  BasicLine<8192> lines_;
};

void JsonDumper::begin_part(const Part& part) {
  section_ = &part.section;
  texts_ = {};
  json_.objectBegin();
  write_header(json_, object_section_->name, part);
  if (header_only_) return;
  json_.attributeBegin("functions");
  functions_ = &json_.rawValueBegin();
  first_function_ = true;
  lines_.clear();
  lines_.put('[');
}

void JsonDumper::end_part(const Problem* fault) {
  if (!header_only_) {
    lines_.text(first_function_ ? "]" : "\n     ]");
    write_lines();
    json_.rawValueEnd();
    json_.attributeEnd();
  }
  if (fault) write_fault(json_, *fault);
  json_.objectEnd();
}

void JsonDumper::write_lines() {
  *functions_ << to_ref(lines_.view());
  lines_.clear();
}

/// A text of any length, in quotes.
void JsonDumper::append_string(std::string_view text) {
  scratch_.clear();
  append_json_string(scratch_, text);
  if (scratch_.size() > Line::capacity / 2) {
    write_lines();
    *functions_ << scratch_;
  } else {
    lines_.text(scratch_);
    make_room();
  }
}

void JsonDumper::append_names(const FunctionLocation& location) {
  if (const auto section = names_.section_name(location); !section.empty()) {
    lines_.text(next_key).text("section\": ");
    append_string(section);
  }
  const auto name = names_.find(location);
  const std::string raw = name ? name->text(false) : std::string();
  lines_.text(next_key).text("name\": ");
  append_string(raw);
  if (!name) return;
  if (const std::string demangled = name->text(true); demangled != raw) {
    lines_.text(next_key).text("demangled\": ");
    append_string(demangled);
  }
}

void JsonDumper::append_other_functions(std::span<const Names::Inner> functions) {
  if (functions.empty()) return;
  lines_.text(next_key).text("also\": [");
  for (const Names::Inner& function : functions) {
    lines_.text(&function == &functions.front() ? "" : ",").text(line_end).text(" {");
    lines_.text(line_end).text("  \"start\": \"0x").hex(function.start).text("\",");
    lines_.text(line_end).text("  \"name\": ");
    append_string(function.name.text(false));
    lines_.text(line_end).text(" }");
  }
  lines_.text(line_end).text("]");
}

std::optional<Error> JsonDumper::function(const EncodedFde& fde, const FunctionLocation& location,
                                          RowCursor& rows) {
  make_room();
  lines_.text(first_function_ ? "" : ",").text(next_function).text("{");
  first_function_ = false;
  lines_.text(line_end).text("\"index\": ").number(fde.number);
  lines_.text(next_key).text("start\": \"0x").hex(location.start).put('"');
  lines_.text(next_key).text("size\": ").number(fde.size);
  append_names(location);
  append_other_functions(names_.inside(location, fde.size));
  append_encoding(fde);
  const auto error = append_rows(fde, location, rows);
  lines_.text(next_function).put('}');
  return error;
}

/// The keys from "fde_type" to "outermost", which need no quoting.
void JsonDumper::append_encoding(const EncodedFde& fde) {
  const auto name = [&](std::string_view key, std::string_view value) {
    lines_.text(next_key).text(key).text("\": \"").text(value).put('"');
  };
  name("fde_type", name_of(fde.fde_type));
  name("pc_type", name_of(fde.pc_type));
  name("fre_type", name_of(fde.fre_type));
  lines_.text(next_key).text("rep_size\": ").number(fde.rep_size);
  lines_.text(next_key).text("signal\": ").text(fde.signal_frame ? "true" : "false");
  name("pauth_key", name_of(fde.pauth_key));
  if (section_->outermost_throughout(fde)) lines_.text(next_key).text("outermost\": true");
}

/// Each row on a line of its own.
std::optional<Error> JsonDumper::append_rows(const EncodedFde& fde, const FunctionLocation& location,
                                             RowCursor& rows) {
  std::optional<Error> error;
  bool first = true;
  lines_.text(next_key).text("rows\": [");
  for (PlacedRow row; next_row(rows, fde, origins_, row); first = false) {
    make_room();
    const auto rules =
        texts_.get<listing::RowTexts::Whole>(row.row, rows, fde.fde_type == FdeType::flex, error,
                                             [&](const FrameRow& decoded) { return rules_text(decoded); });
    if (!rules) break;
    lines_.text(first ? row_start.substr(1) : row_start).number(row.row.offset).text(rules->text);
    if (origins_) append_origins({location.start + row.begin, row.size});
    lines_.put('}');
  }
  if (!first) lines_.text(line_end);
  lines_.put(']');
  return error ? error : rows.error();
}

void JsonDumper::append_origins(const AddressRange& range) {
  lines_.text(",\"origin\":[");
  for (bool first = true; const std::string_view name :
                          Origins::names(origins_->of({range.start - object_->bias, range.size}))) {
    lines_.text(first ? "\"" : ",\"").text(name).put('"');
    first = false;
  }
  lines_.text("]");
}

/// The row's keys after "offset"; valid until the next call.
std::string_view JsonDumper::rules_text(const FrameRow& row) {
  line_.clear();
  append_quoted("cfa", row.cfa, true);
  append_quoted("ra", row.ra, false);
  append_quoted("fp", row.fp, false);
  return line_.text(row.ra_signed ? ",\"ra_signed\":true" : ",\"ra_signed\":false").view();
}

void JsonDumper::append_quoted(std::string_view key, const Rule& rule, bool is_cfa) {
  scratch_.clear();
  append_rule(scratch_, rule, section_->abi(), is_cfa);
  line_.text(",\"").text(key).text("\":\"").text(scratch_).put('"');
}

} // namespace

std::unique_ptr<Dumper> make_json_dumper(const DumperContext& context) {
  return std::make_unique<JsonDumper>(context);
}

} // namespace sframe::dump
