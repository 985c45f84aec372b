// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RISC-V with 64 bits (RISC-V ELF psABI, "Integer Register Convention" and "Frame Pointer Convention"). A
// call keeps x8, x9 and x18 to x27. x8, if it is a frame pointer, equals the CFA; below it are the return
// address and the caller's x8. Instructions have 2 or 4 bytes.

#include "abi/abis.h"

namespace sframe::unwind::abi {

namespace {

constexpr std::string_view names[] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                      "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                      "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

/// The last `size` bytes as one number; 0 if there are fewer.
std::uint32_t last_bytes(std::span<const std::byte> bytes, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t back = 1; back <= size && bytes.size() >= size; ++back)
    value = value << 8 | std::to_integer<std::uint32_t>(bytes[bytes.size() - back]);
  return value;
}

/// `jal ra`, `jalr ra`, `c.jalr`.
bool ends_with_call(std::span<const std::byte> bytes) {
  const std::uint32_t wide = last_bytes(bytes, 4), narrow = last_bytes(bytes, 2);
  return (wide & 0xfff) == 0x0ef || (wide & 0x7fff) == 0x00e7 ||
         ((narrow & 0xf07f) == 0x9002 && narrow != 0x9002);
}

/// `ret`, `nop`.
bool ends_function(std::span<const std::byte> bytes) {
  const std::uint32_t wide = last_bytes(bytes, 4), narrow = last_bytes(bytes, 2);
  return wide == 0x00008067 || wide == 0x00000013 || narrow == 0x8082 || narrow == 0x0001;
}

} // namespace

const UnwindAbi riscv64 = {
    .id = Abi{5},
    .register_names = names,
    .call_saved = set_of({8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27}),
    .result_register = 10,
    .frame_record = FrameRecord{.caller_fp = -16, .return_address = -8, .cfa = 0},
    .call_trace = {.return_address = -8, .sp = 0, .caller_fp = -16},
    .longest_call = 4,
    .ends_with_call = ends_with_call,
    .call_target = [](std::span<const std::byte>, std::uint64_t) { return std::optional<std::uint64_t>(); },
    .instruction_size = 2,
    .function_alignment = 2,
    .ends_function = ends_function,
};

} // namespace sframe::unwind::abi
