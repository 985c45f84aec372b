// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder.h"

#include <algorithm>

namespace sframe::run {

namespace {

using verify::RunFault;
using verify::RunMismatch;

/// Of a run: about 60 bytes each while it runs. The largest programs execute a tenth of it.
constexpr std::uint64_t most_instructions = std::uint64_t{1} << 22;
constexpr std::uint64_t most_faults = std::uint64_t{1} << 16;
constexpr std::uint64_t most_files = 4096;

std::uint64_t scaled(Limits limits, std::uint64_t amount) {
  if (limits == Limits::off) return ~std::uint64_t{0};
  return limits == Limits::strict ? amount / 4 : amount;
}

/// Takes one, if there is one.
bool take_one(std::uint64_t& left) {
  if (left == 0) return false;
  --left;
  return true;
}

} // namespace

Room::Room(Limits limits)
    : instructions(scaled(limits, most_instructions)), faults(scaled(limits, most_faults)),
      files(scaled(limits, most_files)), most_instructions_(instructions), most_faults_(faults),
      most_files_(files) {}

std::optional<Problem> Room::problem() const {
  std::string what;
  const auto add = [&](std::uint64_t lost, std::uint64_t most, const char* of, const std::string& left_out) {
    if (lost == 0) return;
    what += (what.empty() ? "" : "; ") + std::to_string(most) + of + ": " + std::to_string(lost) + left_out;
  };
  add(steps_lost, most_instructions_, " instructions in files", " steps at others were not compared");
  add(faults_lost, most_faults_, " faulty rules of instructions", " faults of others are not reported");
  add(files_lost, most_files_, " files", " others were not verified");
  if (what.empty()) return std::nullopt;
  return Problem{"limit of a run reached: " + what + " (--limits=off removes the limit)", {}, {}};
}

FileRecorder::Seen* FileRecorder::visit(std::uint64_t address, const Decoded& decoded) {
  auto at = seen_.find(address);
  if (at == seen_.end()) {
    if (!take_one(room_.instructions)) {
      ++room_.steps_lost;
      return nullptr;
    }
    const Seen seen{.visits = 0,
                    .compared = 0,
                    .length = std::max<std::uint8_t>(1, decoded.instruction.length),
                    .has_row = decoded.row.has_value()};
    at = seen_.emplace(address, seen).first;
  }
  ++at->second.visits;
  return &at->second;
}

void FileRecorder::add(const RunMismatch& fault) {
  const std::pair key{fault.address, fault.fault};
  auto at = faults_.find(key);
  if (at == faults_.end()) {
    if (!take_one(room_.faults)) return void(++room_.faults_lost);
    at = faults_.emplace(key, fault).first;
    at->second.times = 0;
  }
  ++at->second.times;
}

verify::RunRecord FileRecorder::take() {
  verify::RunRecord record;
  record.instructions.reserve(seen_.size());
  for (const auto& [address, seen] : seen_)
    record.instructions.push_back({.address = address,
                                   .length = seen.length,
                                   .has_row = seen.has_row,
                                   .visits = seen.visits,
                                   .compared = seen.compared});
  seen_ = {};
  std::ranges::sort(record.instructions, {}, &verify::RunInstruction::address);
  for (const auto& [key, fault] : faults_) record.mismatches.push_back(fault);
  faults_.clear();
  return record;
}

Comparison compare(const verify::RowTable::Match& row, const AbiTraits& abi,
                   const unwind::Registers& registers, unwind::Memory& memory, const Call* caller) {
  Comparison comparison;
  // False: it is not known what is right.
  const auto fault = [&](const RunMismatch& mismatch) {
    // A return address on the stack, which the code itself may replace; a handler where the interrupted code
    // goes on.
    const bool in_memory = caller && (abi.fixed_ra_offset || caller->interrupted);
    if (in_memory && memory.word(caller->limit) != caller->ra) {
      comparison.unknown = Unknown::redirected;
      return false;
    }
    comparison.faults.push_back(mismatch);
    return true;
  };
  if (row.row.is_outermost()) {
    if (caller && !row.ends_stack)
      fault({.fault = RunFault::outermost, .computed = true, .expected = caller->ra});
    return comparison;
  }
  if (!caller) {
    fault({.fault = RunFault::no_caller, .computed = true});
    return comparison;
  }
  const unwind::FrameState frame{.registers = registers, .pc_exact = true, .after_fault = false};
  unwind::FrameState found;
  const unwind::StepResult result = unwind::step_by_row(row.row, row.signal_frame, abi, frame, memory, found);
  const bool done = result.status == unwind::StepStatus::stepped;
  if (!done || result.cfa != caller->cfa) {
    // A CFA that cannot be used to read RA is the cause, if it is wrong.
    std::uint64_t cfa = result.cfa;
    unwind::RowFrame values(frame, memory, abi);
    const bool computed = done || compute(unwind::operation_of(row.row.cfa, abi.sp), values, cfa).is_none();
    if (!computed || cfa != caller->cfa)
      fault({.fault = RunFault::cfa, .computed = computed, .expected = caller->cfa, .found = cfa});
    else
      fault({.fault = RunFault::ra, .computed = false, .expected = caller->ra});
    return comparison;
  }
  std::uint64_t ra = memory.code_address(found.registers.pc);
  // A reader authenticates or strips only what the row says is signed.
  if (ra == caller->ra && !row.row.ra_signed && abi.signs_return_addresses) ra = found.registers.pc;
  if (ra != caller->ra)
    if (!fault({.fault = RunFault::ra, .computed = true, .expected = caller->ra, .found = ra}))
      return comparison;
  const auto fp = found.registers.get(abi.fp);
  if (row.row.fp.kind != Rule::Kind::undefined && fp != caller->fp)
    fault(
        {.fault = RunFault::fp, .computed = fp.has_value(), .expected = caller->fp, .found = fp.value_or(0)});
  return comparison;
}

} // namespace sframe::run
