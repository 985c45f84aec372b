// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps ABIs to machines: one line each.

#include "machines.h"

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
      .machine = {}, .make_decoder = [](const AbiTraits&) { return std::unique_ptr<Decoder>(); }};
  return nothing;
}

} // namespace

std::unique_ptr<Decoder> make_decoder(const AbiTraits& abi) {
  return entry_of(abi).make_decoder(abi);
}

const Machine& machine(const AbiTraits& abi) {
  return entry_of(abi).machine;
}

} // namespace sframe::code
