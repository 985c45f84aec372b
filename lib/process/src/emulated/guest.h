// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what is particular to an ABI in an emulator: the emulator's name, and the Linux system calls by
// which a program leaves the way of its instructions. One file per ABI in src/emulated/abi/.

#pragma once

#include "sframe/abi.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sframe::process::emulated {

struct Guest {
  Abi id{};
  std::string_view emulator; ///< of QEMU's user mode
  std::string_view pc;       ///< the pc's name in gdb's target descriptions
  // Numbers of system calls; -1: there is none.
  std::int32_t rt_sigaction = -1, clone = -1, clone3 = -1, fork = -1, vfork = -1, execve = -1, execveat = -1;
  // DWARF numbers of registers before a system call.
  std::uint8_t arguments[2] = {};
  std::uint8_t clone_flags = 0;
  std::uint8_t result = 0; ///< after it
  /// Where a sequence of instructions ends that never succeeds if it is stopped inside: load-linked to
  /// store-conditional. Empty if `code`, at `address`, does not start with one; nullptr: there are none.
  std::vector<std::uint64_t> (*ends_of_sequence)(std::span<const std::byte> code,
                                                 std::uint64_t address) = nullptr;
};

/// Nullptr if no emulator is known for the ABI.
const Guest* find_guest(Abi id);

} // namespace sframe::process::emulated
