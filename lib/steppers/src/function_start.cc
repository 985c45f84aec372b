// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "function_start.h"

#include "guess.h"
#include "sframe/code/instruction.h"
#include "sframe/unwind/rule_source.h"

#include <algorithm>
#include <functional>

namespace sframe::steppers {

namespace {

/// The lowest address from which executable memory extends to `address`, at most `most` bytes before it.
std::uint64_t start_of_code(std::uint64_t address, std::uint64_t most, unwind::AddressSpace& space) {
  std::byte byte;
  std::uint64_t lowest = address - address % smallest_page;
  while (address - lowest < most && lowest >= smallest_page && space.is_code(lowest - 1) &&
         space.read(lowest - 1, std::span(&byte, 1)) == 1)
    lowest -= smallest_page;
  return lowest;
}

/// The lowest address, at least `lowest`, from which no table covers anything up to `address`.
std::uint64_t end_of_tables(std::uint64_t address, std::uint64_t lowest, unwind::RuleSource& source) {
  constexpr std::uint64_t stride = 16;
  std::uint64_t at = address;
  while (at - lowest >= stride && !source.find_function(at - stride)) at -= stride;
  if (at - lowest < stride) return lowest;
  std::uint64_t end = at - stride + 1;
  while (end < at && source.find_function(end)) ++end;
  return end;
}

} // namespace

void CodeWindow::reset(unwind::AddressSpace& space, std::uint64_t lowest, std::uint64_t highest) {
  space_ = &space;
  origin_ = lowest_ = lowest;
  first_ = highest;
}

std::span<const std::byte> CodeWindow::before(std::uint64_t address, std::uint64_t size) {
  while (first_ > lowest_ && first_ > address - std::min(size, address - lowest_)) extend();
  if (address <= lowest_) return {};
  const std::uint64_t available = std::min(size, address - lowest_);
  return std::span(bytes_).subspan(address - origin_ - available, available);
}

/// Reads more, below what was read.
void CodeWindow::extend() {
  constexpr std::uint64_t at_once = 512;
  const std::uint64_t size = std::min(at_once, first_ - lowest_);
  first_ -= size;
  const auto bytes = std::span(bytes_).subspan(first_ - origin_, size);
  for (std::uint64_t done = 0; done < size;) {
    done += space_->read(first_ + done, bytes.subspan(done));
    if (done < size) lowest_ = first_ + ++done;
  }
}

void FunctionStarts::add(std::uint64_t start, std::uint64_t address) {
  const auto known = ranges();
  if (std::ranges::find(known, start, &FunctionRange::start) == known.end() && count_ < ranges_.size())
    ranges_[count_++] = {{start, address - start + max_ahead}, true};
}

void FunctionStarts::by_calls(const unwind::FrameState& frame, const unwind::UnwindAbi& abi,
                              unwind::Memory& memory) {
  constexpr std::uint64_t word_size = 8, longest_scan = 1024;
  const AbiTraits& traits = memory.space().abi();
  const std::uint64_t address = frame.lookup_pc();
  std::array<std::uint64_t, max_called> targets; // the nearest, in descending order
  std::size_t count = 0;
  const auto look_at = [&](std::uint64_t pointer) {
    const auto target = target_of_call(abi, memory, memory.code_address(pointer));
    if (!target || *target > address || address - *target >= max_call_back) return;
    std::size_t position = 0;
    while (position < count && targets[position] > *target) ++position;
    if (position == targets.size() || (position < count && targets[position] == *target)) return;
    count = std::min(count + 1, targets.size());
    std::shift_right(targets.begin() + position, targets.begin() + count, 1);
    targets[position] = *target;
  };
  if (const auto ra = frame.registers.get(traits.ra); ra && abi.ra_is_register) look_at(*ra);
  const auto sp = frame.registers.get(traits.sp);
  for (std::uint64_t i = 0; sp && i < longest_scan; ++i) {
    const auto word = memory.word(*sp + i * word_size);
    if (!word) break;
    look_at(*word);
  }
  for (const std::uint64_t target : std::span(targets).first(count))
    ranges_[count_++] = {{target, address - target + max_ahead}};
}

bool FunctionStarts::by_table(std::uint64_t address, unwind::RuleSource& source) {
  const auto known = source.find_function(address);
  if (!known) return false;
  if (address - known->start < longest_)
    ranges_[count_++] = {{known->start, std::min(known->size, longest_)}};
  return true;
}

bool FunctionStarts::by_symbol(std::uint64_t address, unwind::RuleSource& source) {
  const auto known = source.find_symbol_extent(address);
  if (!known) return false;
  const std::uint64_t offset = address - known->start;
  const std::uint64_t size = known->size ? known->size : offset + max_ahead;
  if (offset < longest_) ranges_[count_++] = {{known->start, std::min(size, longest_)}};
  return true;
}

void FunctionStarts::by_padding(std::uint64_t address, std::uint64_t alignment, std::size_t most,
                                const unwind::UnwindAbi& abi) {
  constexpr std::uint64_t longest_end = 16; // bytes
  for (std::uint64_t at = address - address % alignment; at > code_.lowest() && count_ < most;
       at -= alignment) {
    const auto bytes = code_.before(at, longest_end);
    if (!bytes.empty() && abi.ends_function(bytes)) add(at, address);
    if (at < alignment) break;
  }
}

void FunctionStarts::find(const unwind::FrameState& frame, const unwind::UnwindAbi& abi,
                          unwind::Memory& memory) {
  count_ = 0;
  const std::uint64_t address = frame.lookup_pc();
  unwind::RuleSource* source = memory.space().rules_at(address);
  if (source && (by_symbol(address, *source) || by_table(address, *source))) return;
  by_calls(frame, abi, memory);
  const std::size_t called = count_;
  std::uint64_t lowest = start_of_code(address, max_back, memory.space());
  if (source) lowest = end_of_tables(address, lowest, *source);
  add(lowest, address);
  code_.reset(memory.space(), lowest, address);
  by_padding(address, abi.function_alignment, called + max_count / 2, abi);
  by_padding(address, code::machine(memory.space().abi()).alignment, called + max_count, abi);
  std::ranges::sort(ranges_.begin() + called, ranges_.begin() + count_, std::ranges::greater(),
                    &FunctionRange::start);
}

} // namespace sframe::steppers
