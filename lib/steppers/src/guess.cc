// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "guess.h"

#include <algorithm>
#include <array>

namespace sframe::steppers {

namespace {

/// The code before an address, as long as the longest call.
class CodeBefore {
public:
  CodeBefore(const unwind::UnwindAbi& abi, unwind::Memory& memory, std::uint64_t address) {
    if (!memory.space().is_code(address - 1)) return;
    const auto longest = std::span(buffer_).first(abi.longest_call);
    const std::uint64_t first = address - longest.size();
    std::size_t start = 0;
    // Fewer bytes if a mapping starts just before.
    if (!memory.bytes(first, longest))
      for (std::size_t done = 0; done < longest.size();) {
        done += memory.space().read(first + done, longest.subspan(done));
        if (done < longest.size()) start = ++done;
      }
    if (constexpr std::size_t shortest_call = 2; longest.size() - start >= shortest_call)
      bytes_ = longest.subspan(start);
  }
  CodeBefore(const CodeBefore&) = delete;
  std::span<const std::byte> bytes() const { return bytes_; }

private:
  std::array<std::byte, 16> buffer_;
  std::span<const std::byte> bytes_;
};

} // namespace

bool follows_call(const unwind::UnwindAbi& abi, unwind::Memory& memory, std::uint64_t address) {
  const CodeBefore code(abi, memory, address);
  return !code.bytes().empty() && abi.ends_with_call(code.bytes());
}

std::optional<std::uint64_t> target_of_call(const unwind::UnwindAbi& abi, unwind::Memory& memory,
                                            std::uint64_t address) {
  const CodeBefore code(abi, memory, address);
  return code.bytes().empty() ? std::nullopt : abi.call_target(code.bytes(), address);
}

bool is_frame_record(std::uint64_t address, std::uint64_t lowest, const unwind::FrameRecord& record,
                     const unwind::UnwindAbi& abi, unwind::Memory& memory) {
  constexpr int enough = 16; // this many linked records, none after a call, are no accident
  for (int i = 0; i < enough; ++i) {
    // A frame pointer that is below SP or unaligned is a register used for something else.
    if (address < lowest || address % sizeof(std::uint64_t)) return false;
    const auto ra = memory.word(offset_by(address, record.return_address)),
               caller_fp = memory.word(offset_by(address, record.caller_fp));
    if (!ra || !caller_fp) return false;
    const std::uint64_t return_address = memory.code_address(*ra);
    if (follows_call(abi, memory, return_address)) return true;
    if (!memory.space().is_code(return_address)) return false;
    lowest = offset_by(address, record.cfa);
    address = *caller_fp;
  }
  return true;
}

unwind::StepResult guessed_call(unwind::FrameState& caller, const AbiTraits& abi,
                                std::uint64_t return_address, std::uint64_t cfa) {
  caller.registers.set(abi.sp, offset_by(cfa, abi.sp_from_cfa));
  caller.registers.pc = return_address;
  caller.pc_exact = false;
  return {
      .status = unwind::StepStatus::stepped, .trust = unwind::Trust::heuristic, .has_cfa = true, .cfa = cfa};
}

unwind::StepResult step_by_trace(std::uint64_t address, const unwind::FrameState& frame,
                                 unwind::Memory& memory, const AbiTraits& abi,
                                 const unwind::UnwindAbi& unwind, unwind::FrameState& caller) {
  const unwind::CallTrace& trace = unwind.call_trace;
  const auto ra = memory.word(offset_by(address, trace.return_address));
  const std::uint64_t return_address = memory.code_address(ra.value_or(0));
  if (!ra || !follows_call(unwind, memory, return_address)) return unwind::StepResult::not_applicable();
  std::uint64_t sp = offset_by(address, trace.sp);
  if (trace.sp_saved && memory.word(offset_by(address, *trace.sp_saved)) != sp)
    return unwind::StepResult::not_applicable();
  // The trace of a call by the frame itself would lead back to the frame.
  if (frame.registers.get(abi.sp) >= sp) return unwind::StepResult::not_applicable();
  // Most code leaves FP unchanged; an FP that points into frames that have ended is invalid.
  caller.fp_is_guess = !trace.caller_fp;
  auto fp = frame.registers.get(abi.fp);
  if (fp && *fp < sp) fp.reset();
  if (trace.caller_fp) {
    fp = memory.word(offset_by(address, *trace.caller_fp));
    if (!fp || (*fp != 0 && (*fp < sp || *fp % sizeof *fp))) return unwind::StepResult::not_applicable();
    sp = std::max(sp, *fp); // as in frames with the record at the bottom
  }
  caller.registers.known = 0;
  if (fp) caller.registers.set(abi.fp, *fp);
  return guessed_call(caller, abi, return_address, offset_by(sp, -abi.sp_from_cfa));
}

} // namespace sframe::steppers
