// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page: what JsonReport writes, and further keys.
//   finding: "instructions": [{"pc", "text", "row", "here"}]   around its address; "row" is SFrame's, where
//   it
//                                                              changes
//   file:    "causes": [{"id", "severity", "in_cfi", "count", "shown"}]
//   all:     "checks": {ID: {"title", "text"}}, "most_of_a_kind", "version", "command_line"

#include "report_json.h"

#include "sframe/base/address_ranges.h"
#include "sframe/code/disassembly.h"
#include "sframe/code/instruction.h"
#include "sframe/convert.h"
#include "sframe/page/page.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>

namespace sframe::verify {

namespace {

class HtmlReport final : public JsonReport {
public:
  explicit HtmlReport(const Context& context) : JsonReport(context, true) {}

private:
  struct Cause {
    std::uint64_t count = 0, shown = 0;
  };
  using Kind = std::tuple<Id, Severity, bool>;
  static Kind kind_of(const Finding& finding, Severity severity) {
    return {finding.id, severity, finding.compiler};
  }

  void count(const Finding& finding, Severity severity) override {
    ++causes_[kind_of(finding, severity)].count;
  }
  void print(const Finding& finding, Severity severity) override {
    Cause& cause = causes_[kind_of(finding, severity)];
    if (cause.shown == html_findings) return;
    ++cause.shown;
    JsonReport::print(finding, severity);
  }
  void add_to_finding(const Finding& finding) override;
  void add_to_file() override;

  std::deque<code::Instruction> instructions_around(std::uint64_t pc, const OwnedRange& function);
  std::string row_at(std::uint64_t pc, const OwnedRange& function) const;

  /// What was shown last.
  struct Shown {
    std::uint64_t function = 0, first = 0, pc = 0; ///< addresses
  };

  std::map<Kind, Cause> causes_;
  std::unique_ptr<code::Decoder> decoder_;
  std::optional<Shown> last_;
};

/// Those before the address are only known from the function's start, or from what was shown for an earlier
/// finding in it: a large function is not decoded again for each finding.
std::deque<code::Instruction> HtmlReport::instructions_around(std::uint64_t pc, const OwnedRange& function) {
  constexpr std::size_t before = 6, after = 4;
  std::deque<code::Instruction> shown;
  if (!decoder_) decoder_ = code::make_decoder(*input().image()->abi());
  if (!decoder_) return shown;
  const auto bytes = input().image()->read(function.begin, function.end - function.begin);
  if (!bytes) return shown;
  std::vector<code::Effect> effects;
  std::size_t follow = 0;
  std::uint64_t at =
      last_ && last_->function == function.begin && last_->pc <= pc ? last_->first - function.begin : 0;
  while (at < bytes->size() && follow < after) {
    if (!input().spend(Resource::code_steps, 1)) break;
    code::Instruction instruction;
    effects.clear();
    if (!decoder_->decode(bytes->subspan(at), function.begin + at, instruction, effects)) break;
    shown.push_back(instruction);
    at += instruction.length;
    if (function.begin + at > pc)
      ++follow;
    else if (shown.size() > before)
      shown.pop_front();
  }
  if (!shown.empty()) last_ = {function.begin, shown.front().address, pc};
  return shown;
}

std::string HtmlReport::row_at(std::uint64_t pc, const OwnedRange& function) const {
  const Section& section = input().parts()[function.source].section;
  const auto match = section.find(pc);
  if (!match || !*match) return {};
  const Header& header = section.header();
  return row_text(resolve_fixed((*match)->row, header.fixed_ra_offset, header.fixed_fp_offset),
                  section.abi());
}

void HtmlReport::add_to_finding(const Finding& finding) {
  if (!finding.at || !input().image() || input().relocatable() || !input().image()->abi()) return;
  const std::uint64_t pc = finding.at->pc;
  const auto functions = input().functions();
  const OwnedRange* const function = last_not_above(functions, pc, &OwnedRange::begin);
  if (!function || pc >= function->end) return;
  const auto shown = instructions_around(pc, *function);
  if (shown.empty()) return;
  llvm::json::OStream& json = pieces().json();
  json.attributeArray("instructions", [&] {
    std::string last;
    for (const code::Instruction& instruction : shown) {
      const auto bytes = input().image()->read(instruction.address, instruction.length);
      const std::string row = row_at(instruction.address, *function);
      json.object([&] {
        pieces().text("pc", hex(instruction.address));
        pieces().text("text",
                      bytes ? code::instruction_text(*input().image()->abi(), *bytes, instruction.address)
                            : std::string());
        if (row != last) pieces().text("row", row);
        if (pc - instruction.address < instruction.length) json.attribute("here", true);
      });
      last = row;
    }
  });
}

void HtmlReport::add_to_file() {
  llvm::json::OStream& json = pieces().json();
  json.attributeArray("causes", [&] {
    for (const auto& [kind, cause] : causes_)
      json.object([&] {
        pieces().text("id", check(std::get<Id>(kind)).name);
        pieces().text("severity", severity_name(std::get<Severity>(kind)));
        json.attribute("in_cfi", std::get<bool>(kind));
        json.attribute("count", cause.count);
        json.attribute("shown", cause.shown);
      });
  });
}

class HtmlFormat final : public Format {
public:
  HtmlFormat(ReportOptions options, std::string title, Invocation invocation)
      : options_(options), title_(std::move(title)), invocation_(std::move(invocation)) {}

  std::string head() const override { return page::page_start("sframe-verify", title_) + json_head(); }
  std::string tail(const RunEnd& end) const override {
    JsonPieces pieces(1);
    pieces.json().object([&] {
      pieces.json().attribute("most_of_a_kind", html_findings);
      pieces.text("version", invocation_.version);
      pieces.text("command_line", invocation_.command_line);
      pieces.json().attributeObject("checks", [&] {
        for (const Check& one : checks())
          pieces.json().attributeObject(llvm::StringRef(one.name.data(), one.name.size()), [&] {
            pieces.text("title", one.title);
            pieces.text("text", one.text);
          });
      });
    });
    const std::string more = pieces.take();
    return page::script_json(json_tail(end) + "," + more.substr(more.find('{') + 1)) +
           page::page_end(page::Kind::verify);
  }
  void unreadable(const Failure& failure, Channel& channel) const override {
    channel.begin_element();
    channel.text(page::script_json(json_unreadable(failure)));
  }
  std::unique_ptr<FileReport> file(std::string path, const Input& input, Names& names,
                                   Channel& channel) const override {
    return std::make_unique<HtmlReport>(
        FileReport::Context{std::move(path), input, names, channel, options_});
  }

private:
  ReportOptions options_;
  std::string title_;
  Invocation invocation_;
};

} // namespace

std::unique_ptr<Format> make_html_format(ReportOptions options, std::string title, Invocation invocation) {
  return std::make_unique<HtmlFormat>(options, std::move(title), std::move(invocation));
}

} // namespace sframe::verify
