// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"): one run with the whole table of findings
// as rules and one result per finding. A result's location is the source line if known, else the binary; the
// address is an address object in either case. The fingerprint holds what survives a rebuild, as in a
// baseline.

#include "fingerprints.h"
#include "json_pieces.h"
#include "sframe/verify/report.h"

#include <algorithm>

namespace sframe::verify {

namespace {

constexpr unsigned depth_of_results = 4; ///< {"runs":[{"results":[

llvm::StringRef ref(std::string_view text) {
  return {text.data(), text.size()};
}

/// A path as a URI reference (RFC 3986): characters not allowed in a path are percent-encoded.
std::string uri_of(std::string_view path) {
  constexpr char digits[] = "0123456789ABCDEF";
  constexpr std::string_view plain = "-._~/!$&'()*+,;=@";
  std::string out = path.starts_with('/') ? "file://" : "";
  // A colon in the first segment of a relative reference would look like a scheme.
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (alphanumeric || plain.find(c) != std::string_view::npos)
      out += c;
    else
      out += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

/// Where docs/findings.md explains the check: the anchor that GitHub, GitLab and others make of its heading,
/// which is in lower case, without punctuation, and has hyphens for blanks.
std::string page_of(const Check& check) {
  std::string heading(check.name);
  heading.append(" ").append(check.title).append(" (").append(severity_name(check.severity)).append(")");
  std::string uri = SFRAME_HOMEPAGE "/docs/findings.md#";
  for (const char c : heading) {
    if (c == ' ' || c == '-')
      uri += '-';
    else if (c >= 'A' && c <= 'Z')
      uri += static_cast<char>(c - 'A' + 'a');
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')
      uri += c;
  }
  return uri;
}

class SarifReport : public FileReport {
public:
  explicit SarifReport(const Context& context) : FileReport(context), pieces_(depth_of_results) {}

private:
  void print(const Finding& finding, Severity severity) override {
    const std::string function = finding.at ? names().function(*finding.at) : std::string();
    const auto source = finding.at ? names().source(*finding.at) : std::nullopt;
    json_.objectBegin();
    pieces_.text("ruleId", check(finding.id).name);
    json_.attribute("ruleIndex", static_cast<std::int64_t>(finding.id));
    pieces_.text("level", severity_name(severity));
    json_.attributeObject("message", [&] { pieces_.text("text", text_of(finding)); });
    json_.attributeArray("locations", [&] { write_location(finding, function, source); });
    json_.attributeObject("partialFingerprints", [&] { write_fingerprint(finding, function); });
    if (finding.compiler) json_.attributeObject("properties", [&] { json_.attribute("inCfi", true); });
    json_.objectEnd();
    std::string text = pieces_.take();
    if (text.starts_with(',')) text.erase(0, 1); // the channel writes it
    channel().begin_element();
    channel().text(text);
  }

  void print_end(const Summary&) override {}

  static std::string text_of(const Finding& finding) {
    std::string text = finding.message;
    for (const auto& [label, what] : evidence_of(finding))
      text.append("\n").append(label).append(": ").append(what);
    return text;
  }

  void write_location(const Finding& finding, const std::string& function,
                      const std::optional<Names::Source>& source) {
    json_.object([&] {
      json_.attributeObject("physicalLocation", [&] {
        json_.attributeObject("artifactLocation",
                              [&] { pieces_.text("uri", uri_of(source ? source->file : path())); });
        if (source) json_.attributeObject("region", [&] { json_.attribute("startLine", source->line); });
        if (finding.at) json_.attributeObject("address", [&] { write_address(finding); });
      });
      if (function.empty()) return;
      json_.attributeArray("logicalLocations", [&] {
        json_.object([&] {
          pieces_.text("fullyQualifiedName", function);
          pieces_.text("kind", "function");
        });
      });
    });
  }

  /// In a relocatable object the address is relative to its section.
  void write_address(const Finding& finding) {
    const Location& at = *finding.at;
    const std::string_view section = code_section(at);
    // SARIF's integers are signed; the highest addresses are only in the text.
    const bool fits = at.pc <= static_cast<std::uint64_t>(INT64_MAX);
    if (fits) json_.attribute(section.empty() ? "absoluteAddress" : "relativeAddress", at.pc);
    if (finding.end > at.pc && finding.end - at.pc <= INT32_MAX)
      json_.attribute("length", finding.end - at.pc);
    pieces_.text("kind", "instruction");
    std::string name = section.empty() ? hex(at.pc) : std::string(section).append("+").append(hex(at.pc));
    if (const std::string function = names().describe(at); !function.empty())
      name.append(" ").append(function);
    pieces_.text("name", name);
  }

  void write_fingerprint(const Finding& finding, const std::string& function) {
    pieces_.text("fileFunctionKind/v1", fingerprints_.next(path(), finding.id, function));
  }

  JsonPieces pieces_;
  llvm::json::OStream& json_ = pieces_.json();
  Fingerprints fingerprints_;
};

class SarifFormat : public Format {
public:
  SarifFormat(ReportOptions options, Invocation invocation)
      : options_(options), invocation_(std::move(invocation)) {}

  std::string head() const override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    {
      llvm::json::OStream json(stream, 2);
      json.object([&] {
        json.attribute("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
        json.attribute("version", "2.1.0");
        json.attributeArray("runs", [&] {
          json.object([&] {
            json.attributeObject("tool",
                                 [&] { json.attributeObject("driver", [&] { write_driver(json); }); });
            json.attribute("columnKind", "utf16CodeUnits");
            json.attributeArray("results", [] {});
          });
        });
      });
    }
    text.resize(text.rfind("[]") + 1); // results follow
    return text;
  }
  /// The invocation comes last, since unreadable files are known only then.
  std::string tail(const RunEnd& end) const override {
    JsonPieces pieces(depth_of_results); // an invocation is nested as deeply as a result
    pieces.json().object([&] { write_invocation(pieces, end); });
    return "\n      ],\n      \"invocations\": [" + pieces.take() + "\n      ]\n    }\n  ]\n}\n";
  }

  std::unique_ptr<FileReport> file(std::string path, const Input& input, Names& names,
                                   Channel& channel) const override {
    return std::make_unique<SarifReport>(
        FileReport::Context{std::move(path), input, names, channel, options_});
  }

private:
  void write_driver(llvm::json::OStream& json) const {
    json.attribute("name", "sframe-verify");
    json.attribute("version", invocation_.version);
    json.attributeArray("rules", [&] {
      for (const Check& c : checks())
        json.object([&] {
          json.attribute("id", ref(c.name));
          json.attributeObject("shortDescription", [&] { json.attribute("text", ref(c.title)); });
          json.attributeObject("fullDescription", [&] { json.attribute("text", ref(c.text)); });
          json.attribute("helpUri", page_of(c));
          json.attributeObject("help", [&] {
            json.attribute("text", std::string(c.text) + "\n\nExample:\n" + std::string(c.example));
          });
          json.attributeObject("defaultConfiguration",
                               [&] { json.attribute("level", ref(severity_name(c.severity))); });
        });
    });
  }

  void write_invocation(JsonPieces& pieces, const RunEnd& end) const {
    llvm::json::OStream& json = pieces.json();
    pieces.text("commandLine", invocation_.command_line);
    json.attribute("executionSuccessful", std::ranges::all_of(end.failures, &Failure::warning));
    json.attribute("exitCode", end.exit_code);
    json.attributeArray("toolExecutionNotifications", [&] {
      for (const Failure& failure : end.failures) json.object([&] { write_notification(pieces, failure); });
    });
    if (end.run)
      json.attributeObject("properties",
                           [&] { json.attributeObject("run", [&] { write_run(pieces, *end.run); }); });
  }

  static void write_notification(JsonPieces& pieces, const Failure& failure) {
    llvm::json::OStream& json = pieces.json();
    pieces.text("level", failure.warning ? "warning" : "error");
    json.attributeObject("message", [&] { pieces.text("text", failure.problem.text()); });
    json.attributeArray("locations", [&] {
      json.object([&] {
        json.attributeObject("physicalLocation", [&] {
          json.attributeObject("artifactLocation", [&] { pieces.text("uri", uri_of(failure.path)); });
        });
      });
    });
  }

  ReportOptions options_;
  Invocation invocation_;
};

} // namespace

std::unique_ptr<Format> make_sarif_format(ReportOptions options, Invocation invocation) {
  return std::make_unique<SarifFormat>(options, std::move(invocation));
}

} // namespace sframe::verify
