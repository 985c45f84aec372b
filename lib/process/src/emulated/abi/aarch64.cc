// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AArch64 (Linux include/uapi/asm-generic/unistd.h): arguments in x0, x1; the result in x0.

#include "emulated/abi/guests.h"

#include "sframe/bytes.h"

#include <optional>

namespace sframe::process::emulated::abi {

namespace {

/// LDXR, LDAXR, LDXP, LDAXP or, not `load`, STXR and so on (Arm Architecture Reference Manual, C4.1.94:
/// load/store exclusive). CASP has their pattern for pairs of bytes and halfwords.
bool is_exclusive(std::uint32_t word, bool load) {
  const bool is_pair = word >> 21 & 1, is_small = (word >> 31 & 1) == 0;
  return (word & 0x3fc00000) == (load ? 0x08400000u : 0x08000000u) && !(is_pair && is_small);
}

/// The target of a conditional branch: b.cond, cbz, cbnz, tbz, tbnz.
std::optional<std::uint64_t> branch_target(std::uint32_t word, std::uint64_t address) {
  const auto at = [&](unsigned bits) {
    const unsigned above = 64 - 5 - bits;
    const auto words = static_cast<std::int64_t>(std::uint64_t{word} << above) >> (above + 5);
    return address + static_cast<std::uint64_t>(words) * 4;
  };
  if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) return at(19);
  if ((word & 0x7e000000) == 0x36000000) return at(14);
  return std::nullopt;
}

std::vector<std::uint64_t> ends_of_sequence(std::span<const std::byte> code, std::uint64_t address) {
  std::vector<std::uint64_t> targets;
  for (std::size_t at = 0; at + 4 <= code.size(); at += 4) {
    const auto word = load<std::uint32_t>(code.data() + at, ByteOrder::little);
    if (at == 0 && !is_exclusive(word, true)) return {};
    if (is_exclusive(word, false)) {
      const std::uint64_t end = address + at + 4;
      std::erase_if(targets, [&](std::uint64_t target) { return target - address < end - address; });
      targets.push_back(end);
      return targets;
    }
    if (const auto target = branch_target(word, address + at))
      targets.push_back(*target);
    else if ((word & 0x1c000000) == 0x14000000) // another branch, or a system call
      return {};
  }
  return {};
}

constexpr Guest aarch64(Abi id, std::string_view emulator) {
  return {.id = id,
          .emulator = emulator,
          .pc = "pc",
          .rt_sigaction = 134,
          .clone = 220,
          .clone3 = 435,
          .execve = 221,
          .execveat = 281,
          .arguments = {0, 1},
          .clone_flags = 0,
          .result = 0,
          .ends_of_sequence = ends_of_sequence};
}

} // namespace

const Guest aarch64_little = aarch64(Abi::aarch64_little, "qemu-aarch64");
const Guest aarch64_big = aarch64(Abi::aarch64_big, "qemu-aarch64_be");

} // namespace sframe::process::emulated::abi
