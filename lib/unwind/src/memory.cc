// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/unwind/address_space.h"

#include "sframe/base/budget.h"

#include <algorithm>
#include <cstring>

namespace sframe::unwind {

bool AddressSpace::may_guess(std::uint64_t bytes) {
  Budget* const limit = budget();
  return !limit || limit->take(Resource::guesses, bytes);
}

std::size_t AddressSpace::read(std::uint64_t address, std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto bytes = view(address + done);
    if (bytes.empty()) break;
    const std::size_t size = std::min(bytes.size(), out.size() - done);
    std::ranges::copy(bytes.first(size), out.begin() + static_cast<std::ptrdiff_t>(done));
    done += size;
  }
  return done;
}

bool Memory::bytes(std::uint64_t address, std::span<std::byte> out) {
  std::uint64_t offset = address - base_;
  if (offset > view_.size() || view_.size() - offset < out.size()) {
    if (const auto view = space_->view(address); !view.empty()) {
      view_ = view;
      base_ = address;
      offset = 0;
    }
    // Beyond the end of the view, or there is no view.
    if (offset > view_.size() || view_.size() - offset < out.size())
      return space_->read(address, out) == out.size();
  }
  std::memcpy(out.data(), view_.data() + offset, out.size());
  return true;
}

bool Memory::load_elsewhere(std::uint64_t address, std::uint64_t& value) {
  const auto found = number(address, sizeof value);
  value = found.value_or(0);
  return found.has_value();
}

std::optional<std::uint64_t> Memory::number(std::uint64_t address, std::uint32_t size) {
  std::byte raw[8];
  if (size == 0 || size > sizeof raw || !bytes(address, std::span(raw, size))) return std::nullopt;
  return load_all(std::span(raw, size), order_);
}

} // namespace sframe::unwind
