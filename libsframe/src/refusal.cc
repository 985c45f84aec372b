// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reasons for refusals as text.

#include "sframe/builder.h"

namespace sframe {

const char* message(RefusalReason reason) {
  switch (reason) {
  case RefusalReason::cfa_rule: return "CFA is not SP or FP plus an offset";
  case RefusalReason::ra_rule: return "RA rule cannot be represented in this version";
  case RefusalReason::fp_rule: return "FP rule cannot be represented in this version";
  case RefusalReason::mixed_rules: return "no single FDE type can represent all rows";
  case RefusalReason::offset_range: return "offset does not fit 32 bits";
  case RefusalReason::cfa_alignment: return "CFA offset is not a multiple of the ABI's unit";
  case RefusalReason::outermost: return "this version cannot mark the outermost frame";
  case RefusalReason::signal_frame: return "this version cannot mark signal frames";
  case RefusalReason::rep_size: return "block size cannot be represented in this version";
  case RefusalReason::no_rows: return "function has no rows";
  case RefusalReason::too_many_rows: return "too many rows in one function";
  case RefusalReason::row_order: return "two rows have the same offset";
  case RefusalReason::row_past_end: return "row at or past the function's end";
  case RefusalReason::out_of_reach: return "function is more than 2 GiB from the section";
  case RefusalReason::section_too_large: return "section would exceed the format's 32-bit sizes";
  case RefusalReason::aux_header_size: return "auxiliary header is longer than 255 bytes";
  case RefusalReason::reader: return "the reader cannot use the row";
  }
  return "unknown reason";
}

const char* reason_name(RefusalReason reason) {
  switch (reason) {
  case RefusalReason::cfa_rule: return "cfa-rule";
  case RefusalReason::ra_rule: return "ra-rule";
  case RefusalReason::fp_rule: return "fp-rule";
  case RefusalReason::mixed_rules: return "mixed-rules";
  case RefusalReason::offset_range: return "offset-range";
  case RefusalReason::cfa_alignment: return "cfa-alignment";
  case RefusalReason::outermost: return "outermost";
  case RefusalReason::signal_frame: return "signal-frame";
  case RefusalReason::rep_size: return "rep-size";
  case RefusalReason::no_rows: return "no-rows";
  case RefusalReason::too_many_rows: return "too-many-rows";
  case RefusalReason::row_order: return "row-order";
  case RefusalReason::row_past_end: return "row-past-end";
  case RefusalReason::out_of_reach: return "out-of-reach";
  case RefusalReason::section_too_large: return "section-too-large";
  case RefusalReason::aux_header_size: return "aux-header-size";
  case RefusalReason::reader: return "reader";
  }
  return "unknown";
}

} // namespace sframe
