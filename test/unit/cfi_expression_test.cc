// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each operation of the expression evaluator (DWARF 5, section 2.5.1), and its limits.

#include "cfi_assembler.h"
#include "sframe/cfi/expression.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace cfi_expression_test {

using namespace sframe;
using namespace sframe::cfi;
using test::Bytes;
using Kind = ExpressionErrorKind;

/// Register n holds 1000 + n, for n below 64. Memory from 0x100 to 0x1ff holds, in each byte, the low byte of
/// its address.
class Context : public ExpressionContext {
public:
  std::optional<std::uint64_t> read_register(std::uint32_t reg) override {
    return reg < 64 ? std::optional<std::uint64_t>(1000 + reg) : std::nullopt;
  }
  std::optional<std::uint64_t> read_memory(std::uint64_t address, std::uint32_t size) override {
    if (address < 0x100 || address + size > 0x200) return std::nullopt;
    std::uint64_t value = 0;
    for (std::uint32_t i = size; i--;) value = value << 8 | ((address + i) & 0xff);
    return value;
  }
};

using Result = sframe::expected<std::uint64_t, ExpressionError>;

Result run(const Bytes& bytes, std::uint8_t address_size = 8,
           std::optional<std::uint64_t> cfa = std::nullopt) {
  Context context;
  return evaluate(bytes.get(), context,
                  {.byte_order = bytes.order(), .address_size = address_size, .cfa = cfa});
}

Result run(std::initializer_list<int> bytes, std::uint8_t address_size = 8,
           std::optional<std::uint64_t> cfa = std::nullopt) {
  return run(Bytes().raw(bytes), address_size, cfa);
}

constexpr std::uint64_t minus(std::uint64_t value) {
  return -value;
}

TEST(CfiExpression, Constants) {
  EXPECT_EQ(run({0x30}), 0u);
  EXPECT_EQ(run({0x4f}), 31u);
  EXPECT_EQ(run({0x08, 0xff}), 0xffu);
  EXPECT_EQ(run({0x09, 0xff}), minus(1));
  EXPECT_EQ(run(Bytes().u8(0x0a).u16(0xfffe)), 0xfffeu);
  EXPECT_EQ(run(Bytes().u8(0x0b).u16(0xfffe)), minus(2));
  EXPECT_EQ(run(Bytes().u8(0x0c).u32(0xfffffffe)), 0xfffffffeu);
  EXPECT_EQ(run(Bytes().u8(0x0d).u32(0xfffffffe)), minus(2));
  EXPECT_EQ(run(Bytes().u8(0x0e).u64(0x123456789abcdef0)), 0x123456789abcdef0u);
  EXPECT_EQ(run(Bytes().u8(0x0f).u64(-3ull)), minus(3));
  EXPECT_EQ(run(Bytes().u8(0x10).uleb(100000)), 100000u);
  EXPECT_EQ(run(Bytes().u8(0x11).sleb(-100000)), minus(100000));
  EXPECT_EQ(run(Bytes().u8(0x03).u64(0x400000)), 0x400000u);
  EXPECT_EQ(run(Bytes(ByteOrder::big).u8(0x0a).u16(0x1234)), 0x1234u);
  EXPECT_EQ(run(Bytes(ByteOrder::big).u8(0x03).u64(0x400000)), 0x400000u);
}

TEST(CfiExpression, Registers) {
  EXPECT_EQ(run({0x77, 0x78}), 1007u - 8);
  EXPECT_EQ(run({0x92, 40, 8}), 1048u);
  EXPECT_EQ(run({0x53}), 1003u);
  EXPECT_EQ(run({0x90, 40}), 1040u);
  EXPECT_EQ(run({0x92, 64, 8}).error(), (ExpressionError{Kind::no_register, 0, 64}));
}

TEST(CfiExpression, Memory) {
  EXPECT_EQ(run(Bytes().u8(0x0a).u16(0x110).u8(0x06)), 0x1716151413121110u);
  EXPECT_EQ(run(Bytes().u8(0x0a).u16(0x110).u8(0x06), 4), 0x13121110u);
  EXPECT_EQ(run(Bytes().u8(0x0a).u16(0x110).raw({0x94, 2})), 0x1110u);
  EXPECT_EQ(run(Bytes().u8(0x0a).u16(0x110).raw({0x94, 0})).error().kind, Kind::bad_size);
  EXPECT_EQ(run(Bytes().u8(0x0a).u16(0x110).raw({0x94, 9})).error().kind, Kind::bad_size);
  EXPECT_EQ(run(Bytes().u8(0x0a).u16(0x110).raw({0x94, 5}), 4).error().kind, Kind::bad_size);
  EXPECT_EQ(run(Bytes().u8(0x0a).u16(0x210).u8(0x06)).error(), (ExpressionError{Kind::no_memory, 3, 0x210}));
}

TEST(CfiExpression, Arithmetic) {
  EXPECT_EQ(run({0x35, 0x33, 0x22}), 8u);
  EXPECT_EQ(run({0x33, 0x35, 0x1c}), minus(2));
  EXPECT_EQ(run({0x35, 0x33, 0x1e}), 15u);
  EXPECT_EQ(run({0x35, 0x23, 0x80, 0x01}), 133u);
  EXPECT_EQ(run({0x09, 0xf9, 0x32, 0x1b}), minus(3)); // -7 / 2, toward zero
  EXPECT_EQ(run({0x37, 0x34, 0x1d}), 3u);             // 7 mod 4
  EXPECT_EQ(run({0x35, 0x33, 0x1a}), 1u);
  EXPECT_EQ(run({0x35, 0x33, 0x21}), 7u);
  EXPECT_EQ(run({0x35, 0x33, 0x27}), 6u);
  EXPECT_EQ(run({0x35, 0x1f}), minus(5));
  EXPECT_EQ(run({0x35, 0x20}), ~std::uint64_t{5});
  EXPECT_EQ(run({0x09, 0xfb, 0x19}), 5u);
  EXPECT_EQ(run({0x35, 0x19}), 5u);
  EXPECT_EQ(run({0x31, 0x30, 0x1b}).error(), (ExpressionError{Kind::division_by_zero, 2, 0}));
  EXPECT_EQ(run({0x31, 0x30, 0x1d}).error().kind, Kind::division_by_zero);
  // The lowest number by -1 wraps.
  EXPECT_EQ(run(Bytes().u8(0x0e).u64(1ull << 63).raw({0x09, 0xff, 0x1b})), 1ull << 63);
}

TEST(CfiExpression, Shifts) {
  EXPECT_EQ(run({0x33, 0x34, 0x24}), 48u);
  EXPECT_EQ(run({0x09, 0xf0, 0x34, 0x25}), minus(16) >> 4);
  EXPECT_EQ(run({0x09, 0xf0, 0x34, 0x26}), minus(1));
  EXPECT_EQ(run({0x33, 0x08, 64, 0x24}), 0u);
  EXPECT_EQ(run({0x33, 0x08, 64, 0x25}), 0u);
  EXPECT_EQ(run({0x09, 0xf0, 0x08, 200, 0x26}), minus(1));
}

TEST(CfiExpression, ThirtyTwoBits) {
  EXPECT_EQ(run({0x33, 0x35, 0x1c}, 4), 0xfffffffeu);
  EXPECT_EQ(run({0x09, 0xf0, 0x34, 0x26}, 4), 0xffffffffu);
  EXPECT_EQ(run({0x09, 0xf9, 0x32, 0x1b}, 4), 0xfffffffdu);
  EXPECT_EQ(run({0x33, 0x08, 32, 0x24}, 4), 0u);
}

TEST(CfiExpression, Comparisons) {
  // -1 against 1, signed; then equal values.
  const int operations[] = {0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e};
  const std::uint64_t less[] = {0, 0, 0, 1, 1, 1}, equal[] = {1, 1, 0, 1, 0, 0};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(run({0x09, 0xff, 0x31, operations[i]}), less[i]) << i;
    EXPECT_EQ(run({0x31, 0x31, operations[i]}), equal[i]) << i;
    EXPECT_EQ(run({0x09, 0xff, 0x31, operations[i]}, 4), less[i]) << i;
  }
}

TEST(CfiExpression, Stack) {
  EXPECT_EQ(run({0x31, 0x32, 0x12, 0x22}), 4u);             // dup
  EXPECT_EQ(run({0x31, 0x32, 0x13}), 1u);                   // drop
  EXPECT_EQ(run({0x31, 0x32, 0x14}), 1u);                   // over
  EXPECT_EQ(run({0x31, 0x32, 0x33, 0x15, 2}), 1u);          // pick
  EXPECT_EQ(run({0x31, 0x35, 0x16, 0x1c}), 4u);             // swap: 5 - 1
  EXPECT_EQ(run({0x31, 0x32, 0x33, 0x17}), 2u);             // rot: 3 1 2, of which the top is the old second
  EXPECT_EQ(run({0x31, 0x32, 0x33, 0x17, 0x13}), 1u);       // below it the old third
  EXPECT_EQ(run({0x31, 0x32, 0x33, 0x17, 0x13, 0x13}), 3u); // the old top is third
  EXPECT_EQ(run({}).error().kind, Kind::stack_underflow);
  EXPECT_EQ(run({0x31, 0x22}).error().kind, Kind::stack_underflow);
  EXPECT_EQ(run({0x31, 0x16}).error().kind, Kind::stack_underflow);
  EXPECT_EQ(run({0x31, 0x32, 0x17}).error().kind, Kind::stack_underflow);
  EXPECT_EQ(run({0x31, 0x15, 1}).error().kind, Kind::stack_underflow);
  Bytes full;
  for (std::uint32_t i = 0; i < max_expression_stack; ++i) full.u8(0x31);
  EXPECT_EQ(run(full), 1u);
  EXPECT_EQ(run(full.u8(0x31)).error(), (ExpressionError{Kind::stack_overflow, max_expression_stack, 0}));
}

TEST(CfiExpression, Branches) {
  EXPECT_EQ(run(Bytes().u8(0x31).u8(0x2f).u16(1).raw({0x32, 0x96})), 1u); // skip over lit2
  EXPECT_EQ(run(Bytes().raw({0x35, 0x31, 0x28}).u16(1).u8(0x32)), 5u);    // taken
  EXPECT_EQ(run(Bytes().raw({0x35, 0x30, 0x28}).u16(1).u8(0x32)), 2u);    // not taken
  EXPECT_EQ(run(Bytes().raw({0x31, 0x2f}).u16(1)).error(), (ExpressionError{Kind::truncated, 1, 0}));
  EXPECT_EQ(run(Bytes().raw({0x31, 0x2f}).u16(-5)).error().kind, Kind::truncated);
  EXPECT_EQ(run(Bytes().raw({0x31, 0x2f}).u16(-3)).error().kind, Kind::too_many_steps); // onto itself
  // Counts 10 down to 0: lit10; loop: lit1 minus dup bra loop.
  EXPECT_EQ(run(Bytes().raw({0x3a, 0x31, 0x1c, 0x12, 0x28}).u16(-6)), 0u);
}

TEST(CfiExpression, TheCfaOnTheStack) {
  EXPECT_EQ(run({0x23, 8}, 8, 0x5000), 0x5008u);
  EXPECT_EQ(run({}, 8, 0x5000), 0x5000u);
  EXPECT_EQ(run({0x31, 0x9c, 0x22}, 8, 0x5000), 0x5001u); // call_frame_cfa
  EXPECT_EQ(run({0x9c}).error().kind, Kind::unknown_opcode);
}

TEST(CfiExpression, LinkersPlt) {
  // breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus: SP = 1007, pc = 1016 (1016 & 15 = 8).
  EXPECT_EQ(run({0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}), 1015u);
  EXPECT_EQ(run({0x77, 8, 0x80, 3, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}), 1023u); // pc + 3
}

TEST(CfiExpression, Malformed) {
  for (const int operation : {0x00, 0x02, 0x18, 0x91, 0x93, 0x95, 0x97, 0x98, 0xa0, 0xe0, 0xff})
    EXPECT_EQ(run({0x31, 0x31, operation}).error(), (ExpressionError{Kind::unknown_opcode, 2, 0}))
        << operation;
  EXPECT_EQ(run({0x08}).error(), (ExpressionError{Kind::truncated, 0, 0}));
  EXPECT_EQ(run({0x31, 0x77}).error(), (ExpressionError{Kind::truncated, 1, 0}));
  EXPECT_EQ(run({0x31, 0x94}).error().kind, Kind::truncated);
  EXPECT_EQ(run({0x31, 0x28}).error().kind, Kind::truncated);
  EXPECT_EQ(run({0x10, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02}).error().kind,
            Kind::bad_leb128);
}

// Location descriptions (DWARF 5, section 2.6).

/// In addition: the frame base 5000, the CFA 6000, addresses loaded 0x10000 higher, .debug_addr with 7 at
/// index 1, types 1 (signed, 4 bytes), 2 (float), 3 (double), 4 (unsigned, 1 byte); a value at the entry for
/// each register, and for parameter 9.
class Location final : public LocationContext {
public:
  std::vector<LocationPart> parts;

  std::optional<std::uint64_t> read_register(std::uint32_t reg) override { return inner_.read_register(reg); }
  std::optional<std::uint64_t> read_memory(std::uint64_t address, std::uint32_t size) override {
    return inner_.read_memory(address, size);
  }
  bool part(const LocationPart& part) override {
    parts.push_back(part);
    return true;
  }
  std::uint64_t relocated(std::uint64_t address) override { return address + 0x10000; }
  std::optional<std::uint64_t> frame_base() override { return 5000; }
  std::optional<std::uint64_t> call_frame_cfa() override { return 6000; }
  std::optional<std::uint64_t> entry_value(std::span<const std::byte> expression) override {
    return !expression.empty() && expression.back() == std::byte(0x55) ? std::optional<std::uint64_t>(77)
                                                                       : std::nullopt;
  }
  std::optional<std::uint64_t> passed_value(std::uint64_t parameter) override {
    return parameter == 9 ? std::optional<std::uint64_t>(99) : std::nullopt;
  }
  std::optional<std::uint64_t> indexed(std::uint64_t index) override {
    return index == 1 ? std::optional<std::uint64_t>(7) : std::nullopt;
  }
  std::optional<ValueType> base_type(std::uint64_t offset) override {
    using TypeKind = ValueType::Kind;
    switch (offset) {
    case 1: return ValueType{TypeKind::signed_number, 4};
    case 2: return ValueType{TypeKind::floating, 4};
    case 3: return ValueType{TypeKind::floating, 8};
    case 4: return ValueType{TypeKind::unsigned_number, 1};
    default: return std::nullopt;
    }
  }

private:
  Context inner_;
};

/// The parts as text, "reg 3" or "memory 5 (32 bits)"; or the error.
std::string locate(const Bytes& bytes) {
  Location context;
  std::uint64_t steps = 0;
  const auto result =
      evaluate_location(bytes.get(), context, {.byte_order = bytes.order(), .cfa = {}}, steps);
  EXPECT_LE(steps, max_expression_steps);
  if (!result) return message(result.error().kind);
  static constexpr const char* names[] = {"nowhere", "memory", "reg", "number", "bytes", "pointer"};
  std::string text;
  for (const LocationPart& part : context.parts) {
    text += (text.empty() ? "" : ", ") + std::string(names[static_cast<int>(part.kind)]) + " " +
            std::to_string(part.value);
    if (part.kind == LocationPart::Kind::bytes) text += ":" + std::to_string(part.bytes.size());
    if (part.bits)
      text += " (" + std::to_string(*part.bits) + " bits at " + std::to_string(part.bit_offset) + ")";
  }
  return text;
}
std::string locate(std::initializer_list<int> bytes) {
  return locate(Bytes().raw(bytes));
}

TEST(CfiLocation, Whole) {
  EXPECT_EQ(locate({}), "");
  EXPECT_EQ(locate({0x53}), "reg 3");
  EXPECT_EQ(locate({0x90, 0x81, 1}), "reg 129");
  EXPECT_EQ(locate({0x73, 1}), "memory 1004");
  EXPECT_EQ(locate({0x91, 0x7f}), "memory 4999");
  EXPECT_EQ(locate({0x9c}), "memory 6000");
  EXPECT_EQ(locate(Bytes().u8(3).u64(0x20)), "memory 65568");
  EXPECT_EQ(locate({0xa1, 1}), "memory 65543"); // an address is loaded elsewhere, a constant is not
  EXPECT_EQ(locate({0xa2, 1}), "memory 7");
  EXPECT_EQ(locate({0xa1, 2}), "a value that the expression needs is unknown");
  EXPECT_EQ(locate({0x35, 0x9f}), "number 5");
  EXPECT_EQ(locate({0x9e, 3, 1, 2, 3}), "bytes 0:3");
  EXPECT_EQ(locate({0xa0, 1, 0, 0, 0, 4}), "pointer 0");
  EXPECT_EQ(locate({0xa3, 1, 0x55, 0x31, 0x22, 0x9f}), "number 78");
  EXPECT_EQ(locate({0xf3, 1, 0x55, 0x9f}), "number 77");
  EXPECT_EQ(locate({0xa3, 1, 0x54, 0x9f}), "a value that the expression needs is unknown");
  EXPECT_EQ(locate(Bytes().u8(0xfa).u32(9).u8(0x9f)), "number 99");
}

TEST(CfiLocation, Pieces) {
  EXPECT_EQ(locate({0x53, 0x93, 4, 0x93, 2, 0x73, 0, 0x93, 8}),
            "reg 3 (32 bits at 0), nowhere 0 (16 bits at 0), memory 1003 (64 bits at 0)");
  EXPECT_EQ(locate({0x35, 0x9f, 0x9d, 3, 1, 0x53, 0x9d, 5, 2}),
            "number 5 (3 bits at 1), reg 3 (5 bits at 2)");
  EXPECT_EQ(locate({0x53, 0x31}), "operation after the description of a piece");
  EXPECT_EQ(locate({0x35, 0x9f, 0x53}), "operation after the description of a piece");
  EXPECT_EQ(locate({0x93, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}),
            "invalid size of a value");
}

TEST(CfiLocation, Types) {
  // convert to 1 byte; to 4 bytes and back: sign-extended
  EXPECT_EQ(locate(Bytes().u8(0x0a).u16(0x1234).raw({0xa8, 4, 0xa8, 0, 0x9f})), "number 52");
  EXPECT_EQ(locate(Bytes().u8(0x0c).u32(0xffffffff).raw({0xa8, 1, 0xa8, 0, 0x9f})),
            "number 18446744073709551615");
  // const_type float 1.5, converted to double; doubled; 3.0 as an integer
  EXPECT_EQ(locate({0xa4, 2, 4, 0, 0, 0xc0, 0x3f, 0xa8, 3, 0x12, 0x22, 0xa8, 0, 0x9f}), "number 3");
  // the bits of -1.5f
  EXPECT_EQ(locate({0xa4, 2, 4, 0, 0, 0xc0, 0x3f, 0x1f, 0xa9, 0, 0x9f}), "number 3217031168");
  // a division of unsigned numbers, a comparison of signed ones
  EXPECT_EQ(locate({0x08, 0xf0, 0xa8, 4, 0x34, 0xa8, 4, 0x1b, 0x9f}), "number 60");
  EXPECT_EQ(locate({0x11, 0x7f, 0xa8, 1, 0x31, 0xa8, 1, 0x2d, 0x9f}), "number 1");
  // a sum of 1 byte, as its operands have; a comparison of such gives a number of any size
  EXPECT_EQ(locate({0x08, 0xff, 0xa8, 4, 0x32, 0xa8, 4, 0x22, 0xa8, 0, 0x9f}), "number 1");
  EXPECT_EQ(locate(Bytes().raw({0x08, 0xff, 0xa8, 4, 0x12, 0x29, 0x0a}).u16(0x1234).raw({0x22, 0x9f})),
            "number 4661");
  EXPECT_EQ(locate({0xa8, 1}), "stack underflow");
  EXPECT_EQ(locate({0x31, 0xa8, 5}), "invalid size of a value");
  EXPECT_EQ(locate({0xa4, 1, 3, 0, 0, 0, 0x9f}), "invalid size of a value");
}

TEST(CfiLocation, Hostile) {
  EXPECT_EQ(locate({0x2f, 0xfd, 0xff}), "too many operations");
  EXPECT_EQ(locate({0x31, 0x2f, 0xfc, 0xff}), "stack overflow");
  EXPECT_EQ(locate({0x9e, 5, 1}), "operation runs past the expression, or a branch leaves it");
  EXPECT_EQ(locate({0xa3, 0x7f}), "operation runs past the expression, or a branch leaves it");
  EXPECT_EQ(locate({0x9f}), "stack underflow");
  EXPECT_EQ(locate({0x98, 0, 0}), "operation is not allowed here");
  EXPECT_EQ(locate({0xe0}), "operation is not allowed here");
  // Call frame information has none of these.
  EXPECT_EQ(run({0x91, 0}).error().kind, Kind::unknown_opcode);
  EXPECT_EQ(run({0x31, 0x9f}).error().kind, Kind::unknown_opcode);
  // All that is random ends.
  std::uint64_t state = 1;
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes;
    for (int i = 0; i < 24; ++i)
      bytes.u8((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
    locate(bytes);
  }
}

} // namespace cfi_expression_test
