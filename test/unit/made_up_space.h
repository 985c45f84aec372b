// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Synthetic address spaces, steppers and receivers for tests of the walker.

#pragma once

#include "sframe/modules/module.h"
#include "sframe/steppers/steppers.h"
#include "sframe/unwind/walker.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::test {

using namespace sframe::modules;
using namespace sframe::steppers;
using namespace sframe::unwind;

inline constexpr std::uint16_t rbx = 3, rbp = 6, rsp = 7;
inline const AbiTraits& amd64 = traits(Abi::amd64);

/// Memory of a process that cannot be read.
class NoBytes final : public ByteSource {
public:
  std::span<const std::byte> memory_at(std::uint64_t) override { return {}; }
};

/// Memory of any ABI, by default AMD64; code in [0x1000, code_end). No modules, so no tables. 48 bits of
/// address.
class MadeUpSpace : public AddressSpace {
public:
  explicit MadeUpSpace(const AbiTraits& abi = amd64, std::uint64_t code_end = 0x2000)
      : abi_(abi), code_end_(code_end) {}
  const AbiTraits& abi() const override { return abi_; }
  std::size_t read(std::uint64_t address, std::span<std::byte> out) override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto at = bytes_.find(address + i);
      if (at == bytes_.end()) return i;
      out[i] = at->second;
    }
    return out.size();
  }
  bool is_code(std::uint64_t address) override { return address >= 0x1000 && address < code_end_; }
  std::uint64_t code_address_mask() override { return 0xffff'ffff'ffff; }

  /// Writes a word in the ABI's byte order.
  void word(std::uint64_t address, std::uint64_t value) {
    for (int i = 0; i < 8; ++i)
      bytes_[address++] =
          static_cast<std::byte>(value >> 8 * (abi_.byte_order == ByteOrder::big ? 7 - i : i));
  }
  void code(std::uint64_t address, std::initializer_list<int> bytes) {
    for (const int byte : bytes) bytes_[address++] = static_cast<std::byte>(byte);
  }
  /// Writes AMD64's `call rel32` that ends at `address`.
  void call_before(std::uint64_t address) { call_before(address, address); }
  void call_before(std::uint64_t address, std::uint64_t target) {
    code(address - 5, {0xe8});
    for (int i = 0; i < 4; ++i) bytes_[address - 4 + i] = static_cast<std::byte>((target - address) >> 8 * i);
  }

private:
  const AbiTraits& abi_;
  std::uint64_t code_end_;
  std::map<std::uint64_t, std::byte> bytes_;
};

struct Collected final : FrameReceiver {
  std::vector<Frame> frames;
  std::vector<Registers> registers;
  bool frame(const Frame& frame, const Registers& known) override {
    frames.push_back(frame);
    registers.push_back(known);
    return true;
  }
};

inline Registers start(std::uint64_t pc, std::uint64_t sp, std::uint64_t fp = 0) {
  Registers registers;
  registers.pc = pc;
  registers.set(rsp, sp);
  registers.set(rbp, fp);
  return registers;
}

/// A stepper whose results the test supplies.
class Scripted final : public FrameStepper {
public:
  using Step = std::function<StepResult(const FrameState&, Memory&, FrameState&)>;
  explicit Scripted(Step step, bool full = false, int priority = 10)
      : step_(std::move(step)), full_(full), priority_(priority), name_(full ? "full" : "scripted") {}
  std::string_view name() const override { return name_; }
  void set_name(std::string_view name) { name_ = name; }
  std::string_view description() const override { return ""; }
  int priority() const override { return priority_; }
  bool recovers_all_registers() const override { return full_; }
  StepResult step(const FrameState& frame, Memory& memory, FrameState& caller) override {
    return step_(frame, memory, caller);
  }

private:
  Step step_;
  bool full_;
  int priority_;
  std::string_view name_;
};

inline StepperList list(std::unique_ptr<FrameStepper> first, std::unique_ptr<FrameStepper> second = nullptr) {
  StepperList steppers;
  steppers.push_back(std::move(first));
  if (second) steppers.push_back(std::move(second));
  return steppers;
}

inline StepResult to_caller(FrameState& caller, std::uint64_t pc, std::uint64_t sp) {
  caller.registers.known = 0;
  caller.registers.pc = pc;
  caller.registers.set(rsp, sp);
  caller.pc_exact = false;
  return {.status = StepStatus::stepped, .has_cfa = true, .cfa = sp};
}

} // namespace sframe::test
