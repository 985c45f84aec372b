// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder.h"

#include <algorithm>

namespace sframe::run {

namespace {

using verify::RunFault;

void add(verify::RunInstruction& seen, const verify::RunMismatch& fault) {
  const auto at = std::ranges::lower_bound(seen.mismatches, fault.fault, {}, &verify::RunMismatch::fault);
  if (at != seen.mismatches.end() && at->fault == fault.fault)
    ++at->times;
  else
    seen.mismatches.insert(at, fault)->times = 1;
}

} // namespace

Unknown compare(const verify::RowTable::Match& row, const AbiTraits& abi, const unwind::Registers& registers,
                unwind::Memory& memory, const Call* caller, verify::RunInstruction& seen) {
  const auto fault = [&](const verify::RunMismatch& mismatch) {
    // A return address on the stack, which the code itself may replace.
    const bool in_memory = caller && abi.fixed_ra_offset && !caller->interrupted;
    if (in_memory && memory.word(caller->limit) != caller->ra) return Unknown::redirected;
    add(seen, mismatch);
    return Unknown::none;
  };
  if (row.row.is_outermost())
    return caller ? fault({.fault = RunFault::outermost, .computed = true, .expected = caller->ra})
                  : Unknown::none;
  if (!caller) return fault({.fault = RunFault::no_caller, .computed = true});
  const unwind::FrameState frame{.registers = registers, .pc_exact = true, .after_fault = false};
  unwind::FrameState found;
  const unwind::StepResult result = unwind::step_by_row(row.row, row.signal_frame, abi, frame, memory, found);
  const bool done = result.status == unwind::StepStatus::stepped;
  if (!done || result.cfa != caller->cfa) {
    // A CFA that cannot be used to read RA is the cause, if it is wrong.
    std::uint64_t cfa = result.cfa;
    unwind::RowEvaluator cfa_only(frame, memory, abi.fixed_ra_offset ? abi.ra : unwind::Registers::count);
    const bool computed = done || cfa_only.compute(row.row.cfa, abi.sp, cfa);
    if (!computed || cfa != caller->cfa)
      return fault({.fault = RunFault::cfa, .computed = computed, .expected = caller->cfa, .found = cfa});
    return fault({.fault = RunFault::ra, .computed = false, .expected = caller->ra});
  }
  Unknown why = Unknown::none;
  if (const std::uint64_t ra = memory.code_address(found.registers.pc); ra != caller->ra)
    why = fault({.fault = RunFault::ra, .computed = true, .expected = caller->ra, .found = ra});
  const auto fp = found.registers.get(abi.fp);
  if (why == Unknown::none && row.row.fp.kind != Rule::Kind::undefined && fp != caller->fp)
    why = fault(
        {.fault = RunFault::fp, .computed = fp.has_value(), .expected = caller->fp, .found = fp.value_or(0)});
  return why;
}

verify::RunRecord record_of(MappedFile& file) {
  verify::RunRecord record;
  record.instructions.reserve(file.code.size());
  for (auto& [address, decoded] : file.code)
    if (decoded.seen.visits) record.instructions.push_back(std::move(decoded.seen));
  std::ranges::sort(record.instructions, {}, &verify::RunInstruction::address);
  return record;
}

} // namespace sframe::run
