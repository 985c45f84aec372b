// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The second witness: AArch64's instructions by their words, without any other decoder (Arm Architecture
// Reference Manual, C4.1, "A64 instruction set encoding"). Words are little-endian in either byte order of
// data. An authentication is a site, since it may fault (FEAT_FPAC).
//
//   sf op S 100010 sh imm12        Rn    Rd
//   1  0  0 100010 0  000000000000 11111 11101     mov x29, sp

#include "sites.h"

#include "sframe/bytes.h"

namespace sframe::shrink {

namespace {

using Kind = SiteInstruction::Kind;

constexpr std::uint32_t sp = 31, fp = 29;
constexpr std::uint8_t length = 4;

class Word {
public:
  explicit Word(std::uint32_t bits) : bits_(bits) {}

  bool is(std::uint32_t mask, std::uint32_t value) const { return (bits_ & mask) == value; }
  std::uint32_t field(unsigned low, unsigned width) const { return bits_ >> low & ((1u << width) - 1); }
  std::int64_t number(unsigned low, unsigned width) const {
    const std::int64_t value = field(low, width), sign = std::int64_t{1} << (width - 1);
    return (value ^ sign) - sign;
  }
  std::uint32_t rd() const { return field(0, 5); }
  std::uint32_t rn() const { return field(5, 5); }

private:
  std::uint32_t bits_;
};

Kind by_sign(std::int64_t moved_up) {
  return moved_up > 0 ? Kind::removal : Kind::setup;
}

/// add and sub of SP or FP and a number, to SP or FP.
Kind kind_of_sum(Word word) {
  const std::int64_t number = std::int64_t{word.field(10, 12)} << (word.field(22, 1) ? 12 : 0);
  const std::int64_t sum = word.field(30, 1) ? -number : number;
  if (word.rd() == sp && word.rn() == sp) return by_sign(sum);
  if (word.rd() == sp && word.rn() == fp) return Kind::removal;
  return word.rd() == fp && word.rn() == sp ? Kind::setup : Kind::site;
}

/// Loads from SP that then add at least as many bytes to SP as they read.
Kind kind_of_load(Word word) {
  if (word.rn() != sp) return Kind::site;
  if (word.is(0xffc00000, 0xa8c00000)) // ldp of two words
    return word.number(15, 7) >= 2 ? Kind::removal : Kind::site;
  if (word.is(0x3fc00000, 0x2cc00000) && word.field(30, 2) != 3) // of two vector registers
    return word.number(15, 7) >= 2 ? Kind::removal : Kind::site;
  const std::int64_t moved_up = word.number(12, 9);
  if (word.is(0xffe00c00, 0xf8400400) || word.is(0xffe00c00, 0xfc400400)) // ldr of a word
    return moved_up >= 8 ? Kind::removal : Kind::site;
  return word.is(0xffe00c00, 0x3cc00400) && moved_up >= 16 ? Kind::removal : Kind::site;
}

class Reading {
public:
  Reading(Word word, std::uint64_t address) : word_(word) {
    out_.address = address;
    out_.length = length;
  }

  SiteInstruction read() {
    constexpr std::uint32_t reserved = 0, sve = 2;
    const std::uint32_t group = word_.field(25, 4);
    if ((group & 0xe) == 10) {
      if (!read_branch()) out_.length = 0;
    } else if (word_.is(0xffff0000, 0)) { // udf
      out_.falls_through = false;
    } else if ((group == reserved && !word_.field(31, 1)) ||
               (group < 4 && group != reserved && group != sve)) {
      out_.length = 0;
    } else if (word_.is(0xbf800000, 0x91000000)) {
      out_.kind = kind_of_sum(word_);
    } else {
      out_.kind = kind_of_load(word_);
    }
    return out_;
  }

private:
  void go(unsigned low, unsigned width) {
    out_.target = out_.address + static_cast<std::uint64_t>(word_.number(low, width)) * length;
  }
  void jump(unsigned low, unsigned width) {
    go(low, width);
    out_.kind = Kind::jump;
    out_.falls_through = false;
  }

  /// Branches, exceptions, system instructions. False if the word is none that is known.
  bool read_branch() {
    if (word_.is(0xfc000000, 0x14000000)) { // b
      jump(0, 26);
    } else if (word_.is(0xfc000000, 0x94000000)) { // bl
      go(0, 26);
      out_.returns = true;
    } else if (word_.is(0x7e000000, 0x34000000)) { // cbz, cbnz
      go(5, 19);
    } else if (word_.is(0x7e000000, 0x36000000)) { // tbz, tbnz
      go(5, 14);
    } else if (word_.is(0x7e000000, 0x74000000)) { // cb<condition>
      go(5, 9);
    } else if (word_.is(0xff00000e, 0x5400000e)) { // b.al
      jump(5, 19);
    } else if (word_.is(0xff000000, 0x54000000)) { // b.<condition>, bc.<condition>
      go(5, 19);
    } else if (word_.is(0xffc00000, 0x55000000)) { // retaasppc, retabsppc
      out_.falls_through = false;
    } else if (word_.is(0xff000000, 0xd4000000)) {
      read_exception();
    } else if (word_.is(0xfe000000, 0xd6000000)) {
      read_register_branch();
    } else {
      return word_.is(0xff000000, 0xd5000000); // system instructions, hints
    }
    return true;
  }

  /// Debuggers and systems go on after svc and similar, and after a breakpoint of debuggers; others are traps
  /// of compilers.
  void read_exception() {
    constexpr std::uint32_t debug_trap = 0xf000;
    const std::uint32_t operation = word_.field(21, 3);
    const bool stops = (operation == 1 || operation == 2) && word_.field(5, 16) != debug_trap;
    out_.falls_through = !stops;
    out_.returns = !stops;
  }

  /// br, blr, ret, and those that authenticate.
  void read_register_branch() {
    const std::uint32_t operation = word_.field(21, 3);
    out_.returns = operation == 1;
    out_.falls_through = out_.returns;
    if (word_.is(0xfffffc1f, 0xd65f0000)) out_.kind = Kind::removal; // ret
  }

  Word word_;
  SiteInstruction out_;
};

} // namespace

SiteInstruction read_aarch64(std::span<const std::byte> bytes, std::uint64_t address) {
  if (bytes.size() < length) return {};
  return Reading(Word(load<std::uint32_t>(bytes.data(), ByteOrder::little)), address).read();
}

} // namespace sframe::shrink
