// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the frame of a fault, its instruction, and the values that this uses.

#pragma once

#include "fault_abi.h"

#include "sframe/code/disassembly.h"
#include "sframe/process/process_state.h"
#include "sframe/unwind/registers.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sframe::crash {

class FaultFrame {
public:
  /// Both must outlive the object.
  FaultFrame(process::CoreProcess& process, const unwind::Registers& registers)
      : process_(process), registers_(registers) {}

  process::CoreProcess& process() const { return process_; }
  process::CoreSpace& space() const { return process_.space(); }
  const core::Core& core() const { return process_.space().core(); }
  const AbiTraits& traits() const { return process_.space().abi(); }
  const FaultAbi& abi() const { return fault_abi(traits().id); }
  const unwind::Registers& registers() const { return registers_; }
  std::uint64_t pc() const { return registers_.pc; }
  std::optional<std::uint64_t> sp() const { return registers_.get(traits().sp); }

  /// True if the bytes at an address are those of the instruction `code`; false for an empty one.
  bool has_code(std::uint64_t address, std::span<const std::uint8_t> code) const;
  /// The first bytes at an address, as many as an instruction may have; empty if they cannot be read.
  std::span<const std::byte> code_at(std::uint64_t address) const;
  code::InstructionOperands operands_at(std::uint64_t address) const;

  /// Nothing if a register is not known.
  std::optional<std::uint64_t> address_of(const code::MemoryAccess& memory) const;
  /// The value that an instruction with `operands` reads; nothing if it is not known.
  std::optional<std::uint64_t> value_of(const code::InstructionOperands::Value& value,
                                        const code::InstructionOperands& operands) const;

private:
  process::CoreProcess& process_;
  const unwind::Registers& registers_;
};

} // namespace sframe::crash
