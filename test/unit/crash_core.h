// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Made-up cores of processes that died by a fault: one thread, its registers, the code at the pc, other
// memory.

#pragma once

#include "elf_builder.h"

#include "sframe/core/core.h"
#include "sframe/process/process_state.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::test {

/// The kernel's user_regs_struct of a machine: its words, and the indices of the pc and SP.
struct RegisterRecord {
  std::uint16_t machine;
  ByteOrder order;
  unsigned words, pc, sp;
};
inline constexpr RegisterRecord amd64_registers{62, ByteOrder::little, 27, 16, 19},
    s390x_registers{22, ByteOrder::big, 27, 1, 17};
/// Indices of amd64_registers (Linux arch/x86/include/asm/user_64.h).
inline constexpr unsigned at_rax = 10, at_rcx = 11, at_rdx = 12, at_rdi = 14;

struct CrashCore {
  static constexpr std::uint64_t code_at = 0x400000, stack_at = 0x7ff000000000, page = 0x1000;

  RegisterRecord record = amd64_registers;
  std::map<unsigned, std::uint64_t> registers; ///< by index in the record; others are 0
  std::string_view code;                       ///< at code_at, where the pc is
  std::uint64_t pc = code_at, sp = stack_at + page / 2;
  core::SignalInfo info;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> words; ///< address on the stack, and value
  std::vector<TestSegment> memory;                            ///< more, above the stack
  std::vector<std::pair<std::uint64_t, std::uint64_t>> auxv;
  std::uint32_t pid = 7;

  std::vector<std::byte> build() const {
    const auto writer = [&] { return Writer(record.order); };
    const auto signal = static_cast<std::uint32_t>(info.signal);
    Writer status = writer();
    status.zeros(12).u16(signal).zeros(18).u32(pid).zeros(76);
    for (unsigned i = 0; i < record.words; ++i) {
      const auto known = registers.find(i);
      status.u64(i == record.pc ? pc : i == record.sp ? sp : known != registers.end() ? known->second : 0);
    }
    status.zeros(8);
    Writer siginfo = writer(), vector = writer(), text = writer(), stack = writer();
    siginfo.u32(signal).u32(0).u32(static_cast<std::uint32_t>(info.code)).u32(0);
    siginfo.u64(info.address).zeros(104);
    for (const auto& [tag, value] : auxv) vector.u64(tag).u64(value);
    vector.zeros(16);
    text.text(code, page);
    for (std::uint64_t at = stack_at; at < stack_at + page; at += 8) {
      const auto known = std::ranges::find(words, at, &std::pair<std::uint64_t, std::uint64_t>::first);
      stack.u64(known != words.end() ? known->second : 0);
    }
    Writer notes = writer();
    notes.append(note("CORE", 1, status.bytes, record.order))
        .append(note("CORE", 0x53494749, siginfo.bytes, record.order))
        .append(note("CORE", 6, vector.bytes, record.order));
    TestElf core{.order = record.order,
                 .type = elf::et_core,
                 .machine = record.machine,
                 .sections = {},
                 .segments = {{elf::pt_note, 0, 0, notes.bytes, 0},
                              {elf::pt_load, elf::pf_r | elf::pf_x, code_at, text.bytes, 0},
                              {elf::pt_load, elf::pf_r | elf::pf_w, stack_at, stack.bytes, 0}}};
    core.segments.insert(core.segments.end(), memory.begin(), memory.end());
    return core.build();
  }
};

/// The process of a core, with what it is made of.
struct OpenedCrash {
  explicit OpenedCrash(const CrashCore& made) : bytes(made.build()), core(core::Core::parse(bytes)) {
    if (!core) return;
    auto opened = process::CoreProcess::create(*core, {.open_files = false});
    if (opened) process = std::move(*opened);
  }
  std::vector<std::byte> bytes;
  Result<core::Core> core;
  std::unique_ptr<process::CoreProcess> process; ///< nullptr if the core cannot be read
};

} // namespace sframe::test
