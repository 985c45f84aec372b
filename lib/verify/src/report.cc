// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/verify/report.h"

namespace sframe::verify {

FileReport::FileReport(const Context& context) : context_(context) {
  if (options().baseline) known_ = *options().baseline;
}

void FileReport::add(Finding finding) {
  const auto severity = options().policy.severity(finding);
  if (!severity) return;
  if (*severity != Severity::note) {
    const auto key = Baseline::key(path(), check(finding.id).name,
                                   finding.at ? names().function(*finding.at) : std::string());
    found_.add(key);
    if (known_.take(key)) {
      ++counts_.known;
      return;
    }
  }
  ++(*severity == Severity::error     ? counts_.errors
     : *severity == Severity::warning ? counts_.warnings
                                      : counts_.notes);
  if (options().errors_only && *severity != Severity::error) return;
  if (!options().code_notes && *severity == Severity::note && check(finding.id).name.starts_with('K')) return;
  constexpr std::uint64_t around_message = 256; // rough size of names, rules and punctuation
  if (printed_ >= options().max_findings ||
      !input().spend(Resource::printed_bytes, around_message + finding.message.size())) {
    ++dropped_;
    return;
  }
  ++printed_;
  print(finding, *severity);
}

std::string_view FileReport::code_section(const Location& at) const {
  if (!input().relocatable() || at.section >= input().image()->sections().size()) return {};
  return input().image()->sections()[at.section].name;
}

} // namespace sframe::verify
