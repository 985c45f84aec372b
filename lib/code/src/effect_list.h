// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers with which decoders describe an instruction: one short function for each kind of Effect, its
// parameters in the order of a manual's operation.

#pragma once

#include "sframe/code/instruction.h"

#include <cstdint>
#include <vector>

namespace sframe::code {

/// Appends effects to a list that it does not own.
class EffectList {
public:
  explicit EffectList(std::vector<Effect>& list) : list_(&list) {}

  /// reg := source + value.
  void set(std::uint8_t reg, std::uint8_t source, std::int64_t value) {
    list_->push_back({.kind = Effect::Kind::set, .reg = reg, .source = source, .value = value});
  }
  /// reg := the low `size` bytes of source + value, extended.
  void set_narrow(std::uint8_t reg, std::uint8_t source, std::int64_t value, std::uint8_t size,
                  bool is_signed) {
    list_->push_back({.kind = Effect::Kind::set,
                      .reg = reg,
                      .source = source,
                      .size = size,
                      .is_signed = is_signed,
                      .value = value});
  }
  /// reg := value.
  void set_constant(std::uint8_t reg, std::int64_t value) { set(reg, Effect::none, value); }
  /// reg := reg + source * factor.
  void add(std::uint8_t reg, std::uint8_t source, std::int64_t factor) {
    list_->push_back({.kind = Effect::Kind::add, .reg = reg, .source = source, .value = factor});
  }
  /// reg := source + eighths of a scalable vector's length.
  void add_vectors(std::uint8_t reg, std::uint8_t source, std::int64_t eighths) {
    list_->push_back({.kind = Effect::Kind::add_vectors, .reg = reg, .source = source, .value = eighths});
  }
  /// reg := reg & mask.
  void mask(std::uint8_t reg, std::int64_t mask) {
    list_->push_back({.kind = Effect::Kind::align, .reg = reg, .value = mask});
  }
  /// reg := the word at base + offset.
  void load(std::uint8_t reg, std::uint8_t base, std::int64_t offset) {
    list_->push_back({.kind = Effect::Kind::load, .reg = reg, .source = base, .value = offset});
  }
  /// The word at base + offset := reg.
  void store(std::uint8_t reg, std::uint8_t base, std::int64_t offset) {
    list_->push_back({.kind = Effect::Kind::store, .reg = reg, .source = base, .value = offset});
  }
  /// `size` bytes at base + offset := something.
  void overwrite(std::uint8_t size, std::uint8_t base, std::int64_t offset) {
    list_->push_back({.kind = Effect::Kind::overwrite, .source = base, .size = size, .value = offset});
  }
  /// reg := reg & source.
  void mask_by(std::uint8_t reg, std::uint8_t source) {
    list_->push_back({.kind = Effect::Kind::mask, .reg = reg, .source = source});
  }
  /// reg := reg or 0.
  void or_zero(std::uint8_t reg) { list_->push_back({.kind = Effect::Kind::or_zero, .reg = reg}); }
  void clobber(std::uint8_t reg) { list_->push_back({.kind = Effect::Kind::clobber, .reg = reg}); }
  /// flags := reg against value.
  void compare(std::uint8_t reg, std::int64_t value) {
    list_->push_back({.kind = Effect::Kind::compare, .reg = reg, .value = value});
  }
  void compare_registers(std::uint8_t reg, std::uint8_t source) {
    list_->push_back({.kind = Effect::Kind::compare, .reg = reg, .source = source});
  }
  /// Adds a pointer authentication code to reg (the link register), or removes it.
  void sign(std::uint8_t reg, std::uint8_t key, bool with_address = false) {
    list_->push_back({.kind = Effect::Kind::sign, .reg = reg, .index = key, .value = with_address ? 1 : 0});
  }
  /// The next instruction that signs reg, or authenticates it, uses its own address, too.
  void add_address(std::uint8_t reg) { list_->push_back({.kind = Effect::Kind::add_address, .reg = reg}); }
  void authenticate(std::uint8_t reg, std::uint8_t key) {
    list_->push_back({.kind = Effect::Kind::authenticate, .reg = reg, .index = key});
  }
  /// flags := something other than the result of a known compare.
  void lose_flags() { flags_lost_ = true; }
  bool flags_lost() const { return flags_lost_; }

  void append(const Effect& effect) { list_->push_back(effect); }

private:
  std::vector<Effect>* list_;
  bool flags_lost_ = false;
};

} // namespace sframe::code
