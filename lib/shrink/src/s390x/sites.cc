// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The second witness: s390x's instructions by their bytes, without any other decoder (z/Architecture
// Principles of Operation, chapters 5 and 7, and appendix B). The first two bits give the length.
//
//   opcode r1 op  immediate
//   a7     f  b   00 a0           aghi %r15,160

#include "sites.h"

#include "sframe/bytes.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sframe::shrink {

namespace {

using Kind = SiteInstruction::Kind;

constexpr unsigned sp = 15, fp = 11, link = 14;
constexpr unsigned never = 0, always = 15;

class Reading {
public:
  Reading(std::span<const std::byte> bytes, std::uint64_t address) : bytes_(bytes) { out_.address = address; }

  SiteInstruction read() {
    constexpr std::array<std::uint8_t, 4> lengths = {2, 4, 4, 6};
    if (bytes_.empty() || byte(0) == 0x00) return {};
    out_.length = lengths[byte(0) >> 6];
    if (out_.length > bytes_.size()) return {};
    switch (out_.length) {
    case 2: read_two(); break;
    case 4: read_four(); break;
    default: read_six(); break;
    }
    return out_;
  }

private:
  unsigned byte(std::size_t at) const { return std::to_integer<unsigned>(bytes_[at]); }
  /// The digits of the second byte: r1 or a mask, and r2, x2 or a part of the opcode.
  unsigned r1() const { return byte(1) >> 4; }
  unsigned r2() const { return byte(1) & 15; }
  unsigned base() const { return byte(2) >> 4; }
  std::int64_t number16() const { return load<std::int16_t>(bytes_.data() + 2, ByteOrder::big); }
  std::int64_t number32() const { return load<std::int32_t>(bytes_.data() + 2, ByteOrder::big); }
  std::int64_t displacement() const { return (byte(2) & 15) << 8 | byte(3); }
  std::int64_t long_displacement() const {
    const unsigned value = byte(4) << 12 | (byte(2) & 15) << 8 | byte(3);
    return static_cast<std::int64_t>(value ^ 0x80000) - 0x80000;
  }

  static Kind by_sign(std::int64_t moved_up) { return moved_up > 0 ? Kind::removal : Kind::setup; }
  /// register := source + number.
  void sum(unsigned reg, unsigned source, std::int64_t number) {
    if (reg == sp && source == sp)
      out_.kind = by_sign(number);
    else if (reg == sp && source == fp)
      out_.kind = Kind::removal;
    else if (reg == fp && source == sp)
      out_.kind = Kind::setup;
  }
  /// With an index, or without any register, it is no such sum.
  void address_sum(std::int64_t number) {
    if ((r2() == 0) != (base() == 0)) sum(r1(), r2() | base(), number);
  }

  /// Halfwords from the instruction; 1 is a trap, in the middle of the branch.
  void branch(unsigned mask, std::int64_t halfwords) {
    if (mask == never) return;
    if (mask == always) out_.falls_through = false;
    if (halfwords == 1) return;
    if (mask == always) out_.kind = Kind::jump;
    target(halfwords);
  }
  void target(std::int64_t halfwords) {
    out_.target = out_.address + static_cast<std::uint64_t>(2 * halfwords);
  }
  void call(std::int64_t halfwords) {
    out_.returns = true;
    target(halfwords);
  }
  void branch_indirect(unsigned mask) { out_.falls_through = mask != always; }

  void read_two() {
    switch (byte(0)) {
    case 0x07:
      if (r2() != 0) branch_indirect(r1());
      if (r2() == link && r1() == always) out_.kind = Kind::removal; // br %r14
      break;
    case 0x05:
    case 0x0c:
    case 0x0d: out_.returns = r2() != 0; break;
    case 0x0b: out_.falls_through = r2() == 0; break;
    case 0x0a: read_system_call(); break;
    case 0x01: out_.falls_through = byte(1) != 0x01; break; // pr
    default: break;
    }
  }

  void read_system_call() {
    constexpr std::array<unsigned, 4> last{1, 119, 173, 248}; // exit, the returns of signals, exit_group
    out_.falls_through = std::ranges::find(last, byte(1)) == last.end();
    out_.returns = out_.falls_through;
  }

  void read_four() {
    switch (byte(0)) {
    case 0xa7: read_immediate(); break;
    case 0x41: address_sum(displacement()); break; // la
    case 0x45:
    case 0x4d:
    case 0xaf: out_.returns = true; break; // bal, bas, mc
    case 0x47: branch_indirect(r1()); break;
    case 0x82: out_.falls_through = false; break; // lpsw
    case 0x84:
    case 0x85: target(number16()); break;                   // brxh, brxle
    case 0xb2: out_.falls_through = byte(1) != 0xb2; break; // lpswe
    case 0xb9:
      if (byte(1) == 0x04) sum(byte(3) >> 4, byte(3) & 15, 0); // lgr
      break;
    default: break;
    }
  }

  void read_immediate() {
    switch (r2()) {
    case 0x4: branch(r1(), number16()); break; // brc
    case 0x5:                                  // bras: a call, or a jump over literals
      if (r1() == link)
        call(number16());
      else
        branch(always, number16());
      break;
    case 0x6:
    case 0x7: target(number16()); break;          // brct, brctg
    case 0xb: sum(r1(), r1(), number16()); break; // aghi
    default: break;
    }
  }

  void read_six() {
    switch (byte(0)) {
    case 0xc0:
      if (r2() == 0x4) branch_long();
      if (r2() == 0x5) call(number32()); // brasl
      break;
    case 0xc2:
      if (r2() == 0x8) sum(r1(), r1(), number32());                                            // agfi
      if (r2() == 0xa) sum(r1(), r1(), static_cast<std::uint32_t>(number32()));                // algfi
      if (r2() == 0x4) sum(r1(), r1(), -std::int64_t{static_cast<std::uint32_t>(number32())}); // slgfi
      break;
    case 0xcc:
      if (r2() == 0x6) target(number32()); // brcth
      break;
    case 0xe3:
      if (byte(5) == 0x71) address_sum(long_displacement()); // lay
      if (byte(5) == 0x47) branch_indirect(r1());            // bi
      break;
    case 0xec: read_compare_and_branch(); break;
    default: break;
    }
  }

  /// The kernel's jump labels are never taken, until they are patched.
  void branch_long() {
    const std::int64_t halfwords = number32();
    if (r1() != never) return branch(r1(), halfwords);
    if (halfwords != 0 && halfwords != out_.length / 2) target(halfwords);
  }

  void read_compare_and_branch() {
    constexpr std::string_view registers = "\x64\x65\x76\x77", numbers = "\x7c\x7d\x7e\x7f",
                               addresses = "\xe4\xe5\xf6\xf7\xfc\xfd\xfe\xff";
    const auto is_in = [&](std::string_view opcodes) {
      return opcodes.find(static_cast<char>(byte(5))) != std::string_view::npos;
    };
    const auto whole = [](unsigned mask) { return (mask & 14) == 14 ? always : mask & 14; };
    if (is_in(registers)) branch(whole(byte(4) >> 4), number16());
    if (is_in(numbers)) branch(whole(r2()), number16());
    if (is_in(addresses)) branch_indirect(whole(byte(5) < 0xf8 ? byte(4) >> 4 : r2()));
    if (byte(5) == 0x44 || byte(5) == 0x45) target(number16()); // brxhg, brxlg
    if (byte(5) == 0xd9) sum(r1(), r2(), number16());           // aghik
  }

  std::span<const std::byte> bytes_;
  SiteInstruction out_;
};

} // namespace

SiteInstruction read_s390x(std::span<const std::byte> bytes, std::uint64_t address) {
  return Reading(bytes, address).read();
}

} // namespace sframe::shrink
