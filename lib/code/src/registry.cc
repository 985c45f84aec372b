// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which machine belongs to which ABI: one line each.

#include "machines.h"
#include "sframe/code/disassembly.h"

namespace sframe::code {
namespace {

struct Line {
  Abi abi;
  const MachineEntry& entry;
};

constexpr Line lines[] = {
    {Abi::amd64, amd64_machine},
    {Abi::aarch64_little, aarch64_machine},
    {Abi::aarch64_big, aarch64_machine},
    {Abi::s390x, s390x_machine},
};

const MachineEntry& entry_of(const AbiTraits& abi) {
  for (const Line& line : lines)
    if (line.abi == abi.id) return line.entry;
  static const MachineEntry nothing{
      .machine = {},
      .make_decoder = [](const AbiTraits&) { return std::unique_ptr<Decoder>(); },
      .disassemble = [](std::span<const std::byte>, std::uint64_t) { return std::string(); }};
  return nothing;
}

} // namespace

std::unique_ptr<Decoder> make_decoder(const AbiTraits& abi) {
  return entry_of(abi).make_decoder(abi);
}

const Machine& machine(const AbiTraits& abi) {
  return entry_of(abi).machine;
}

std::string instruction_text(const AbiTraits& abi, std::span<const std::byte> bytes, std::uint64_t address) {
  std::string text = entry_of(abi).disassemble(bytes, address);
  if (!text.empty()) return text;
  constexpr char digits[] = "0123456789abcdef";
  for (const std::byte byte : bytes) {
    const auto value = static_cast<unsigned>(byte);
    if (!text.empty()) text += ' ';
    text += digits[value >> 4];
    text += digits[value & 15];
  }
  return text;
}

} // namespace sframe::code
