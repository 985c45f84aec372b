// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fault_frame.h"

#include "sframe/bytes.h"

#include <algorithm>
#include <array>

namespace sframe::crash {

std::span<const std::byte> FaultFrame::code_at(std::uint64_t address) const {
  constexpr std::size_t longest = 16;
  const auto bytes = space().view(address);
  return bytes.first(std::min(bytes.size(), longest));
}

bool FaultFrame::has_code(std::uint64_t address, std::span<const std::uint8_t> code) const {
  const auto bytes = code_at(address);
  return !code.empty() && bytes.size() >= code.size() &&
         std::ranges::equal(bytes.first(code.size()), std::as_bytes(code));
}

code::InstructionOperands FaultFrame::operands_at(std::uint64_t address) const {
  return code::instruction_operands(traits(), code_at(address), address);
}

std::optional<std::uint64_t> FaultFrame::address_of(const code::MemoryAccess& memory) const {
  std::uint64_t address = static_cast<std::uint64_t>(memory.displacement);
  if (memory.base != code::MemoryAccess::none) {
    const auto base = registers_.get(memory.base);
    if (!base) return std::nullopt;
    address += *base;
  }
  if (memory.index == code::MemoryAccess::none) return address;
  const auto index = registers_.get(memory.index);
  return index ? std::optional(address + *index * memory.scale) : std::nullopt;
}

std::optional<std::uint64_t> FaultFrame::value_of(const code::InstructionOperands::Value& value,
                                                  const code::InstructionOperands& operands) const {
  std::array<std::byte, 8> bytes{};
  if (value.size == 0 || value.size > bytes.size()) return std::nullopt;
  const unsigned unused = 64 - 8 * value.size;
  if (value.reg != code::MemoryAccess::none) {
    const auto all = registers_.get(value.reg);
    return all ? std::optional(*all & (~std::uint64_t{0} >> unused)) : std::nullopt;
  }
  const auto at = operands.memory.empty() ? std::nullopt : address_of(operands.memory.front());
  if (!at || core().read(*at, std::span(bytes).first(value.size)) != value.size) return std::nullopt;
  const auto word = load<std::uint64_t>(bytes.data(), traits().byte_order);
  return traits().byte_order == ByteOrder::big ? word >> unused : word;
}

} // namespace sframe::crash
