// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A synthetic AMD64 target: three functions, their CFI with a search table, and a stack.
//
//    leaf   0x10000   saves rbx at CFA-16, CFA = rsp+16
//    middle 0x10100   the same
//    start  0x10200   no caller
//
// The stack has `depth` frames of middle between leaf and start. Frame number N has its stack pointer at
// 0x7000 + 16 N, and its rbx is 0xb00 + N. N saves rbx of N + 1 at 0x7000 + 16 N, and its return address 8
// bytes further.

#pragma once

#include "cfi_assembler.h"

#include "sframe/remote/remote_cursor.h"

#include <atomic>
#include <cstring>
#include <map>

namespace sframe::test::target {

inline constexpr std::uint64_t leaf = 0x10000, middle = 0x10100, start = 0x10200, cfi_at = 0x20000,
                               table_at = 0x21000, stack_at = 0x7000, dynamic_list_at = 0x5000;
inline constexpr std::uint16_t rbx = 3, rsp = 7;

/// Memory, bytes by address.
class TargetMemory {
public:
  explicit TargetMemory(unsigned depth) {
    write(cfi_at, cfi());
    for (unsigned frame = 0; frame <= depth; ++frame) {
      const std::uint64_t sp = stack_at + 16 * frame;
      word(sp, 0xb00 + frame + 1);
      word(sp + 8, frame == depth ? start + 0x10 : middle + 0x10);
    }
  }

  void word(std::uint64_t address, std::uint64_t value) { write(address, Bytes().u64(value)); }
  void write(std::uint64_t address, const Bytes& bytes) {
    for (const std::byte byte : bytes.get()) bytes_[address++] = byte;
  }
  bool read(std::uint64_t address, std::uint64_t& value) const {
    std::byte raw[8];
    for (std::uint64_t i = 0; i < 8; ++i) {
      const auto at = bytes_.find(address + i);
      if (at == bytes_.end()) return false;
      raw[i] = at->second;
    }
    std::memcpy(&value, raw, sizeof raw); // assumes a little-endian host
    return true;
  }

private:
  Bytes cfi() {
    CfiAssembler frames;
    // "zR", alignment 1 and -8, return address in column 16, starts pc-relative in 4 bytes; CFA = rsp+8,
    // return address at CFA-8.
    const std::size_t cie = frames.cie(frames.body()
                                           .u8(1)
                                           .text("zR")
                                           .uleb(1)
                                           .sleb(-8)
                                           .u8(16)
                                           .uleb(1)
                                           .u8(cfi::pe_pcrel | cfi::pe_sdata4)
                                           .raw({0x0c, 7, 8, 0x90, 1, 0, 0}));
    Bytes table;
    const auto add = [&](std::uint64_t function, std::initializer_list<int> instructions) {
      const std::uint64_t field = cfi_at + frames.next_body();
      const std::size_t fde =
          frames.fde(cie, frames.body().u32(function - field).u32(0x100).uleb(0).raw(instructions));
      table.u32(function - table_at).u32(cfi_at + fde - table_at);
    };
    add(leaf, {0x0e, 16, 0x83, 2, 0, 0, 0});
    add(middle, {0x0e, 16, 0x83, 2, 0, 0, 0});
    add(start, {0x07, 16, 0, 0, 0, 0, 0});
    write(table_at, table);
    frames.terminator();
    Bytes padded = frames.bytes();
    while (padded.size() % 8) padded.u8(0);
    return padded;
  }

  std::map<std::uint64_t, std::byte> bytes_;
};

/// Its accessors, which count their calls.
class CountingTarget final : public remote::Accessors {
public:
  explicit CountingTarget(unsigned depth) : memory(depth) {
    registers[rsp] = stack_at;
    registers[rbx] = 0xb00;
    registers[unwind::pc_register] = leaf + 0x10;
  }

  remote::RemoteStatus find_procedure(std::uint64_t ip, bool need_rules, void* arg,
                                      remote::ProcedureInfo& info) override {
    ++(need_rules ? finds : finds_without_rules);
    if (find_status != remote::RemoteStatus::ok) return find_status;
    remote::CallbackView view(*space, arg);
    const auto status = remote::search(view, table, ip, info);
    if (status == remote::RemoteStatus::ok && need_rules) {
      ++held;
      info.owner = this;
    }
    return status;
  }
  void release_procedure(remote::ProcedureInfo& info, void*) override {
    --held;
    wrong_owners += info.owner != this;
  }
  remote::RemoteStatus find_dynamic_list(std::uint64_t& address, void*) override {
    ++dynamic_asked;
    address = dynamic_list_at;
    return remote::RemoteStatus::ok;
  }
  remote::RemoteStatus access_memory(std::uint64_t address, std::uint64_t& value, bool write,
                                     void*) override {
    ++words;
    unaligned += address % 8 != 0;
    if (!write) return memory.read(address, value) ? remote::RemoteStatus::ok : remote::RemoteStatus::invalid;
    if (read_only) return remote::RemoteStatus::invalid;
    memory.word(address, value);
    return remote::RemoteStatus::ok;
  }
  remote::RemoteStatus access_register(std::uint16_t reg, std::uint64_t& value, bool write, void*) override {
    if (write && read_only) return remote::RemoteStatus::invalid;
    if (write) {
      registers[reg] = value;
      return remote::RemoteStatus::ok;
    }
    const auto at = registers.find(reg);
    if (at == registers.end()) return remote::RemoteStatus::bad_register;
    value = at->second;
    return remote::RemoteStatus::ok;
  }
  remote::RemoteStatus resume(remote::RemoteCursor&, void*) override {
    ++resumed;
    return remote::RemoteStatus::ok;
  }
  remote::RemoteStatus find_name(std::uint64_t address, std::span<char> buffer, std::uint64_t& offset,
                                 void*) override {
    if (address > start + 0x100) return remote::RemoteStatus::no_info;
    offset = address % 0x100;
    return remote::copy_name(address < middle ? "leaf" : address < start ? "middle" : "start", buffer);
  }

  TargetMemory memory;
  std::map<std::uint16_t, std::uint64_t> registers;
  remote::CallbackSpace* space = nullptr;
  remote::SearchTable table{table_at, 24, table_at, table_at};
  remote::RemoteStatus find_status = remote::RemoteStatus::ok;
  std::atomic<int> finds = 0, finds_without_rules = 0, held = 0, dynamic_asked = 0, words = 0, unaligned = 0;
  std::atomic<int> wrong_owners = 0;
  int resumed = 0;
  bool read_only = false; ///< no writes succeed
};

} // namespace sframe::test::target
