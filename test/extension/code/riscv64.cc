// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RISC-V with 64 bits, without a decoder: its code is not analysed.

#include "machines.h"

namespace sframe::code {

const MachineEntry machines::riscv64{
    .machine = {.num_registers = 32, .max_length = 4, .alignment = 2},
    .make_decoder = [](const AbiTraits&) { return std::unique_ptr<Decoder>(); }};

// Capstone 4 has no RISC-V: reports show instructions as bytes.
const Disassembler disassemblers::riscv64 = {
    [](std::span<const std::byte>, std::uint64_t) { return std::string(); }};

} // namespace sframe::code
