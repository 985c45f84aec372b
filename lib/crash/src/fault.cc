// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel says which signal, why, and mostly the address. The operands of the instruction at the pc say
// how the address was accessed: "mov %rax, 0x08(%rdi)" with rdi = 0 writes to 8, which is the address of the
// signal. Where the kernel has no address (RefusedAccess in fault_abi.h), the operand that the processor must
// have refused has it.

#include "sframe/crash/fault.h"

#include "fault_frame.h"
#include "guess.h"

#include "sframe/base/problem.h"
#include "sframe/unwind/abi.h"

#include <algorithm>
#include <utility>

namespace sframe::crash {

namespace {

using namespace core;
using Access = Fault::Access;

constexpr std::uint64_t longest_instruction = 16; ///< bytes

/// An alignment check of the processor, for which the kernel has no address.
bool is_alignment_check(const SignalInfo& info) {
  return info.signal == sigbus && info.code == bus_adraln && info.address == 0;
}

Access access_of(bool reads, bool writes) {
  if (reads && writes) return Access::read_write;
  return writes ? Access::write : reads ? Access::read : Access::unknown;
}

Access access_of(const code::MemoryAccess& memory) {
  return access_of(memory.reads, memory.writes);
}

/// What is done to memory at an address that is none of the operands': an element of a gather, one of another
/// segment, or a bit far from its operand (bt). Unknown if operands are used in several ways.
Access access_elsewhere(const code::InstructionOperands& operands) {
  if (operands.reads_elsewhere || operands.writes_elsewhere)
    return access_of(operands.reads_elsewhere, operands.writes_elsewhere);
  Access all = Access::unknown;
  for (const code::MemoryAccess& memory : operands.memory) {
    if (all != Access::unknown && all != access_of(memory)) return Access::unknown;
    all = access_of(memory);
  }
  return all;
}

class Explainer {
public:
  Explainer(process::CoreProcess& process, std::int32_t signal, const std::optional<SignalInfo>& info,
            const unwind::FrameState& frame)
      : frame_(process, frame.registers), signal_(signal), info_(info), after_fault_(frame.after_fault) {}

  Fault explain() {
    if (info_) add_code(*info_);
    const bool is_sent = info_ && info_->code <= 0;
    const bool is_access = signal_ == sigsegv || signal_ == sigbus;
    // What a process has sent says nothing of the instruction; nor does a pc after the instruction.
    if ((is_access || signal_ == sigill || signal_ == sigfpe) && !is_sent && !after_fault_)
      add_instruction(frame_.pc());
    if (info_ && signal_ == sigtrap && info_->code == si_kernel) add_breakpoint();
    if (info_ && signal_ == sigfpe && info_->code == fpe_intdiv) explain_division();
    if (info_ && !is_sent && is_access) explain_access(*info_);
    // The bytes at an address that cannot be executed were not; a branch to one was.
    if (fault_.access == Access::execute && !is_refused_branch_) fault_.instruction.reset();
    return std::move(fault_);
  }

private:
  void add_code(const SignalInfo& info) {
    fault_.code = info.code;
    const SignalCode code = signal_code(info.signal, info.code);
    fault_.code_name = code.name;
    fault_.meaning = code.meaning;
    if (signal_ == sigsys && info.code == sys_seccomp)
      fault_.meaning = "system call " + std::to_string(info.system_call) + " refused by seccomp";
    if (signal_ == sigbus && info.code > 0 && info.code != si_kernel && !is_alignment_check(info))
      fault_.address = info.address;
  }

  void add_breakpoint() {
    const auto& breakpoint = frame_.abi().breakpoint;
    const std::uint64_t pc = frame_.pc() - breakpoint.size();
    if (!frame_.has_code(pc, breakpoint)) return;
    fault_.meaning = "a breakpoint instruction";
    add_instruction(pc);
  }

  void add_instruction(std::uint64_t pc) {
    operands_ = frame_.operands_at(pc);
    if (operands_.length == 0) return;
    const auto& names = unwind::find_unwind_abi(frame_.traits().id)->register_names;
    FaultingInstruction& instruction = fault_.instruction.emplace();
    instruction.pc = pc;
    instruction.text =
        code::instruction_text(frame_.traits(), frame_.code_at(pc).first(operands_.length), pc);
    for (const std::uint8_t reg : operands_.registers)
      if (const auto value = frame_.registers().get(reg); value && reg < names.size())
        instruction.registers.push_back({names[reg], *value});
  }

  /// The processor has one exception for both, and the kernel one code.
  void explain_division() {
    const auto divisor = operands_.divisor ? frame_.value_of(*operands_.divisor, operands_) : std::nullopt;
    if (divisor && *divisor != 0) fault_.meaning = "integer division: the quotient does not fit";
  }

  /// What is there may be read, and then looks like an instruction.
  bool may_execute(std::uint64_t address) const {
    const core::Core& core = frame_.core();
    const core::MemoryRange* const range = core.has_permissions() ? core.range_at(address) : nullptr;
    return !range || range->flags & elf::pf_x;
  }

  void explain_access(const SignalInfo& info) {
    if (frame_.abi().refused && (info.code == si_kernel || is_alignment_check(info)))
      explain_refused(*frame_.abi().refused, info);
    else
      explain_with_address(info);
  }

  /// The kernel has no address: the first operand that the processor refuses.
  void explain_refused(const RefusedAccess& refused, const SignalInfo& info) {
    const FaultAbi& abi = frame_.abi();
    const bool is_alignment = is_alignment_check(info);
    const std::string_view meaning = signal_code(info.signal, info.code).meaning;
    for (const code::MemoryAccess& memory : operands_.memory) {
      const auto at = frame_.address_of(memory);
      if (!at) continue;
      const unsigned checked = is_alignment ? 2 : refused.aligned_bytes; // the smallest access
      const bool misaligned = memory.size >= checked && *at % memory.size != 0;
      const bool is_canonical = abi.is_canonical(*at);
      // The first bytes may be the last of the address space.
      const bool is_beyond = is_canonical && memory.size && !abi.is_canonical(*at + memory.size - 1);
      if (is_canonical && !misaligned && !is_beyond) continue;
      fault_.access = access_of(memory);
      used_ = memory;
      finish_access(info, *at,
                    std::string(is_alignment    ? meaning
                                : !is_canonical ? "not a canonical address"
                                : is_beyond     ? "runs past the last canonical address"
                                                : "misaligned"));
      return;
    }
    if (explain_branch()) return;
    if (!abi.is_canonical(frame_.pc())) fault_.access = Access::execute;
    fault_.meaning = is_alignment ? meaning : "the processor refused the instruction (general protection)";
  }

  /// A return, call or jump whose target is not canonical: the processor refuses the branch itself.
  bool explain_branch() {
    const auto target = operands_.is_return ? frame_.value_of({.size = 8}, operands_)
                        : operands_.target  ? frame_.value_of(*operands_.target, operands_)
                                            : std::nullopt;
    if (!target || frame_.abi().is_canonical(*target)) return false;
    is_refused_branch_ = true;
    fault_.access = Access::execute;
    fault_.address = *target;
    fault_.meaning = (operands_.is_return ? "return to "
                      : operands_.is_call ? "call to "
                                          : "jump to ") +
                     hex(*target) + ", not a canonical address";
    fault_.guess =
        guess_overwritten(frame_, operands_.is_return ? "a return address" : "a function pointer", *target);
    return true;
  }

  /// The first operand whose bytes include the address; an access of unknown size has up to 16.
  void explain_with_address(const SignalInfo& info) {
    const std::uint64_t unknown = frame_.abi().unknown_address_bits;
    const std::uint64_t pc = frame_.pc() & frame_.space().code_address_mask();
    std::uint64_t address = info.address;
    if (address == (pc & ~unknown) && (!fault_.instruction || !may_execute(frame_.pc()))) {
      fault_.access = Access::execute;
      address = frame_.pc();
    } else {
      for (const code::MemoryAccess& memory : operands_.memory) {
        const auto at = frame_.address_of(memory);
        if (!at || (*at & ~unknown) > address) continue;
        const std::uint64_t size = std::max<std::uint64_t>(memory.size ? memory.size : 16, unknown + 1);
        if (address - (*at & ~unknown) >= size) continue;
        fault_.access = access_of(memory);
        used_ = memory;
        if (unknown) address = *at;
        break;
      }
      // A fault at or after the pc, within an instruction, is of reading the instruction.
      const bool is_in_code = address - pc < longest_instruction;
      if (fault_.access == Access::unknown && !is_in_code) fault_.access = access_elsewhere(operands_);
      if (fault_.access == Access::unknown && info.code == segv_accerr && address == pc)
        fault_.access = Access::execute;
    }
    finish_access(info, address, std::string(signal_code(info.signal, info.code).meaning));
  }

  void finish_access(const SignalInfo& info, std::uint64_t address, std::string why) {
    fault_.address = address;
    if (info.signal == sigsegv && info.code == segv_accerr) why = "not permitted" + place_of(address);
    if (info.signal == sigbus && info.code == bus_adrerr) why += file_at(address);
    const bool is_return = fault_.access == Access::execute && is_after_return();
    fault_.meaning = is_return
                         ? "return to "
                         : std::string(name(fault_.access)) + (fault_.access == Access::execute ? " at "
                                                               : fault_.access == Access::read  ? " of "
                                                                                                : " to ");
    fault_.meaning += hex(address) + ", " + why;
    if (!is_return)
      fault_.guess = guess_cause(frame_, info.signal, fault_.access, address, used_);
    else if (address == 0)
      fault_.guess = "an overwritten return address";
    else
      fault_.guess = guess_overwritten(frame_, "a return address", address);
  }

  /// Whether a return has led to the pc, where calls put the return address on the stack (AMD64): it is in
  /// the word that a return has read, below SP. After a call, and after a jump at the end of a function, SP
  /// is at a return address instead.
  bool is_after_return() const {
    const auto sp = frame_.sp();
    const core::Core& core = frame_.core();
    const std::int8_t ra_offset = frame_.traits().fixed_ra_offset;
    if (ra_offset == 0 || !sp || !core.has_permissions()) return false;
    const auto above = core.read_word(*sp);
    const MemoryRange* const range = above ? core.range_at(*above) : nullptr;
    return core.read_word(*sp + static_cast<std::uint64_t>(ra_offset)) == frame_.pc() && above &&
           !(range && range->flags & elf::pf_x);
  }

  std::string file_at(std::uint64_t address) const {
    const auto contains = [&](const elf::Mapping& file) {
      return file.start <= address && address < file.end;
    };
    const auto files = frame_.core().mappings();
    const auto file = std::ranges::find_if(files, contains);
    if (file == files.end()) return {};
    return ": " + std::string(file->path) + " + " + hex(address - file->start + file->file_offset);
  }

  /// What is mapped at an address that must not be used in this way.
  std::string place_of(std::uint64_t address) const {
    const MemoryRange* range = frame_.core().range_at(address);
    if (!range) return {};
    std::string text = ": ";
    const std::uint32_t flags = range->flags & (elf::pf_r | elf::pf_w | elf::pf_x);
    if (!frame_.core().has_permissions())
      text += "memory";
    else if (flags == 0)
      text += "a guard page or reserved memory";
    else if (!(flags & elf::pf_w))
      text += flags & elf::pf_x ? "code" : "read-only memory";
    else
      text += "data";
    if (modules::Module* module = frame_.space().module_at(address); module && !module->generated())
      text += " of " + std::string(module->shown_name()) + " + " + hex(address - module->info().start);
    return text;
  }

  FaultFrame frame_;
  std::int32_t signal_;
  const std::optional<SignalInfo>& info_;
  bool after_fault_;
  bool is_refused_branch_ = false;
  Fault fault_;
  code::InstructionOperands operands_;
  std::optional<code::MemoryAccess> used_; ///< the operand that was refused
};

} // namespace

std::string_view name(Fault::Access access) {
  switch (access) {
  case Access::read: return "read";
  case Access::write: return "write";
  case Access::read_write: return "read and write";
  case Access::execute: return "execute";
  case Access::unknown: break;
  }
  return "access";
}

Fault explain_fault(process::CoreProcess& process, std::int32_t signal, const std::optional<SignalInfo>& info,
                    const unwind::FrameState& frame) {
  return Explainer(process, signal, info, frame).explain();
}

} // namespace sframe::crash
