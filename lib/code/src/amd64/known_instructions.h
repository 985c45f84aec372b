// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remembers instructions and their effects by their bytes, since most instructions of a program occur many
// times. Two fields are not compared, but read again: the distance to a branch's target, and the displacement
// of an operand in memory, which may count from the instruction's end.

#pragma once

#include "amd64/decoder.h"
#include "sframe/bytes.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sframe::code::amd64 {

/// A table that does not grow: an instruction takes the place of another. So an instruction costs the same,
/// whatever the others are.
class KnownInstructions {
public:
  /// As Decoder::decode(), if the first instruction of `bytes` is known, else false.
  bool find(std::span<const std::byte> bytes, std::uint64_t address, Instruction& instruction,
            std::vector<Effect>& effects) const {
    const Start start = start_of(bytes);
    const Shape shape = shape_of(start);
    const unsigned size = sizes_[shape.number];
    if (size == 0) return false;
    const Key key = key_of(start, shape.prefixes + size);
    const Entry& known = entries_[place_of(key)];
    if (known.key != key || known.length > bytes.size()) return false;
    instruction = {.address = address,
                   .target =
                       known.distance.size ? address + known.length + value_of(known.distance, bytes) : 0,
                   .length = known.length,
                   .flow = known.flow,
                   .condition = known.condition,
                   .is_nop = known.is_nop,
                   .writes_flags = known.writes_flags,
                   .jump_register = known.jump_register,
                   .system_call_register = known.system_call_register};
    std::uint64_t displacement = known.displacement.size ? value_of(known.displacement, bytes) : 0;
    if (known.is_relative) displacement += address + known.length;
    for (unsigned i = 0; i < known.num_effects; ++i) {
      Effect effect = known.effects[i];
      if (known.displaced >> i & 1) effect.value = sum(effect.value, displacement);
      effects.push_back(effect);
    }
    return true;
  }

  /// True if the displacement is the only part of the instruction that the table does not have to compare.
  static bool varies(const ZydisDecodedInstruction& raw) {
    const bool has_one_meaning = raw.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
                                 raw.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX; // no factor
    return (raw.raw.disp.size == 8 || raw.raw.disp.size == 32) && raw.raw.imm[0].size == 0 && has_one_meaning;
  }

  /// Remembers what `bytes` start with, if that is possible. `displaced` has a bit for each
  /// effect whose value contains the displacement, if the instruction varies(); else it is empty.
  void add(std::span<const std::byte> bytes, const ZydisDecodedInstruction& raw,
           const Instruction& instruction, std::span<const Effect> effects,
           std::optional<std::uint8_t> displaced);

  static constexpr std::size_t max_effects = 2;

private:
  /// The first bytes, then zeros.
  struct Start {
    std::uint64_t low = 0, high = 0;
  };

  /// The bytes that an instruction is known by, and their number in the highest byte.
  struct Key {
    std::uint64_t low = 0, high = 0;

    friend bool operator==(const Key&, const Key&) = default;
  };

  /// What mostly decides an instruction's size. A mistake costs time: the key has all bytes that count.
  struct Shape {
    unsigned prefixes = 0; ///< bytes before the opcode
    unsigned number = 0;   ///< of the opcode, and of how its operand is addressed
  };

  /// A signed number in the instruction.
  struct Field {
    std::uint8_t offset = 0;
    std::uint8_t size = 0; ///< 1, 4, or 0 if there is none
  };

  /// An instruction without what is the same for all of the ABI, in a line of the cache.
  struct Entry {
    Key key;
    std::array<Effect, max_effects> effects; ///< without displacement
    std::uint8_t num_effects = 0;
    std::uint8_t displaced = 0; ///< a bit for each effect to which the displacement is added
    Field displacement;
    bool is_relative = false; ///< the displacement counts from the instruction's end
    Field distance;           ///< of a branch's target from its end, or of the pointer to a callee
    std::uint8_t length = 0;
    Flow flow{};
    Condition condition{};
    bool is_nop = false;
    bool writes_flags = false;
    std::uint8_t jump_register = 0;
    std::uint8_t system_call_register = 0;
  };
  static_assert(sizeof(Entry) == 64);

  struct Free {
    void operator()(Entry* entries) const { std::free(entries); }
  };

  bool is_in_use();

  static std::int64_t sum(std::int64_t value, std::uint64_t number) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + number);
  }

  /// There is no table for the first instructions: the first use of its memory takes longer than to decode
  /// them again.
  static constexpr std::uint32_t worthwhile = 2048;
  static constexpr unsigned place_bits = 13;
  /// Opcodes without and with 0x0f, each in all 32 ways to address an operand.
  static constexpr std::size_t num_shapes = 2 * 256 * 32;

  static Start start_of(std::span<const std::byte> bytes) {
    if (bytes.size() >= sizeof(Start))
      return {load<std::uint64_t>(bytes.data(), ByteOrder::little),
              load<std::uint64_t>(bytes.data() + 8, ByteOrder::little)};
    std::array<std::byte, sizeof(Start)> padded{};
    std::ranges::copy(bytes, padded.begin());
    return start_of(padded);
  }

  /// Without branches, which would be mispredicted. Instructions with more prefixes, or other maps of
  /// opcodes, share numbers.
  static Shape shape_of(const Start& start) {
    std::uint64_t rest = start.low;
    const auto skip_if = [&](bool skip) {
      rest >>= 8 * unsigned{skip};
      return unsigned{skip};
    };
    const auto byte = [&] { return static_cast<unsigned>(rest & 0xff); };
    unsigned prefixes = skip_if(byte() == 0x66 || byte() == 0xf2 || byte() == 0xf3);
    prefixes += skip_if((byte() & 0xf0) == 0x40); // REX
    const unsigned map = skip_if(byte() == 0x0f);
    const unsigned opcode = byte(), modrm = static_cast<unsigned>(rest >> 8 & 0xff);
    return {prefixes, (map << 8 | opcode) << 5 | (modrm >> 6) << 3 | (modrm & 7)};
  }

  static Key key_of(const Start& start, unsigned size) {
    static constexpr auto masks = [] {
      std::array<Key, 16> all{};
      for (unsigned i = 1; i < all.size(); ++i) {
        all[i].low = ~std::uint64_t{0} >> (i < 8 ? 64 - 8 * i : 0);
        all[i].high = i <= 8 ? 0 : ~std::uint64_t{0} >> (128 - 8 * i);
      }
      return all;
    }();
    const Key& mask = masks[size % masks.size()];
    return {start.low & mask.low, (start.high & mask.high) | std::uint64_t{size} << 56};
  }

  static std::size_t place_of(const Key& key) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    return ((key.low ^ key.high * odd) * odd) >> (64 - place_bits);
  }

  /// Sign-extended.
  static std::uint64_t value_of(const Field& field, std::span<const std::byte> bytes) {
    const std::byte* const at = bytes.data() + field.offset;
    return static_cast<std::uint64_t>(field.size == 1
                                          ? std::int64_t{load<std::int8_t>(at, ByteOrder::little)}
                                          : std::int64_t{load<std::int32_t>(at, ByteOrder::little)});
  }

  std::array<std::uint8_t, num_shapes> sizes_{}; ///< of keys, without prefixes; 0: not known yet
  std::unique_ptr<Entry[], Free> entries_;       ///< zeros from the system: small code touches few
  std::uint32_t added_ = 0;                      ///< up to `worthwhile`
};

} // namespace sframe::code::amd64
