// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/verify/report.h"

#include "sframe/base/text.h"

namespace sframe::verify {

namespace {

/// There may be one for each call or jump.
bool is_about_code(Id id) {
  const char group = check(id).name.front();
  return group == 'K' || group == 'R';
}

} // namespace

FileReport::FileReport(const Context& context) : context_(context), channel_(context.channel) {
  if (options().baseline) known_ = *options().baseline;
}

/// True if the error or warning is in the baseline. Adds it to the new one.
bool FileReport::is_known(const Finding& finding) {
  if (!options().baseline && !options().collect) return false;
  const auto key = Baseline::key(path(), check(finding.id).name,
                                 finding.at ? names().function(*finding.at) : std::string());
  if (options().collect && !input().is_used_up(Resource::name_bytes) && found_.add(key))
    (void)input().spend(Resource::name_bytes, key.file.size() + key.function.size());
  return known_.take(key);
}

void FileReport::add(Finding finding) {
  const auto severity = options().policy.severity(finding);
  if (!severity) return;
  if (*severity != Severity::note && is_known(finding)) {
    ++counts_.known;
    return;
  }
  ++(*severity == Severity::error     ? counts_.errors
     : *severity == Severity::warning ? counts_.warnings
                                      : counts_.notes);
  count(finding, *severity);
  const bool is_note = *severity == Severity::note;
  if (*severity < options().level ||
      (is_note && !options().usual_notes && (finding.usual || is_about_code(finding.id)))) {
    counts_.hidden_notes += is_note;
    return;
  }
  const Budget* const budget = input().budget();
  if (printed_ >= options().max_findings ||
      (budget && (budget->is_used_up(Resource::printed_bytes) || budget->ended_with_all()))) {
    ++dropped_;
    return;
  }
  ++printed_;
  print(finding, *severity);
  (void)input().spend(Resource::printed_bytes, channel_.take_written());
}

std::string_view result_name(int exit_code) {
  return exit_code == 0 ? "PASSED" : "FAILED";
}

std::string totals_text(const Totals& totals) {
  std::string text = counted(totals.files, "file") + ", " + counted(totals.functions, "function") + ", " +
                     counted(totals.errors, "error") + ", " + counted(totals.warnings, "warning");
  if (totals.not_verified) text += "; " + counted(totals.not_verified, "file") + " not verified";
  if (!totals.missing.empty()) text += "; " + counted(totals.missing.size(), "file") + " without a section";
  return text;
}

std::string_view FileReport::code_section(const Location& at) const {
  if (!input().relocatable() || at.section >= input().image()->sections().size()) return {};
  return input().image()->sections()[at.section].name;
}

} // namespace sframe::verify
