// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/crash/signals_on_stack.h"

#include "fault_abi.h"

#include "sframe/unwind/abi.h"
#include "sframe/unwind/trampoline.h"

#include <array>
#include <optional>
#include <span>

namespace sframe::crash {

namespace {

constexpr std::uint32_t most_searched = 256;
constexpr std::size_t most_signals = 16;

using namespace core;

bool is_fault(const SignalInfo& info) {
  return info.code > 0 && !signal_code(info.signal, info.code).name.empty() &&
         (info.signal == sigill || info.signal == sigtrap || info.signal == sigbus || info.signal == sigfpe ||
          info.signal == sigsegv || info.signal == sigsys);
}

class SignalFinder final : public unwind::FrameReceiver {
public:
  explicit SignalFinder(process::CoreProcess& process)
      : core_(process.space().core()), space_(process.space()),
        abi_(*unwind::find_unwind_abi(space_.abi().id)) {}

  bool frame(const unwind::Frame& frame, const unwind::Registers& registers) override {
    if (!frame.signal_frame) return true;
    const auto sp = registers.get(space_.abi().sp);
    const auto read = [&](std::uint64_t address, std::span<std::byte> out) {
      return space_.read(address, out) == out.size();
    };
    const unwind::SignalTrampoline* const trampoline =
        sp ? unwind::find_trampoline(abi_, read, frame.pc) : nullptr;
    if (!trampoline) return true;
    SignalOnStack signal;
    signal.frame = frame.number + 1;
    const auto load = [&](std::uint64_t address, std::uint64_t& value) {
      const auto word = core_.read_word(address);
      value = word.value_or(0);
      return word.has_value();
    };
    if (!unwind::read_saved_registers(*trampoline, *sp, load, signal.interrupted.registers)) return true;
    if (!abi_.ra_is_register) signal.interrupted.registers.forget(space_.abi().ra);
    if (find_info(trampoline->record, *sp, signal)) signals.push_back(signal);
    return signals.size() < most_signals;
  }

  std::vector<SignalOnStack> signals;

private:
  bool find_info(const unwind::SignalRecord& record, std::uint64_t sp, SignalOnStack& signal) const {
    const auto word = [&](std::optional<std::uint16_t> offset) {
      return offset ? core_.read_word(sp + *offset) : std::nullopt;
    };
    const auto address = word(record.address), exception = word(record.exception), error = word(record.error);
    const auto info = record.info ? info_at(sp + *record.info) : std::nullopt;
    const auto signal_of = fault_abi(abi_.id).signal_of;
    const auto expected =
        signal_of && exception && error && address ? signal_of(*exception, *error, *address) : std::nullopt;
    if (info && is_fault(*info) && fits(*info, record, address, expected, signal.certain))
      signal.info = *info;
    else if (expected)
      signal.info = *expected;
    else
      return false;
    const auto number = static_cast<std::uint32_t>(signal.info.signal);
    signal.interrupted.after_fault = abi_.signals_after_fault >> number & 1;
    return true;
  }

  std::optional<SignalInfo> info_at(std::uint64_t address) const {
    std::array<std::byte, 32> bytes;
    return core_.read(address, bytes) == bytes.size() ? decode_signal_info(bytes, core_.byte_order())
                                                      : std::nullopt;
  }

  /// Whether a siginfo is that of the thread's last exception.
  bool fits(const SignalInfo& info, const unwind::SignalRecord& record, std::optional<std::uint64_t> address,
            const std::optional<SignalInfo>& expected, bool& certain) const {
    certain = !record.info_may_be_missing;
    if (certain) return true;
    const bool has_address = info.signal == sigsegv && info.code != si_kernel;
    // A tag in the upper byte is not always in both (AArch64).
    constexpr std::uint64_t untagged = (std::uint64_t{1} << 56) - 1;
    const bool same = address && (*address & untagged) == (info.address & untagged);
    if (!record.exception) return !has_address || same;
    if (!expected || info.signal == sigsys) return true;
    // Page faults are SIGBUS, too.
    const bool is_page_fault = expected->signal == sigsegv && expected->code != si_kernel;
    if (is_page_fault && (info.signal == sigsegv || info.signal == sigbus)) return same;
    return info.signal == expected->signal;
  }

  const Core& core_;
  process::CoreSpace& space_;
  const unwind::UnwindAbi& abi_;
};

} // namespace

std::vector<SignalOnStack> signals_on_stack(const process::Thread& thread, process::CoreProcess& process,
                                            unwind::Walker& walker) {
  SignalFinder finder(process);
  walker.set_max_frames(most_searched);
  static_cast<void>(walker.walk(thread.frame(), finder));
  return std::move(finder.signals);
}

} // namespace sframe::crash
