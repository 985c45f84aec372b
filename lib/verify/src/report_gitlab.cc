// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GitLab's code quality report ("Code Quality", Code Quality report format): a list of
//
//    {"description", "check_name", "fingerprint", "severity", "location": {"path", "lines": {"begin"}}}
//
// GitLab compares the fingerprints of two branches: they are made of what survives a rebuild. A location must
// have a line; a finding in the file as a whole is in its line 1.

#include "fingerprints.h"
#include "json_pieces.h"
#include "sframe/verify/report.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA1.h>

#include <array>

namespace sframe::verify {

namespace {

constexpr unsigned depth = 1; ///< [

struct Entry {
  std::string description, check_name, fingerprint;
  const char* severity;
  std::string path;
  std::uint64_t line;
};

std::string text_of(const Entry& entry) {
  JsonPieces pieces(depth);
  llvm::json::OStream& json = pieces.json();
  const std::array<std::uint8_t, 20> hash = llvm::SHA1::hash(
      llvm::arrayRefFromStringRef(llvm::StringRef(entry.fingerprint.data(), entry.fingerprint.size())));
  json.object([&] {
    pieces.text("description", entry.description);
    pieces.text("check_name", entry.check_name);
    pieces.text("fingerprint", llvm::toHex(hash, true));
    pieces.text("severity", entry.severity);
    json.attributeObject("location", [&] {
      pieces.text("path", entry.path);
      json.attributeObject("lines", [&] { json.attribute("begin", entry.line); });
    });
  });
  return pieces.take();
}

/// A path as GitLab has it: relative to the root of the repository, without "./".
std::string listed(std::string_view path) {
  while (path.starts_with("./")) path.remove_prefix(2);
  return std::string(path);
}

class GitlabReport final : public FileReport {
public:
  explicit GitlabReport(const Context& context) : FileReport(context) {}

private:
  void print(const Finding& finding, Severity severity) override {
    const auto source = finding.at ? names().source(*finding.at) : std::nullopt;
    const Check& kind = check(finding.id);
    std::string description = std::string(kind.title) + ": " + std::string(path());
    if (finding.at) {
      description += " " + hex(finding.at->pc);
      if (const std::string name = names().describe(*finding.at); !name.empty()) description += " " + name;
    }
    channel().begin_element();
    channel().text(
        text_of({.description = description + ": " + finding.message,
                 .check_name = std::string(kind.name),
                 .fingerprint = fingerprints_.next(
                     path(), finding.id, finding.at ? names().function(*finding.at) : std::string()),
                 .severity = severity == Severity::error     ? "major"
                             : severity == Severity::warning ? "minor"
                                                             : "info",
                 .path = listed(source ? source->file : path()),
                 .line = source ? source->line : 1}));
  }

  void print_end(const Summary&) override {}

  Fingerprints fingerprints_;
};

class GitlabFormat final : public Format {
public:
  explicit GitlabFormat(ReportOptions options) : options_(options) {}

  std::string head() const override { return "["; }
  std::string tail(const RunEnd&) const override { return "\n]\n"; }
  void unreadable(const Failure& failure, Channel& channel) const override {
    channel.begin_element();
    channel.text(text_of({.description = "Not verified: " + failure.path + ": " + failure.problem.text(),
                          .check_name = "not-verified",
                          .fingerprint = failure.path + ":not-verified:" + failure.problem.what,
                          .severity = "critical",
                          .path = listed(failure.path),
                          .line = 1}));
  }
  std::unique_ptr<FileReport> file(std::string path, const Input& input, Names& names,
                                   Channel& channel) const override {
    return std::make_unique<GitlabReport>(
        FileReport::Context{std::move(path), input, names, channel, options_});
  }

private:
  ReportOptions options_;
};

} // namespace

std::unique_ptr<Format> make_gitlab_format(ReportOptions options) {
  return std::make_unique<GitlabFormat>(options);
}

} // namespace sframe::verify
