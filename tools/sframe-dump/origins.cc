// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// parse() reads the report's lists into sets of addresses; of() then asks for a row's range which of them it
// overlaps. The text is checked before LLVM's parser gets it, which is recursive and keeps all values.
// mismatch() compares build ID and counts, since a report of another file would give plausible nonsense.

#include "origins.h"

#include <sframe/tool/text.h>

#include <llvm/Support/JSON.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace sframe::dump {

namespace {

/// True if LLVM's parser can read the text with bounded memory and stack.
bool is_fit(std::string_view json) {
  std::size_t values = 0, depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth != 0) --depth;
    values += c == '[' || c == '{' || c == ',' || c == ':';
    if (depth > Origins::max_depth || values > Origins::max_values) return false;
  }
  return true;
}

using JsonObject = llvm::json::Object;

std::optional<std::uint64_t> number(const JsonObject& object, llvm::StringRef key) {
  const auto value = object.getInteger(key);
  return value && *value >= 0 ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

/// The start and size of a range; empty unless it has both.
std::optional<AddressRange> range_of(const JsonObject& object) {
  const auto text = object.getString("start");
  const auto start = text ? tool::parse_address({text->data(), text->size()}) : std::nullopt;
  const auto size = number(object, "size");
  if (!start || !size) return std::nullopt;
  return AddressRange{*start, *size};
}

/// Calls f(range, object) for each element of a list, which may be missing. False if one is no range.
template <class F> bool each_range(const JsonObject& report, llvm::StringRef key, F&& f) {
  const llvm::json::Array* const list = report.getArray(key);
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    const JsonObject* const element = (*list)[i].getAsObject();
    const auto range = element ? range_of(*element) : std::nullopt;
    if (!range || !f(*range, *element)) return false;
  }
  return true;
}

bool overlaps(const AddressSet& set, const AddressRange& range) {
  const auto after = set.from(range.start);
  return !after.empty() && after.front().overlaps(range);
}

} // namespace

Result<Origins> Origins::parse(std::string_view json) {
  if (!is_fit(json)) return fail("too large or too deeply nested for a report of sframe-gen");
  auto parsed = llvm::json::parse({json.data(), json.size()});
  if (!parsed) return fail("not JSON: " + llvm::toString(parsed.takeError()));
  const JsonObject* const report = parsed->getAsObject();
  const JsonObject* const sizes = report ? report->getObject("sizes") : nullptr;
  const auto bytes = sizes ? number(*sizes, "sframe") : std::nullopt;
  const auto fdes = report ? number(*report, "fdes") : std::nullopt;
  const auto rows = report ? number(*report, "rows") : std::nullopt;
  if (!bytes || !fdes || !rows) return fail("not a report of sframe-gen (--report=json)");
  if (report->getObject("members")) return fail("the report is about an archive");
  if (report->getObject("error") || report->get("unconverted"))
    return fail("the report is about a file that was not converted");
  if (!report->getArray("origins"))
    return fail("the report does not have the origins of rows: made from SFrame, or by an older sframe-gen");

  Origins out;
  out.bytes_ = *bytes;
  out.fdes_ = *fdes;
  out.rows_ = *rows;
  if (const auto id = report->getString("build_id")) out.build_id_ = id->str();
  std::vector<AddressRange> from_code, from_stubs, from_orc, from_go, repaired;
  bool in_object = false;
  bool good = each_range(*report, "origins", [&](const AddressRange& range, const JsonObject& element) {
    in_object |= element.get("section") != nullptr;
    const auto origin = element.getString("origin");
    auto* const ranges = !origin             ? nullptr
                         : *origin == "code" ? &from_code
                         : *origin == "stub" ? &from_stubs
                         : *origin == "orc"  ? &from_orc
                         : *origin == "go"   ? &from_go
                                             : nullptr;
    if (ranges) ranges->push_back(range);
    return ranges != nullptr;
  });
  const bool applied = report->getString("repair").value_or("") == "apply";
  good = good && each_range(*report, "repairs", [&](const AddressRange& range, const JsonObject& element) {
           in_object |= element.get("section") != nullptr;
           if (applied) repaired.push_back(range);
           return true;
         });
  if (!good) return fail("invalid range in the report's origins or repairs");
  if (in_object) return fail("the report is about a relocatable object, whose rows have no addresses yet");
  out.code_ = AddressSet(std::move(from_code));
  out.stubs_ = AddressSet(std::move(from_stubs));
  out.orc_ = AddressSet(std::move(from_orc));
  out.go_ = AddressSet(std::move(from_go));
  out.repaired_ = AddressSet(std::move(repaired));
  for (const AddressSet* set : {&out.code_, &out.stubs_, &out.orc_, &out.go_, &out.repaired_})
    out.all_.add(set->ranges());
  return out;
}

std::optional<std::string> Origins::mismatch(const Object& object, const ObjectSection& section,
                                             const Part& part) const {
  const std::string build_id = object.image ? elf::to_hex(object.image->build_id()) : std::string();
  if (!build_id.empty() && !build_id_.empty() && build_id != build_id_)
    return "the report of --origin is about another file: build ID " + build_id_ + ", here " + build_id;
  const Header& header = part.section.header();
  const std::array<std::tuple<const char*, std::uint64_t, std::uint64_t>, 3> figures{
      {{"bytes", bytes_, section.contents.size()},
       {"FDEs", fdes_, header.num_fdes},
       {"rows", rows_, header.num_fres}}};
  for (const auto& [what, expected, found] : figures)
    if (expected != found)
      return "the report of --origin is about another section: " + std::to_string(expected) + " " + what +
             ", here " + std::to_string(found);
  return std::nullopt;
}

unsigned Origins::of(const AddressRange& range) const {
  unsigned origins = 0;
  if (overlaps(code_, range)) origins |= code;
  if (overlaps(stubs_, range)) origins |= stub;
  if (overlaps(orc_, range)) origins |= orc;
  if (overlaps(go_, range)) origins |= go;
  if (overlaps(repaired_, range)) origins |= repaired;
  if (range.empty() || !all_.contains(range)) origins |= cfi;
  return origins;
}

bool next_row(RowCursor& rows, const EncodedFde& fde, bool placed, PlacedRow& row) {
  if (!rows.next(row.row)) return false;
  if (!placed) return true;
  row.begin = 0;
  row.size = fde.size;
  if (fde.pc_type == PcType::mask) return true;
  RowCursor after = rows;
  FrameRow next;
  const std::uint64_t end = after.next(next) ? next.offset : fde.size;
  row.begin = row.row.offset;
  row.size = end > row.begin ? end - row.begin : 0;
  return true;
}

std::vector<std::string_view> Origins::names(unsigned origins) {
  std::vector<std::string_view> found;
  if (origins & cfi) found.emplace_back("cfi");
  if (origins & code) found.emplace_back("code");
  if (origins & stub) found.emplace_back("stub");
  if (origins & orc) found.emplace_back("orc");
  if (origins & go) found.emplace_back("go");
  if (origins & repaired) found.emplace_back("repaired");
  return found;
}

} // namespace sframe::dump
