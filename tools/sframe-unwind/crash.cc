// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "crash.h"

#include "signal_numbers.h"

#include "sframe/base/printable.h"
#include "sframe/base/problem.h"
#include "sframe/bytes.h"
#include "sframe/code/disassembly.h"
#include "sframe/unwind/abi.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

namespace sframe::unwind_tool {

namespace {

using Access = Fault::Access;

/// True if no address of the machine's usual address space has this value, so that the processor reports a
/// fault without it: AMD64 with 48 bits.
bool is_canonical(std::uint64_t address) {
  const std::uint64_t high = address >> 47;
  return high == 0 || high == 0x1ffff;
}

/// An alignment check of the processor, for which the kernel has no address.
bool is_alignment_check(const core::SignalInfo& info) {
  return info.signal == sigbus && info.code == bus_adraln && info.address == 0;
}

/// The text in the bytes of a pointer, up to its terminating zeros; empty if they are none.
std::string text_of(std::uint64_t value, ByteOrder order) {
  std::array<std::byte, 8> bytes{};
  store<std::uint64_t>(bytes.data(), value, order);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text.erase(text.find_last_not_of('\0') + 1);
  const auto is_printable = [](char c) { return c >= 0x20 && c <= 0x7e; };
  return std::ranges::all_of(text, is_printable) ? text : std::string();
}

/// The string at an address, up to `most` bytes; nothing if it is not in the core or longer.
std::optional<std::string> string_at(const core::Core& core, std::uint64_t address, std::size_t most) {
  const auto bytes = core.bytes_at(address);
  const auto window = bytes.first(std::min(bytes.size(), most));
  const auto end = std::ranges::find(window, std::byte{});
  if (end == window.end()) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(window.data()),
                     static_cast<std::size_t>(end - window.begin()));
}

std::optional<std::uint64_t> address_of(const code::MemoryAccess& memory,
                                        const unwind::Registers& registers) {
  std::uint64_t address = static_cast<std::uint64_t>(memory.displacement);
  if (memory.base != code::MemoryAccess::none) {
    const auto base = registers.get(memory.base);
    if (!base) return std::nullopt;
    address += *base;
  }
  if (memory.index == code::MemoryAccess::none) return address;
  const auto index = registers.get(memory.index);
  return index ? std::optional(address + *index * memory.scale) : std::nullopt;
}

/// Nothing if it is not known.
std::optional<std::uint64_t> value_of(const code::InstructionOperands::Value& value,
                                      const code::InstructionOperands& operands,
                                      const unwind::Registers& registers, const core::Core& core) {
  std::array<std::byte, 8> bytes{};
  if (value.size == 0 || value.size > bytes.size()) return std::nullopt;
  if (value.reg != code::MemoryAccess::none) {
    const auto all = registers.get(value.reg);
    return all ? std::optional(*all & (~std::uint64_t{0} >> (64 - 8 * value.size))) : std::nullopt;
  }
  const auto at = operands.memory.empty() ? std::nullopt : address_of(operands.memory.front(), registers);
  if (!at || core.read(*at, std::span(bytes).first(value.size)) != value.size) return std::nullopt;
  return load<std::uint64_t>(bytes.data(), ByteOrder::little); // only known on AMD64
}

constexpr std::size_t longest_instruction = 16;

/// Explains the fault of one frame: of the thread that died, or one that a signal interrupted.
class Explainer {
public:
  Explainer(process::CoreProcess& process, std::int32_t signal, const std::optional<core::SignalInfo>& info,
            const unwind::FrameState& frame)
      : process_(process), core_(process.space().core()), space_(process.space()),
        registers_(frame.registers), abi_(*unwind::find_unwind_abi(space_.abi().id)), signal_(signal),
        info_(info), after_fault_(frame.after_fault) {}

  Fault explain() {
    if (info_) explain(*info_);
    // What a process has sent says nothing of the instruction; nor does a pc after the instruction.
    const bool is_fault = signal_ == sigsegv || signal_ == sigbus || signal_ == sigill || signal_ == sigfpe;
    if (is_fault && (!info_ || info_->code > 0) && !after_fault_) add_instruction(registers_.pc);
    if (info_ && signal_ == sigtrap && info_->code == si_kernel) add_breakpoint();
    if (info_ && signal_ == sigfpe && info_->code == fpe_intdiv) explain_division();
    if (info_ && info_->code > 0 && (signal_ == sigsegv || signal_ == sigbus)) explain_access(*info_);
    // The bytes at an address that cannot be executed were not; a branch to one was.
    if (fault_.access == Access::execute && !is_refused_branch_) fault_.instruction.reset();
    return std::move(fault_);
  }

private:
  void explain(const core::SignalInfo& info) {
    fault_.code = info.code;
    const core::SignalCode code = core::signal_code(info.signal, info.code);
    fault_.code_name = code.name;
    fault_.meaning = code.meaning;
    if (signal_ == sigsys && info.code == 1)
      fault_.meaning = "system call " + std::to_string(info.system_call) + " refused by seccomp";
    if (signal_ == sigbus && info.code > 0 && info.code != si_kernel && !is_alignment_check(info))
      fault_.address = info.address;
  }

  /// AMD64: Linux sends SIGTRAP without an address for int3 (arch/x86/kernel/traps.c, do_int3), and the pc is
  /// after it.
  void add_breakpoint() {
    const std::uint64_t pc = registers_.pc;
    const auto is_int3 = [&](std::uint64_t at) {
      const auto bytes = space_.view(at);
      return !bytes.empty() && bytes.front() == std::byte{0xcc};
    };
    if (space_.abi().id != Abi::amd64 || !is_int3(pc - 1)) return;
    fault_.meaning = "a breakpoint instruction";
    add_instruction(pc - 1);
  }

  void add_instruction(std::uint64_t pc) {
    const auto bytes = space_.view(pc);
    if (bytes.empty()) return;
    const auto code = bytes.first(std::min(bytes.size(), longest_instruction));
    operands_ = code::instruction_operands(space_.abi(), code, pc);
    if (operands_.length == 0) return;
    FaultingInstruction& instruction = fault_.instruction.emplace();
    instruction.pc = pc;
    instruction.text = code::instruction_text(space_.abi(), code.first(operands_.length), pc);
    for (const std::uint8_t reg : operands_.registers)
      if (const auto value = registers_.get(reg); value && reg < abi_.register_names.size())
        instruction.registers.push_back({abi_.register_names[reg], *value});
  }

  static Access access_of(const code::MemoryAccess& memory) {
    if (memory.reads && memory.writes) return Access::read_write;
    return memory.writes ? Access::write : memory.reads ? Access::read : Access::unknown;
  }

  std::optional<std::uint64_t> value(const code::InstructionOperands::Value& operand) const {
    return value_of(operand, operands_, registers_, core_);
  }

  /// The processor has one exception for both, and the kernel one code.
  void explain_division() {
    const auto divisor = operands_.divisor ? value(*operands_.divisor) : std::nullopt;
    if (divisor && *divisor != 0) fault_.meaning = "integer division: the quotient does not fit";
  }

  /// A return, call or jump whose target is not canonical: the processor refuses the branch itself.
  bool explain_branch() {
    const auto target = operands_.is_return ? value({.size = 8})
                        : operands_.target  ? value(*operands_.target)
                                            : std::nullopt;
    if (!target || is_canonical(*target)) return false;
    is_refused_branch_ = true;
    fault_.access = Access::execute;
    fault_.address = *target;
    fault_.meaning = (operands_.is_return ? "return to "
                      : operands_.is_call ? "call to "
                                          : "jump to ") +
                     hex(*target) + ", not a canonical address";
    fault_.guess = overwritten(operands_.is_return ? "a return address" : "a function pointer", *target);
    return true;
  }

  /// AMD64: whether a return has led to the pc: it is in the word that a return has read, below SP. After a
  /// call, and after a jump at the end of a function, SP is at a return address instead.
  bool is_after_return() const {
    const auto sp = registers_.get(space_.abi().sp);
    if (space_.abi().id != Abi::amd64 || !sp || !core_.has_permissions()) return false;
    const auto above = core_.read_word(*sp);
    const core::MemoryRange* const range = above ? core_.range_at(*above) : nullptr;
    return core_.read_word(*sp - 8) == registers_.pc && above && !(range && range->flags & elf::pf_x);
  }

  void explain_access(const core::SignalInfo& info) {
    const std::uint64_t code_mask = space_.code_address_mask();
    std::uint64_t address = info.address;
    const bool misaligned_only = is_alignment_check(info);
    // The kernel has no address: an instruction that the processor refused as a whole (AMD64).
    const bool no_address = (info.code == si_kernel || misaligned_only) && space_.abi().id == Abi::amd64;
    // s390x reports the page only.
    const std::uint64_t unknown_bits = space_.abi().id == Abi::s390x ? smallest_page - 1 : 0;
    std::string why = std::string(core::signal_code(info.signal, info.code).meaning);
    if (no_address) {
      const code::MemoryAccess* refused = nullptr;
      for (const code::MemoryAccess& memory : operands_.memory) {
        const auto at = address_of(memory, registers_);
        if (!at) continue;
        const unsigned checked = misaligned_only ? 2 : 16; // the smallest access that is checked
        const bool misaligned = memory.size >= checked && *at % memory.size != 0;
        // The first bytes may be the last of the address space.
        const bool is_beyond = is_canonical(*at) && memory.size && !is_canonical(*at + memory.size - 1);
        if (is_canonical(*at) && !misaligned && !is_beyond) continue;
        refused = &memory;
        address = *at;
        if (!misaligned_only)
          why = !is_canonical(*at) ? "not a canonical address"
                : is_beyond        ? "runs past the last canonical address"
                                   : "misaligned";
        break;
      }
      if (!refused && explain_branch()) return;
      if (!refused) {
        if (!is_canonical(registers_.pc)) fault_.access = Access::execute;
        fault_.meaning = misaligned_only ? why : "the processor refused the instruction (general protection)";
        return;
      }
      fault_.access = access_of(*refused);
      used_ = *refused;
    } else if (address == (registers_.pc & code_mask & ~unknown_bits) && !fault_.instruction) {
      fault_.access = Access::execute;
      address = registers_.pc;
    } else {
      for (const code::MemoryAccess& memory : operands_.memory) {
        const auto at = address_of(memory, registers_);
        if (!at || (*at & ~unknown_bits) > address) continue;
        const std::uint64_t size = std::max<std::uint64_t>(memory.size ? memory.size : 16, unknown_bits + 1);
        if (address - (*at & ~unknown_bits) >= size) continue;
        fault_.access = access_of(memory);
        used_ = memory;
        if (unknown_bits) address = *at;
        break;
      }
      if (fault_.access == Access::unknown && info.code == segv_accerr &&
          address == (registers_.pc & code_mask))
        fault_.access = Access::execute;
    }
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
    if (is_return)
      fault_.guess =
          address == 0 ? "an overwritten return address" : overwritten("a return address", address);
    else
      guess(info, address);
  }

  std::string file_at(std::uint64_t address) const {
    const auto contains = [&](const elf::Mapping& file) {
      return file.start <= address && address < file.end;
    };
    const auto file = std::ranges::find_if(core_.mappings(), contains);
    if (file == core_.mappings().end()) return {};
    return ": " + std::string(file->path) + " + " + hex(address - file->start + file->file_offset);
  }

  /// What is mapped at an address that must not be used in this way.
  std::string place_of(std::uint64_t address) {
    const core::MemoryRange* range = core_.range_at(address);
    if (!range) return {};
    std::string text = ": ";
    const std::uint32_t flags = range->flags & (elf::pf_r | elf::pf_w | elf::pf_x);
    if (!core_.has_permissions())
      text += "memory";
    else if (flags == 0)
      text += "a guard page or reserved memory";
    else if (!(flags & elf::pf_w))
      text += flags & elf::pf_x ? "code" : "read-only memory";
    else
      text += "data";
    if (modules::Module* module = space_.module_at(address); module && !module->generated())
      text += " of " + std::string(module->shown_name()) + " + " + hex(address - module->info().start);
    return text;
  }

  bool is_stack_overflow(std::uint64_t address) const {
    constexpr std::uint64_t near = 64 << 10;
    const auto sp = registers_.get(space_.abi().sp);
    if (!sp || fault_.access == Access::execute) return false;
    // What is accessed is near the stack pointer, and below what can be used of the stack.
    const std::uint64_t distance = address > *sp ? address - *sp : *sp - address;
    if (distance > near) return false;
    const core::MemoryRange* at = core_.range_at(address);
    if (at && at->flags & elf::pf_w) return false;
    for (std::uint64_t up = smallest_page; up <= 2 * near; up += smallest_page)
      if (const core::MemoryRange* above = core_.range_at((address & ~(smallest_page - 1)) + up))
        if (above->flags & elf::pf_w) return true;
    return false;
  }

  /// SP is far below the stack, and what is accessed is between them or just below SP: a push, a call, a
  /// local variable, whatever register has its address. The next memory above that can be written must be the
  /// stack, so that SP itself is not overwritten.
  bool is_large_frame(std::uint64_t address) const {
    constexpr std::uint64_t red_zone = 128;
    const auto sp = registers_.get(space_.abi().sp);
    if (!sp || fault_.access == Access::execute || address + red_zone < *sp) return false;
    if (const core::MemoryRange* at = core_.range_at(address); at && at->flags & elf::pf_w) return false;
    const auto ranges = core_.memory();
    const auto is_above = [&](const core::MemoryRange& range) {
      return range.start > address && range.flags & elf::pf_w;
    };
    const auto stack = std::ranges::find_if(ranges, is_above);
    if (stack == ranges.end() || *sp >= stack->start) return false;
    // The kernel puts the random bytes on the first stack; those of other threads begin with a guard page.
    if (const auto random = core_.auxv(elf::at_random); random && stack->contains(*random)) return true;
    if (process_.threads().front().tid == core_.pid() || stack == ranges.begin()) return false;
    const core::MemoryRange& below = stack[-1];
    return below.end() == stack->start && !(below.flags & (elf::pf_r | elf::pf_w | elf::pf_x));
  }

  void guess(const core::SignalInfo& info, std::uint64_t address) {
    constexpr std::uint64_t first_mappable = 0x10000; // vm.mmap_min_addr
    if (address < first_mappable && info.signal == sigsegv)
      fault_.guess = address == 0 ? "a null pointer" : "a null pointer + " + hex(address);
    else if (~address < first_mappable && info.signal == sigsegv)
      fault_.guess = "a null pointer - " + hex(~address + 1);
    else if (is_stack_overflow(address))
      fault_.guess = "a stack overflow";
    else if (is_large_frame(address))
      fault_.guess = "a stack overflow by a large frame";
    else
      fault_.guess = overwritten_pointer(address);
  }

  /// The pointer is in a register, which the instruction adds something to.
  std::string overwritten_pointer(std::uint64_t address) const {
    if (!used_) return overwritten("a pointer", address);
    for (const std::uint8_t reg : {used_->base, used_->index})
      if (const auto value = reg == code::MemoryAccess::none ? std::nullopt : registers_.get(reg))
        if (std::string guess = overwritten("a pointer", *value); !guess.empty()) return guess;
    return {};
  }

  /// Empty if the value is no text, or may be an address: text of less than eight bytes near what is mapped.
  std::string overwritten(std::string_view what, std::uint64_t value) const {
    constexpr std::size_t shortest = 4;
    constexpr std::uint64_t near = 1 << 30;
    const std::string text = text_of(value, space_.abi().byte_order);
    const auto is_near = [&](const core::MemoryRange& range) {
      return value - (range.start - near) < range.end() - range.start + 2 * near; // wraps
    };
    if (text.size() < shortest || (text.size() < 8 && std::ranges::any_of(core_.memory(), is_near)))
      return {};
    return std::string(what) + " overwritten by the text \"" + printable(text) + '"';
  }

  process::CoreProcess& process_;
  const core::Core& core_;
  process::CoreSpace& space_;
  const unwind::Registers& registers_;
  const unwind::UnwindAbi& abi_;
  std::int32_t signal_;
  const std::optional<core::SignalInfo>& info_;
  bool after_fault_;
  bool is_refused_branch_ = false;
  Fault fault_;
  code::InstructionOperands operands_;
  std::optional<code::MemoryAccess> used_; ///< the operand that was refused
};

void add_sender(const core::SignalInfo& info, std::uint32_t pid, Crash& crash) {
  if (!info.has_sender || (info.code != 0 && info.code != -1 && info.code != -6)) return;
  crash.sender = {info.sender, info.sender_user};
  if (info.sender == pid)
    crash.meaning = info.code == -6 ? "raised by the process itself" : "sent by the process to itself";
  else
    crash.meaning =
        "sent by process " + std::to_string(info.sender) + ", user " + std::to_string(info.sender_user);
}

/// glibc keeps its last words in memory: __abort_msg points to a size (4 bytes) and the text.
std::string abort_message(process::CoreProcess& process) {
  const core::Core& core = process.space().core();
  for (modules::Module& module : process.modules()) {
    const bool may_have =
        module.info().main || module.name().starts_with("libc.so") || module.name().starts_with("libc-2.");
    const auto variable = may_have ? module.find_definition("__abort_msg") : std::nullopt;
    const auto pointer = variable ? core.read_word(*variable) : std::nullopt;
    if (!pointer || *pointer == 0) continue;
    constexpr std::size_t longest = 4096;
    std::string message = string_at(core, *pointer + 4, longest).value_or("");
    while (message.ends_with('\n')) message.pop_back();
    return message;
  }
  return {};
}

/// True if the memory of the core allows what a fault is about: its handler has made that possible, and has
/// returned.
bool is_permitted(const core::Core& core, const Fault& fault) {
  if (!core.has_permissions() || !fault.address || (fault.code != segv_maperr && fault.code != segv_accerr))
    return false;
  const core::MemoryRange* const range = core.range_at(*fault.address);
  const std::uint32_t flag = fault.access == Access::read      ? elf::pf_r
                             : fault.access == Access::execute ? elf::pf_x
                                                               : elf::pf_w;
  return range && range->flags & flag;
}

/// True if an AMD64 division faults: the divisor is zero, or the quotient has more bits than it. Nothing if a
/// value is not known.
std::optional<bool> fails(const code::InstructionOperands& operands, const unwind::Registers& registers,
                          const core::Core& core) {
  constexpr std::uint8_t ax = 0, dx = 1; // DWARF numbers
  const auto divisor =
      operands.divisor ? value_of(*operands.divisor, operands, registers, core) : std::nullopt;
  if (!divisor) return std::nullopt;
  const std::uint8_t size = operands.divisor->size;
  const unsigned bits = 8u * size;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits), sign = std::uint64_t{1} << (bits - 1);
  const auto low_register = registers.get(ax), high_register = size == 1 ? low_register : registers.get(dx);
  if (!low_register || !high_register) return std::nullopt;
  std::uint64_t by = *divisor, low = *low_register & mask,
                high = (size == 1 ? *high_register >> bits : *high_register) & mask;
  if (by == 0) return true;
  if (!operands.is_signed_division) return high >= by;
  const bool is_negative = high & sign, by_negative = by & sign;
  if (is_negative) {
    low = -low & mask;
    high = (~high + (low == 0)) & mask;
  }
  if (by_negative) by = -by & mask;
  // The smallest dividend whose quotient does not fit: 2^(bits - 1) times the divisor, and once more if the
  // quotient is negative.
  std::uint64_t limit_high = by >> 1, limit_low = by & 1 ? sign : 0;
  if (is_negative != by_negative) {
    limit_low = (limit_low + by) & mask;
    limit_high += limit_low < by;
  }
  return high != limit_high ? high > limit_high : low >= limit_low;
}

/// Why the instruction of a frame faults, if it does: `info` is to have its signal.
bool find_fault(process::CoreProcess& process, const unwind::Registers& registers, core::SignalInfo& info) {
  const core::Core& core = process.space().core();
  const auto is_missing = [&](std::uint64_t address, std::uint32_t flag) {
    const core::MemoryRange* const range = core.range_at(address);
    info.address = address;
    info.code = !is_canonical(address) ? si_kernel : range ? segv_accerr : segv_maperr;
    return !range || !(range->flags & flag);
  };
  const std::uint64_t pc = registers.pc;
  if (info.signal == sigsegv && is_missing(pc, elf::pf_x)) return true;
  const auto bytes = process.space().view(pc);
  const auto code = bytes.first(std::min<std::size_t>(bytes.size(), longest_instruction));
  const auto operands = code::instruction_operands(process.space().abi(), code, pc);
  if (operands.length == 0) return false;
  if (info.signal == sigsegv)
    return std::ranges::any_of(operands.memory, [&](const code::MemoryAccess& memory) {
      const auto address = address_of(memory, registers);
      return address && (memory.reads || memory.writes) &&
             is_missing(*address, memory.writes ? elf::pf_w : elf::pf_r);
    });
  info.address = pc;
  info.code = info.signal == sigfpe ? fpe_intdiv : ill_illopn;
  if (info.signal == sigfpe) return fails(operands, registers, core).value_or(false);
  return info.signal == sigill &&
         code::instruction_text(process.space().abi(), code.first(operands.length), pc).starts_with("ud");
}

/// Whether a fault that may not be that of its signal frame explains the instruction that was interrupted:
/// the kernel's record may be older, of a fault whose handler has returned.
bool fits_instruction(process::CoreProcess& process, const Fault& fault, const SignalOnStack& signal) {
  const unwind::Registers& registers = signal.interrupted.registers;
  const auto is = [&](std::string_view start) {
    return fault.instruction && fault.instruction->text.starts_with(start);
  };
  const bool is_at_pc = signal.info.address == registers.pc;
  core::SignalInfo again = signal.info;
  switch (signal.info.signal) {
  case sigsegv: return fault.access != Access::unknown && !is_permitted(process.space().core(), fault);
  case sigbus: return fault.access != Access::unknown;
  case sigfpe: return is("div") || is("idiv") ? find_fault(process, registers, again) : is_at_pc;
  case sigill: return is("ud") || is_at_pc;
  case sigtrap: return fault.instruction.has_value();
  default: return is_at_pc;
  }
}

/// The fault of a thread whose handler has blocked the signal, raised it, and returned: it died before the
/// same instruction again. Else a thread that sends itself a signal dies after a system call.
std::optional<SignalOnStack> fault_before_return(process::CoreProcess& process) {
  const core::Core& core = process.space().core();
  const process::Thread& thread = process.threads().front();
  const auto& sent = core.signal_info();
  constexpr std::array system_call = {std::byte{0x0f}, std::byte{0x05}};
  if (process.space().abi().id != Abi::amd64 || !core.has_permissions() || core.truncated() || !sent ||
      sent->code > 0 || sent->sender != core.pid())
    return std::nullopt;
  const auto before = process.space().view(thread.registers.pc - system_call.size());
  if (before.size() >= system_call.size() && std::ranges::equal(before.first(2), system_call))
    return std::nullopt;
  SignalOnStack signal{.from_instruction = true, .interrupted = thread.frame()};
  signal.info.signal = sent->signal;
  signal.info.has_sender = false;
  return find_fault(process, thread.registers, signal.info) ? std::optional(signal) : std::nullopt;
}

constexpr std::size_t most_arguments = 1024, most_bytes = 64 << 10;

/// Where the auxiliary vector is on the stack of the program's start: shortly below the bytes that AT_RANDOM
/// points to (Linux fs/binfmt_elf.c, create_elf_tables). Found by its first two entries.
std::optional<std::uint64_t> find_auxiliary_vector(const core::Core& core) {
  const auto random = core.auxv(elf::at_random);
  const auto first = core.auxiliary_vector();
  if (!random || first.size() < 2) return std::nullopt;
  constexpr std::uint64_t farthest = 4096;
  for (std::uint64_t at = *random & ~std::uint64_t{7}, back = 0; back < farthest; back += 8, at -= 8) {
    bool found = true;
    for (std::uint64_t i = 0; i < 2 && found; ++i)
      found =
          core.read_word(at + 16 * i) == first[i].tag && core.read_word(at + 16 * i + 8) == first[i].value;
    if (found) return at;
  }
  return std::nullopt;
}

/// Below the auxiliary vector: argc, the arguments, zero, the environment, zero.
std::optional<CommandLine> arguments_on_stack(const core::Core& core) {
  const auto auxiliary = find_auxiliary_vector(core);
  if (!auxiliary) return std::nullopt;
  std::uint64_t at = *auxiliary - 8;
  if (core.read_word(at) != 0u) return std::nullopt;
  constexpr std::uint64_t most_variables = 1 << 16;
  for (std::uint64_t i = 0; i < most_variables; ++i) { // the environment, up to the zero before it
    const auto word = core.read_word(at -= 8);
    if (!word) return std::nullopt;
    if (*word == 0) break;
  }
  std::uint64_t count = 0; // the word before the first argument is their number
  for (;; ++count) {
    const auto word = core.read_word(at -= 8);
    if (!word || count > most_variables) return std::nullopt;
    if (*word == count) break;
  }
  CommandLine command;
  std::size_t size = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto pointer = core.read_word(at + 8 + 8 * i);
    auto text = pointer && i < most_arguments ? string_at(core, *pointer, most_bytes - size) : std::nullopt;
    if (!text) {
      command.complete = false;
      break;
    }
    size += text->size() + 1;
    command.arguments.push_back(std::move(*text));
  }
  return command.arguments.empty() ? std::nullopt : std::optional(std::move(command));
}

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

Crash explain_crash(process::CoreProcess& process, std::span<const SignalOnStack> handled) {
  Crash crash;
  if (process.threads().empty() || process.signal() == 0) return crash;
  const process::Thread& thread = process.threads().front();
  const core::Core& core = process.space().core();
  static_cast<Fault&>(crash) =
      Explainer(process, process.signal(), core.signal_info(), thread.frame()).explain();
  crash.tid = thread.tid;
  if (core.signal_info()) add_sender(*core.signal_info(), core.pid(), crash);
  if (process.signal() == sigabrt) crash.message = abort_message(process);
  crash.first_fault = first_fault(process, handled);
  return crash;
}

std::optional<HandledFault> first_fault(process::CoreProcess& process,
                                        std::span<const SignalOnStack> handled) {
  const auto explain = [&](const SignalOnStack& signal) -> std::optional<HandledFault> {
    HandledFault fault{Explainer(process, signal.info.signal, signal.info, signal.interrupted).explain(),
                       signal};
    return signal.certain || fits_instruction(process, fault, signal) ? std::optional(std::move(fault))
                                                                      : std::nullopt;
  };
  for (const SignalOnStack& signal : handled | std::views::reverse)
    if (auto fault = explain(signal)) return fault;
  const auto signal = fault_before_return(process);
  return signal ? explain(*signal) : std::nullopt;
}

CommandLine command_line(const core::Core& core) {
  if (auto found = arguments_on_stack(core)) return std::move(*found);
  CommandLine command;
  if (const auto arguments = core.command_line(); !arguments.empty()) {
    command.arguments.assign(arguments.begin(), arguments.end());
    command.complete = arguments.size() < core::Core::max_arguments;
    return command;
  }
  constexpr std::size_t most_in_note = 79;
  std::string_view rest = core.arguments();
  command.complete = rest.size() < most_in_note;
  while (!rest.empty()) { // the kernel has put blanks between the arguments
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (end) command.arguments.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return command;
}

std::string shell_line(const CommandLine& command) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
  std::string line;
  for (const std::string& argument : command.arguments) {
    if (!line.empty()) line += ' ';
    const bool quoted = argument.empty() || argument.find_first_not_of(plain) != argument.npos;
    if (!quoted) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char c : argument) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  if (!command.complete) line += " ...";
  return line;
}

} // namespace sframe::unwind_tool
