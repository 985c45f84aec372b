// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a file for sframe-verify: an ELF image or object, else a raw section. Properties: every
// function gets one verdict, every finding has a message, the findings of the check against code do not
// depend on the number of threads, and the reports count the same: JSON and SARIF are valid JSON, text has no
// control characters. The same holds for the report of compiler bugs. The input's size selects the reader
// whose profile is in the reports.

#include "cost.h"

#include "sframe/base/budget.h"
#include "sframe/readers/readers.h"
#include "sframe/verify/against_cfi.h"
#include "sframe/verify/against_code.h"
#include "sframe/verify/compiler_bugs.h"
#include "sframe/verify/coverage.h"
#include "sframe/verify/input.h"
#include "sframe/verify/profile.h"
#include "sframe/verify/report.h"
#include "sframe/verify/structure.h"
#include "sframe/verify/verdicts.h"

#include <llvm/Support/JSON.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

namespace verify_fuzzer {

using namespace sframe;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

class Listener final : public verify::Sink {
public:
  void add(verify::Finding finding) override {
    require(!finding.message.empty());
    if (finding.at) require(finding.end >= finding.at->pc);
    ids.push_back(finding.id);
  }
  std::vector<verify::Id> ids;
};

void check_verdicts(const verify::Input& input, const verify::Verdicts& verdicts) {
  const verify::Summary summary = verdicts.summary();
  require(summary.functions == input.num_functions());
  require(summary.functions == summary.agree + summary.contradiction + summary.undecided + summary.unreached);
}

std::vector<verify::Id> check_code(const verify::Input& input, unsigned threads) {
  Listener listener;
  verify::Verdicts verdicts(input);
  Workers workers(threads);
  check_against_code(input, workers, verdicts, listener);
  check_verdicts(input, verdicts);
  return std::move(listener.ids);
}

/// Everything that the report of a file can contain, but the code's rules, which the other check makes.
verify::Summary check_all(const verify::Input& input, const readers::Reader& reader,
                          verify::FileReport& report) {
  check_structure(input, report);
  check_profile(input, reader, report);
  const verify::Coverage covered = verify::coverage(input);
  check_coverage(input, covered, {.executable = 99, .described = 100}, report);
  verify::Verdicts verdicts(input);
  const std::uint64_t addresses = check_against_cfi(input, verdicts, report, reader.rows);
  Workers alone;
  check_against_code(input, alone, verdicts, report);
  verify::Summary summary = verdicts.summary();
  summary.addresses = addresses;
  summary.coverage = covered;
  return summary;
}

class Text final : public verify::Channel {
public:
  void begin_element() override {
    if (std::exchange(has_element_, true)) text_ += ',';
  }
  void text(std::string_view text) override { text_ += text; }
  std::string take() { return std::exchange(text_, {}); }

private:
  bool has_element_ = false;
  std::string text_;
};

struct Printed {
  verify::Counts counts;
  std::string text;
};

Printed print(const verify::Input& input, const readers::Reader& reader, const verify::Format& format,
              const verify::ReportOptions& options) {
  Text text;
  verify::Names names(input.image() ? std::vector{input.image()} : std::vector<const elf::Image*>{});
  // A path is any text.
  const auto report = format.file("in\"put\x1b\xff", input, names, text);
  report->finish(check_all(input, reader, *report));
  const std::array failures{verify::Failure{"other", {"cannot be read", ".sframe", 16}, false}};
  format.unreadable(failures[0], text);
  verify::RunSummary run;
  run.command = {"in\xffput", "\x1b"};
  run.end = "exited with 0";
  run.steps = input.num_functions();
  run.events = {{"signal handler", 1}};
  Printed printed{.counts = report->counts(), .text = format.head() + text.take()};
  printed.text += format.tail({.failures = failures, .exit_code = 1, .run = &run});
  if (options.collect) {
    // What was found is a baseline, with which all of it is known.
    const verify::Baseline found = report->take_found();
    const auto again = verify::Baseline::parse(found.text());
    require(again && again->text() == found.text());
  }
  return printed;
}

/// `size` selects JSON or SARIF.
void check_reports(const verify::Input& input, std::size_t size) {
  verify::ReportOptions options;
  options.max_findings = 1000;
  options.collect = true;
  const auto readers = readers::all_readers();
  const readers::Reader& reader = readers[size / 2 % readers.size()];
  const Printed text = print(input, reader, *verify::make_text_format(options), options);
  for (const char c : text.text) require(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
  const auto other = size % 2 ? verify::make_json_format(options)
                              : verify::make_sarif_format(options, {.version = "1", .command_line = "fuzz"});
  const Printed json = print(input, reader, *other, options);
  require(json.counts.errors == text.counts.errors && json.counts.warnings == text.counts.warnings &&
          json.counts.notes == text.counts.notes);
  if (size % 8 == 0) // a page has the same report
    require(
        print(input, reader, *verify::make_html_format(options, "<fuzz>", {}), options).text.find("<fuzz>") ==
        std::string::npos);
  if (auto parsed = llvm::json::parse(json.text); !parsed) {
    llvm::errs() << llvm::toString(parsed.takeError()) << '\n';
    require(false);
  }
}

/// As text and JSON. `debug_image` has nothing that the image lacks.
std::pair<std::string, std::string> report_bugs(const elf::Image& image, const elf::Image* debug_image,
                                                unsigned threads) {
  verify::Names names({&image});
  auto found = verify::find_compiler_bugs({.path = "in\"put\x1b\xff",
                                           .image = &image,
                                           .debug_image = debug_image,
                                           .threads = threads,
                                           .progress = {}},
                                          names);
  if (!found) return {};
  const std::array failures{verify::Failure{"other", {"cannot be read", ".eh_frame", 16}, false}};
  std::pair texts(verify::bugs_text(*found), verify::bugs_json(*found, failures));
  const std::uint64_t files = found->files;
  auto twice = *found;
  twice.merge(std::move(*found));
  require(twice.files == 2 * files);
  return texts;
}

void check_bugs(std::span<const std::byte> bytes) {
  Budget one(Limits::standard, bytes.size()), two(Limits::standard, bytes.size());
  const auto image = elf::Image::parse(bytes, &one), again = elf::Image::parse(bytes, &two);
  if (!image || !again || image->relocatable()) return;
  const auto [text, json] = report_bugs(*image, nullptr, 1);
  require(std::pair(text, json) == report_bugs(*again, &*again, 2));
  for (const char c : text) require(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
  auto parsed = llvm::json::parse(json.empty() ? "{}" : json);
  const bool valid = bool(parsed);
  if (!valid) llvm::consumeError(parsed.takeError());
  require(valid);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  const auto bytes = std::as_bytes(std::span(data, size));
  verify::Input::Sources sources;
  std::optional<elf::Image> image;
  if (elf::Image::is_elf(bytes)) {
    auto parsed = elf::Image::parse(bytes);
    if (!parsed) return 0;
    image = std::move(*parsed);
    sources.image = &*image;
  } else {
    sources.raw = bytes;
    sources.raw_address = 0x400000;
    sources.use_raw = true;
  }
  const auto input = verify::Input::load(sources);
  if (!input) return 0;
  Listener listener;
  verify::Verdicts verdicts(*input);
  check_structure(*input, listener);
  check_against_cfi(*input, verdicts, listener);
  check_verdicts(*input, verdicts);
  require(check_code(*input, 1) == check_code(*input, 2));
  for (const readers::Reader& reader : readers::all_readers()) check_profile(*input, reader, listener);
  check_reports(*input, size);
  if (image) check_bugs(bytes);
  return 0;
}

} // namespace verify_fuzzer
