// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the analysis needs to know about the program around a function.

#pragma once

#include "sframe/code/function_start.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sframe::code {

/// Read-only data (jump tables) and callees. Implemented by the caller; the default has no information.
class Environment {
public:
  virtual ~Environment() = default;

  /// The bytes at [address, address + size) if they are constant data, else empty. The view must be valid
  /// until the next call.
  virtual std::span<const std::byte> constant_data(std::uint64_t /*address*/, std::uint64_t /*size*/) {
    return {};
  }
  /// The pointer in the word at `address` once the program is loaded (dynamic relocations applied, addresses
  /// as in the file), if it is constant.
  virtual std::optional<std::uint64_t> constant_pointer(std::uint64_t /*address*/) { return std::nullopt; }
  /// What a call through the pointer at `address` reaches, if the pointer does not change once the program is
  /// loaded: code in the file, or `address` itself for a function of another file, which this stands for.
  virtual std::optional<std::uint64_t> callee_at(std::uint64_t /*address*/) { return std::nullopt; }
  /// True if the function at `target` is known never to return. The analysis overrides false if code or rows
  /// show that it does not return.
  virtual bool never_returns(std::uint64_t /*target*/) { return false; }
  /// True if the code at `target` is known only to return to the caller, although it is not at hand: a jump
  /// to it is a return.
  virtual bool is_return(std::uint64_t /*target*/) { return false; }
  /// True if only landing pads call the function at `target`: it needs an exception in flight.
  virtual bool needs_exception(std::uint64_t /*target*/) { return false; }
  /// True if a call, whose return address is `next`, perhaps never returns: code that is reached only after
  /// it is guessed, or not reached if it makes another frame. `target`: of a direct call; `signs`: what the
  /// code at `next` shows. The default knows no more.
  virtual bool may_not_return(std::optional<std::uint64_t> /*target*/, std::uint64_t /*next*/,
                              const StartSigns& signs) {
    return may_start_function(signs, Arrival::after_returning_call);
  }
  /// True if the padding at `address`, which a jump leads to, perhaps ends the function: what is reached over
  /// it is guessed. `signs`: what the code after the padding shows.
  virtual bool may_end_at(std::uint64_t /*address*/, const StartSigns& signs) {
    return may_start_function(signs, Arrival::by_jump);
  }
  /// The start of the function that has code at `address`; `address` itself if that is not known.
  virtual std::uint64_t function_start(std::uint64_t address) { return address; }
  /// The code at `address`, at most `size` bytes; empty if there is none. The view must be valid until the
  /// next call.
  virtual std::span<const std::byte> code(std::uint64_t /*address*/, std::uint64_t /*size*/) { return {}; }
};

} // namespace sframe::code
