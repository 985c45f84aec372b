// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/generate/report.h"

namespace sframe::generate {

Reason reason(cfi::Unrepresentable unrepresentable) {
  return {cfi::reason_name(unrepresentable), cfi::message(unrepresentable)};
}

Reason reason(RefusalReason refusal) {
  return {sframe::reason_name(refusal), sframe::message(refusal)};
}

const char* Report::contradiction() const {
  if (pc_bytes.covered > pc_bytes.total || plt_bytes > pc_bytes.covered)
    return "internal error: more bytes covered than exist; please report this";
  if (functions.converted > functions.total || functions.partial > functions.total - functions.converted ||
      functions.skipped != functions.total - functions.converted - functions.partial)
    return "internal error: inconsistent number of functions; please report this";
  return nullptr;
}

void Report::leave_out(std::uint64_t start, std::uint64_t end, Reason reason, bool same_fde) {
  if (start >= end) return;
  if (same_fde && !left_out.empty()) {
    LeftOut& last = left_out.back();
    if (last.start + last.size == start && last.reason == reason) {
      last.size += end - start;
      return;
    }
  }
  count(reason);
  left_out.push_back({start, end - start, reason});
}

void Report::add_counts(const Report& other) {
  functions.total += other.functions.total;
  functions.converted += other.functions.converted;
  functions.partial += other.functions.partial;
  functions.skipped += other.functions.skipped;
  pc_bytes.total += other.pc_bytes.total;
  pc_bytes.covered += other.pc_bytes.covered;
  plt_bytes += other.plt_bytes;
  refuted_plt_bytes += other.refuted_plt_bytes;
  code_bytes += other.code_bytes;
  orc_bytes += other.orc_bytes;
  go_bytes += other.go_bytes;
  extended += other.extended;
  overlapping += other.overlapping;
  for (const auto& [name, count] : other.reasons) reasons[name] += count;
  faults.insert(faults.end(), other.faults.begin(), other.faults.end());
}

} // namespace sframe::generate
