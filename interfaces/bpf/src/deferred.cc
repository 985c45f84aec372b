// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "deferred.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <ctime>
#include <utility>

namespace {

/// Of the copy only. 0 if it could be read.
int read_copy(const void* memory, void* to, std::size_t size, std::uint64_t address) {
  const auto& stack = *static_cast<const sframe::bpf::DeferredStack*>(memory);
  const std::uint64_t offset = address - stack.first;
  if (offset > stack.copy.size() || stack.copy.size() - offset < size) return -1;
  std::memcpy(to, stack.copy.data() + offset, size);
  return 0;
}

} // namespace

#define SFRAME_BPF_READ(memory, to, address) read_copy(memory, to, sizeof *(to), address)
#define SFRAME_BPF_KEEP(number) ((void)0)
#include "sframe/bpf/cursor.h"

namespace sframe::bpf {

namespace {

constexpr std::size_t max_bytes = std::size_t{128} << 20;
constexpr std::chrono::seconds longest_wait{1}; ///< for what is on its way from the kernel
constexpr std::chrono::seconds longest_interest{30};
constexpr int waits = -1; ///< no end: the table is being made

/// A ticket is the time in nanoseconds, shifted by 10 bits.
std::chrono::nanoseconds age(std::uint64_t ticket) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto shifted =
      static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  return std::chrono::nanoseconds(((shifted << 10) - ticket) >> 10);
}

/// The rule for an address in a file. An end, 0 or `waits`.
int find_rule(const KnownFile& file, const sframe_bpf_mapping& mapping, std::uint64_t address,
              sframe_bpf_rule& rule) {
  if (file.state == SFRAME_BPF_STATE_PENDING) return waits;
  if (file.state == SFRAME_BPF_STATE_NOT_ELF) return SFRAME_BPF_END_NO_FILE;
  if (file.state != SFRAME_BPF_STATE_READY) return SFRAME_BPF_END_NO_TABLE;
  const std::uint64_t offset = address - mapping.start + mapping.offset;
  for (const sframe_bpf_segment& segment : file.code.segments) {
    if (offset - segment.offset >= segment.size) continue;
    const std::uint64_t link = offset - segment.offset + segment.address;
    const sframe_bpf_words words{static_cast<const unsigned char*>(file.table->memory.get()),
                                 file.table->size / 8, std::endian::native == std::endian::big};
    sframe_bpf_find(words, &file.code.table, link, &rule);
    if (rule.kind != SFRAME_BPF_NONE) return 0;
    if (file.code.partial) return waits;
    return link - file.code.entry < SFRAME_BPF_ENTRY_BYTES ? SFRAME_BPF_END_OUTERMOST : SFRAME_BPF_END_NO_ROW;
  }
  return SFRAME_BPF_END_NO_ROW;
}

const sframe_bpf_mapping* find_mapping(const DeferredStack& stack, std::uint64_t address) {
  for (const sframe_bpf_mapping& one : *stack.mappings)
    if (address >= one.start && address < one.end) return &one;
  return nullptr;
}

} // namespace

void DeferredStacks::add(DeferredStack stack) {
  const std::uint64_t ticket = stack.ticket;
  while (!waiting_.empty() && bytes_ + stack.copy.size() > max_bytes) drop(waiting_.begin());
  bytes_ += stack.copy.size();
  waiting_.emplace(ticket, std::move(stack));
}

void DeferredStacks::drop(std::map<std::uint64_t, DeferredStack>::iterator at) {
  bytes_ -= at->second.copy.size();
  waiting_.erase(at);
}

/// From the last frame of the stack on, which is that of `at`. An end, or `waits`: then it may go on.
int DeferredStacks::walk(const DeferredStack& from, sframe_bpf_cursor& at, sframe_bpf_stack& stack) {
  if (!from.mappings) return SFRAME_BPF_END_PENDING;
  std::uint32_t depth = std::max(stack.depth, 1U) - 1;
  for (;; ++depth) {
    const std::uint64_t pc = at.pc - !at.exact;
    if (depth == SFRAME_BPF_MAX_FRAMES) return SFRAME_BPF_END_CUT;
    const sframe_bpf_mapping* const mapping = find_mapping(from, pc);
    if (!mapping) return SFRAME_BPF_END_NO_MAPPING;
    stack.pcs[depth] = pc;
    stack.depth = depth + 1;
    sframe_bpf_rule rule;
    int end = SFRAME_BPF_END_NO_FILE;
    if (mapping->key.file_system != 0) {
      const KnownFile* const file = files_.find(mapping->key);
      if (!file) return age(from.ticket) < longest_wait ? waits : SFRAME_BPF_END_PENDING;
      end = find_rule(*file, *mapping, pc, rule);
    }
    if (end == waits) files_.want(mapping->key);
    const bool has_no_row = end == SFRAME_BPF_END_NO_FILE || end == SFRAME_BPF_END_NO_ROW;
    if (has_no_row && at.guesses && depth + 1 < SFRAME_BPF_MAX_FRAMES &&
        sframe_bpf_guess(&from, &at, end == SFRAME_BPF_END_NO_FILE) == 0) {
      stack.guessed[(depth + 1) / 64] |= std::uint64_t{1} << (depth + 1) % 64;
      continue;
    }
    if (end) return end;
    if (rule.signal_frame) stack.pcs[depth] = at.pc;
    if (rule.kind == SFRAME_BPF_OUTERMOST) return SFRAME_BPF_END_OUTERMOST;
    end = sframe_bpf_go_up(&from, &at, &rule);
    if (end) return end;
  }
}

int DeferredStacks::finish(sframe_bpf_stack& stack) {
  if (stack.ticket == 0) return 0;
  const auto found = waiting_.find(stack.ticket);
  if (found == waiting_.end() && age(stack.ticket) < longest_wait) return 1; // on its way
  if (found != waiting_.end()) {
    const int end = walk(found->second, found->second.at, stack);
    if (end == waits) return 1;
    stack.end = static_cast<std::uint32_t>(end);
    drop(found);
  }
  stack.ticket = stack.id = 0;
  counts_.not_finished += stack.end == SFRAME_BPF_END_PENDING;
  ++finished_[stack.end];
  return 0;
}

void DeferredStacks::advance() {
  while (!waiting_.empty() && age(waiting_.begin()->first) > longest_interest) drop(waiting_.begin());
}

void DeferredStacks::correct(std::uint64_t* ends) const {
  for (std::size_t end = 0; end < finished_.size(); ++end) {
    ends[end] += finished_[end];
    ends[SFRAME_BPF_END_PENDING] -= finished_[end];
  }
}

} // namespace sframe::bpf
