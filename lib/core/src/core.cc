// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the format, and adds to what its reader found: images, lookups and reading of memory.

#include "sframe/core/core.h"

#include "modules.h"
#include "sframe/bytes.h"
#include "sframe/core/core_format.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>

namespace sframe::core {

using namespace elf;

namespace {

/// Thousands of notes may have the same problem, also since segments may overlap: it is reported once, at the
/// first place, with the number of the others.
void merge_repeated(std::vector<Problem>& problems) {
  std::map<std::string, std::size_t> counts;
  std::erase_if(problems, [&](const Problem& problem) { return counts[problem.what]++ != 0; });
  for (Problem& problem : problems)
    if (const std::size_t more = counts[problem.what] - 1; more)
      problem.what += ", and " + std::to_string(more) + " more";
}

} // namespace

Core::Core(CoreData data) : data_(std::move(data)) {
  modules_ = find_modules(*this, std::move(data_.listed_modules));
  for (std::size_t i = 0; i < modules_.size(); ++i)
    for (const Mapping& mapping : modules_[i].mappings)
      module_spans_.push_back(
          {AddressRange::between(mapping.start, mapping.end), static_cast<std::uint32_t>(i)});
  std::ranges::stable_sort(module_spans_, {}, &ModuleSpan::start);
  merge_repeated(data_.problems);
}

std::span<const std::byte> Core::bytes_at(std::uint64_t address) const {
  const MemoryRange* range = range_at(address);
  if (!range) return {};
  const std::uint64_t skip = address - range->start;
  if (skip >= range->present) return {};
  return data_.bytes.subspan(range->file_offset + skip, range->present - skip);
}

std::size_t Core::read(std::uint64_t address, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    auto bytes = bytes_at(address + done);
    if (bytes.empty()) break;
    const std::size_t size = std::min(bytes.size(), out.size() - done);
    std::memcpy(out.data() + done, bytes.data(), size);
    done += size;
  }
  return done;
}

std::optional<std::uint64_t> Core::read_word(std::uint64_t address) const {
  auto bytes = bytes_at(address);
  if (bytes.size() >= 8) return load<std::uint64_t>(bytes.data(), byte_order());
  std::array<std::byte, 8> word{}; // may span two segments
  if (bytes.empty() || read(address, word) != word.size()) return std::nullopt;
  return load<std::uint64_t>(word.data(), byte_order());
}

std::int32_t Core::signal() const {
  if (signal_info() && signal_info()->signal != 0) return signal_info()->signal;
  return threads().empty() ? 0 : threads().front().signal;
}

std::optional<std::uint64_t> Core::auxv(std::uint64_t type) const {
  for (const auto& [tag, value] : data_.auxv)
    if (tag == type) return value;
  return std::nullopt;
}

const CoreModule* Core::module_at(std::uint64_t address) const {
  const ModuleSpan* const span = sframe::range_at(module_spans_, address);
  return span ? &modules_[span->module] : nullptr;
}

} // namespace sframe::core
