// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of patterns, and what is printed of the groups found by compiler_bugs.h, as text and as JSON:
// compilers by name, each with its groups, those with the most places first, each with one example.

#include "json_pieces.h"
#include "sframe/base/text.h"
#include "sframe/verify/compiler_bugs.h"

#include <llvm/Support/FormatVariadic.h>

#include <algorithm>
#include <utility>

namespace sframe::verify {

namespace {

using Shape = BugPattern::Shape;
using Fault = BugPattern::Fault;
using Entry = std::pair<const BugPattern*, const BugGroup*>;

/// A compiler's groups: most places first.
std::vector<Entry> groups_of(const CompilerBugs& bugs, const Compiler& compiler) {
  std::vector<Entry> found;
  for (auto at = bugs.groups.lower_bound({compiler, {}}); at != bugs.groups.end(); ++at) {
    if (at->first.first != compiler) break;
    found.emplace_back(&at->first.second, &at->second);
  }
  std::ranges::stable_sort(found, std::ranges::greater(), [](const Entry& e) { return e.second->places; });
  return found;
}

std::string compiler_text(const Compiler& compiler) {
  const std::string_view from = from_name(compiler.from);
  return compiler.name + (from.empty() ? "" : " (" + std::string(from) + ")");
}

std::string example_text(const BugExample& example) {
  std::string text = llvm::formatv("    {0}: {1}", example.path, hex(example.begin)).str();
  if (!example.function.empty()) text += " " + example.function;
  if (example.source) text += llvm::formatv(" ({0}:{1})", example.source->file, example.source->line).str();
  text = printable(text) + "\n";
  std::size_t width = 0;
  for (const BugExample::Line& line : example.lines) width = std::max(width, line.instruction.size());
  for (std::size_t number = 0; const BugExample::Line& line : example.lines) {
    if (number++ == example.left_out_at && example.left_out)
      text += "        ... " + counted(example.left_out, "instruction") + "\n";
    std::string shown = line.code.empty() ? "      " : "    > ";
    shown += hex(line.address) + "  " + line.instruction + std::string(width - line.instruction.size(), ' ');
    if (!line.cfi.empty()) shown += "  " + line.cfi;
    if (!line.code.empty()) shown += "; right: " + line.code;
    text += printable(shown) + "\n";
  }
  return text;
}

void write_line(JsonPieces& pieces, const BugExample::Line& line) {
  pieces.json().object([&] {
    pieces.text("address", hex(line.address));
    pieces.text("instruction", line.instruction);
    pieces.text("cfi", line.cfi);
    pieces.text("code", line.code);
  });
}

void write_example(JsonPieces& pieces, const BugExample& example) {
  llvm::json::OStream& json = pieces.json();
  json.attributeObject("example", [&] {
    pieces.text("path", example.path);
    pieces.text("function", example.function);
    pieces.text("start", hex(example.start));
    json.attribute("size", example.size);
    pieces.text("pc", hex(example.begin));
    pieces.text("end", hex(example.end));
    if (example.source) {
      pieces.text("file", example.source->file);
      json.attribute("line", example.source->line);
    }
    pieces.text("producer", example.producer);
    json.attribute("left_out", example.left_out);
    if (example.left_out) json.attribute("left_out_at", static_cast<std::uint64_t>(example.left_out_at));
    json.attributeArray("lines", [&] {
      for (const BugExample::Line& line : example.lines) write_line(pieces, line);
    });
  });
}

void write_group(JsonPieces& pieces, const BugPattern& pattern, const BugGroup& group) {
  llvm::json::OStream& json = pieces.json();
  json.object([&] {
    pieces.text("shape", shape_name(pattern.shape));
    pieces.text("fault", fault_name(pattern.fault));
    pieces.text("instruction", instruction_name(pattern));
    pieces.text("title", title(pattern));
    json.attribute("places", group.places);
    json.attribute("bytes", group.bytes);
    json.attribute("functions", group.functions);
    json.attribute("files", group.files);
    write_example(pieces, group.example);
  });
}

} // namespace

std::string_view shape_name(Shape shape) {
  switch (shape) {
  case Shape::late: return "late";
  case Shape::early: return "early";
  case Shape::missing: return "missing";
  case Shape::carried_over: return "carried-over";
  case Shape::wrong: return "wrong";
  }
  std::unreachable();
}

std::string_view fault_name(Fault fault) {
  switch (fault) {
  case Fault::cfa_too_high: return "cfa-too-high";
  case Fault::cfa_too_low: return "cfa-too-low";
  case Fault::cfa_register: return "cfa-register";
  case Fault::ra: return "ra";
  case Fault::ra_signature: return "ra-signature";
  case Fault::fp_unsaved: return "fp-unsaved";
  case Fault::fp_place: return "fp-place";
  }
  std::unreachable();
}

std::string_view from_name(Compiler::From from) {
  switch (from) {
  case Compiler::From::producer: return "DW_AT_producer";
  case Compiler::From::comment: return ".comment";
  case Compiler::From::build_info: return ".go.buildinfo";
  case Compiler::From::nothing: return "";
  }
  std::unreachable();
}

std::string instruction_name(const BugPattern& pattern) {
  using SpChange = BugPattern::SpChange;
  std::string effects;
  const auto add = [&](std::string_view what) { effects.append(effects.empty() ? "" : ", ").append(what); };
  if (pattern.sp == SpChange::up) add("SP up");
  if (pattern.sp == SpChange::down) add("SP down");
  if (pattern.sp == SpChange::other) add("SP");
  if (pattern.changes_fp) add("FP");
  return pattern.mnemonic + (effects.empty() ? "" : " (" + effects + ")");
}

std::string title(const BugPattern& pattern) {
  const std::string instruction = instruction_name(pattern);
  const auto at = [&](const char* word) {
    return instruction.empty() ? std::string() : std::string(word) + instruction;
  };
  const std::string where = [&] {
    switch (pattern.shape) {
    case Shape::late: return "the row changes late" + at(", after ");
    case Shape::early: return "the row changes early" + at(", before ");
    case Shape::missing:
      return instruction.empty() ? std::string("no row for a change")
                                 : "no row for the change by " + instruction;
    case Shape::carried_over: return std::string("the row goes on after a jump or return");
    case Shape::wrong: return "wrong row" + at(", after ");
    }
    std::unreachable();
  }();
  const char* const what = [&] {
    switch (pattern.fault) {
    case Fault::cfa_too_high: return "the CFA is too high";
    case Fault::cfa_too_low: return "the CFA is too low";
    case Fault::cfa_register: return "the CFA's register has another value";
    case Fault::ra: return "the return address is elsewhere";
    case Fault::ra_signature: return "the return address's signature";
    case Fault::fp_unsaved: return "FP is not the caller's";
    case Fault::fp_place: return "the caller's FP is elsewhere";
    }
    std::unreachable();
  }();
  return where + ": " + what;
}

std::string bugs_text(const CompilerBugs& bugs) {
  std::string text, without;
  for (const auto& [compiler, counts] : bugs.compilers) {
    if (counts.places == 0) {
      without +=
          printable(
              llvm::formatv("  {0}: {1}", compiler_text(compiler), counted(counts.files, "file")).str()) +
          "\n";
      continue;
    }
    text += printable(llvm::formatv("{0}: {1} with wrong rows in {2} of {3}", compiler_text(compiler),
                                    counted(counts.places, "place"), counts.wrong_files,
                                    counted(counts.files, "file"))
                          .str()) +
            "\n";
    for (const auto& [pattern, group] : groups_of(bugs, compiler)) {
      text += printable(llvm::formatv("  {0}: {1}, {2}, {3}, {4}", title(*pattern),
                                      counted(group->places, "place"), counted(group->bytes, "byte"),
                                      counted(group->functions, "function"), counted(group->files, "file"))
                            .str()) +
              "\n" + example_text(group->example);
    }
    text += "\n";
  }
  if (!without.empty()) text += "No wrong rows found:\n" + without;
  return text;
}

std::string bugs_json(const CompilerBugs& bugs, std::span<const Failure> failures) {
  JsonPieces pieces(0);
  llvm::json::OStream& json = pieces.json();
  json.object([&] {
    json.attribute("files", bugs.files);
    json.attributeArray("failures", [&] {
      for (const Failure& failure : failures)
        json.object([&] {
          pieces.text("path", failure.path);
          pieces.text("message", failure.problem.what);
          if (!failure.problem.section.empty()) pieces.text("section", failure.problem.section);
          if (failure.problem.offset) json.attribute("offset", *failure.problem.offset);
        });
    });
    json.attributeArray("compilers", [&] {
      for (const auto& [compiler, counts] : bugs.compilers)
        json.object([&] {
          pieces.text("name", compiler.name);
          pieces.text("from", from_name(compiler.from));
          json.attribute("files", counts.files);
          json.attribute("wrong_files", counts.wrong_files);
          json.attribute("places", counts.places);
          json.attributeArray("groups", [&] {
            for (const auto& [pattern, group] : groups_of(bugs, compiler))
              write_group(pieces, *pattern, *group);
          });
        });
    });
  });
  return pieces.take() + "\n";
}

} // namespace sframe::verify
