// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The second witness: AMD64's instructions by their bytes, without any other decoder. Lengths follow from the
// opcode maps (AMD64 Architecture Programmer's Manual, volume 3, appendix A; Intel SDM, volume 2, appendix
// A); of what an instruction does, only the few that are no sites are known.
//
//   prefixes  REX  opcode  ModRM  SIB  displacement  immediate
//             48   8d      65               d8                    lea -0x28(%rbp),%rsp

#include "sites.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sframe::shrink {

namespace {

using Kind = SiteInstruction::Kind;

/// What follows an opcode, one letter for each of 256:
/// - nothing; m ModRM; b one byte; z two or four bytes; d four; w two; q as mov's to a register;
/// o an address; e two bytes and one; B, Z ModRM and these; t, T as B and Z for tests only (ModRM.reg 0 and
/// 1); . not an instruction, or a prefix
constexpr std::string_view one_byte = "mmmmbz..mmmmbz..mmmmbz..mmmmbz.."
                                      "mmmmbz..mmmmbz..mmmmbz..mmmmbz.."
                                      "................----------------"
                                      "...m....zZbB----bbbbbbbbbbbbbbbb"
                                      "BZ.Bmmmmmmmmmmmm----------.-----"
                                      "oooo----bz------bbbbbbbbqqqqqqqq"
                                      "BBw-..BZe-w--b.-mmmm...-mmmmmmmm"
                                      "bbbbbbbbdd.b----.-..--tT------mm";
constexpr std::string_view two_bytes = "mmmm.-----.-.m-.mmmmmmmmmmmmmmmm"
                                       "mmmm....mmmmmmmm------.-........"
                                       "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
                                       "mmmmmmmmmmmmmmmmBBBBmmm-mm..mmmm"
                                       "ddddddddddddddddmmmmmmmmmmmmmmmm"
                                       "---mBm..---mBmmmmmmmmmmmmmBmmmmm"
                                       "mmBmBBBm--------mmmmmmmmmmmmmmmm"
                                       "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm";
static_assert(one_byte.size() == 256 && two_bytes.size() == 256);

constexpr std::size_t max_length = 15;

/// Reads an instruction; past its end, bytes are 0 and `failed` is true.
class Reading {
public:
  Reading(std::span<const std::byte> bytes, std::uint64_t address)
      : bytes_(bytes.first(std::min(bytes.size(), max_length))), address_(address) {}

  SiteInstruction read() {
    read_prefixes();
    if (!read_opcode()) return {};
    read_operands();
    if (failed_) return {};
    SiteInstruction out{.address = address_, .length = static_cast<std::uint8_t>(at_)};
    if (map_ == 1) classify(out);
    if (map_ == 2) classify_two_bytes(out);
    return out;
  }

private:
  unsigned next() {
    if (at_ >= bytes_.size()) {
      failed_ = true;
      return 0;
    }
    return std::to_integer<unsigned>(bytes_[at_++]);
  }
  unsigned peek() const { return at_ < bytes_.size() ? std::to_integer<unsigned>(bytes_[at_]) : 0; }

  void read_prefixes() {
    constexpr std::array<unsigned, 11> prefixes{0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e,
                                                0x36, 0x3e, 0x26, 0x64, 0x65};
    while (at_ < bytes_.size() && std::ranges::find(prefixes, peek()) != prefixes.end()) {
      const unsigned prefix = next();
      has_operand_size_ |= prefix == 0x66;
      has_address_size_ |= prefix == 0x67;
      // Those of a repeated return and of MPX.
      has_other_ |= prefix != 0xf2 && prefix != 0xf3;
      has_repeat_ |= prefix == 0xf2 || prefix == 0xf3;
    }
    if ((peek() & 0xf0) == 0x40) rex_ = next();
  }

  /// Sets what follows the opcode. False if it is not known.
  bool read_opcode() {
    opcode_ = next();
    const unsigned first = opcode_;
    if (first == 0xc5 || first == 0xc4 || first == 0x62) return rex_ == 0 && read_vector_opcode(first);
    map_ = 1;
    follows_ = one_byte[first];
    if (first != 0x0f) return follows_ != '.' && !(first == 0x8f && (peek() & 0x38) != 0);
    opcode_ = next();
    map_ = 2;
    follows_ = two_bytes[opcode_];
    if (opcode_ != 0x38 && opcode_ != 0x3a) return follows_ != '.';
    map_ = opcode_ == 0x38 ? 3 : 4;
    follows_ = map_ == 3 ? 'm' : 'B';
    next();
    return true;
  }

  /// VEX (c5, c4) and EVEX (62): the map is in the prefix.
  bool read_vector_opcode(unsigned first) {
    unsigned map = 1;
    if (first != 0xc5) map = next() & (first == 0xc4 ? 0x1f : 0x07);
    next();
    if (first == 0x62) next();
    opcode_ = next();
    map_ = 0;
    if (map == 1) follows_ = two_bytes[opcode_];
    if (map == 2 || (first == 0x62 && (map == 5 || map == 6))) follows_ = 'm';
    if (map == 3) follows_ = 'B';
    return follows_ == 'm' || follows_ == 'B' || (first != 0x62 && follows_ == '-' && opcode_ == 0x77);
  }

  void read_modrm() {
    modrm_ = next();
    const unsigned mode = modrm_ >> 6, base = modrm_ & 7;
    if (mode == 3) return;
    unsigned displacement = mode == 1 ? 1 : mode == 2 ? 4 : 0;
    if (base == 4) {
      sib_ = next();
      if (mode == 0 && (sib_ & 7) == 5) displacement = 4;
    } else if (mode == 0 && base == 5) {
      displacement = 4;
    }
    displacement_ = number(displacement);
  }

  std::int64_t number(unsigned size) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) value |= static_cast<std::uint64_t>(next()) << (8 * i);
    if (size == 1) return static_cast<std::int8_t>(value);
    if (size == 2) return static_cast<std::int16_t>(value);
    return size == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
  }

  void read_operands() {
    const bool is_wide = rex_ & 8;
    const unsigned word = has_operand_size_ && !is_wide ? 2 : 4;
    if (std::string_view("mBZtT").find(follows_) != std::string_view::npos) read_modrm();
    const bool tests = (modrm_ & 0x30) == 0;
    switch (follows_) {
    case 'b':
    case 'B': immediate_ = number(1); break;
    case 't': number(tests ? 1 : 0); break;
    case 'z':
    case 'Z': immediate_ = number(word); break;
    case 'T': number(tests ? word : 0); break;
    case 'd': immediate_ = number(4); break;
    case 'w': immediate_ = number(2); break;
    case 'q': number(opcode_ < 0xb8 ? 1 : is_wide ? 8 : word); break;
    case 'o': number(has_address_size_ ? 4 : 8); break;
    case 'e': number(2), number(1); break;
    default: break;
    }
  }

  /// The address that a relative branch names.
  std::uint64_t target() const { return address_ + at_ + static_cast<std::uint64_t>(immediate_); }

  void classify(SiteInstruction& out) const {
    const unsigned operation = modrm_ >> 3 & 7;
    const bool is_relative = (opcode_ >= 0x70 && opcode_ < 0x80) || (opcode_ >= 0xe0 && opcode_ < 0xe4) ||
                             opcode_ == 0xe8 || opcode_ == 0xe9 || opcode_ == 0xeb ||
                             (opcode_ == 0xc7 && modrm_ == 0xf8);
    if (is_relative) out.target = target();
    switch (opcode_) {
    case 0xe9:
    case 0xeb: out.kind = has_other_ ? Kind::site : Kind::jump; [[fallthrough]];
    case 0xca:
    case 0xcb:
    case 0xcf:
    case 0xf4: out.falls_through = false; return;
    case 0xc2:
    case 0xc3:
      out.falls_through = false;
      out.kind = has_other_ ? Kind::site : Kind::removal;
      return;
    case 0xcc:
    case 0xcd:
    case 0xf1:
    case 0xe8: out.returns = true; return;
    case 0xff:
      out.returns = operation == 2 || operation == 3;
      out.falls_through = operation != 4 && operation != 5;
      return;
    default: break;
    }
    if (has_other_ || has_repeat_) return;
    out.kind = frame_kind();
    if (out.kind == Kind::site && computes()) out.kind = Kind::plain;
  }

  void classify_two_bytes(SiteInstruction& out) const {
    if (opcode_ >= 0x80 && opcode_ < 0x90) out.target = target();
    const bool is_endbr64 = has_repeat_ && opcode_ == 0x1e && modrm_ == 0xfa;
    if (!has_other_ && (is_endbr64 || (!has_repeat_ && computes_two_bytes()))) out.kind = Kind::plain;
    const bool traps = opcode_ == 0x0b || opcode_ == 0xb9 || opcode_ == 0xff;
    out.falls_through = !traps && opcode_ != 0x07 && opcode_ != 0x35;
    out.returns = opcode_ == 0x05 || opcode_ == 0x34 || opcode_ == 0x01;
  }

  static Kind by_sign(std::int64_t moved_up) { return moved_up > 0 ? Kind::removal : Kind::setup; }

  bool has_memory() const { return modrm_ < 0xc0; }

  /// Those that cannot fault: registers and constants, and relative branches. Not complete.
  bool computes() const {
    const unsigned operation = modrm_ >> 3 & 7;
    if (opcode_ < 0x40) return (opcode_ & 7) < 4 ? !has_memory() : (opcode_ & 7) < 6;
    if (opcode_ >= 0x70 && opcode_ < 0x80) return true;
    if (opcode_ >= 0xb0 && opcode_ < 0xc0) return true;
    if (opcode_ >= 0xd0 && opcode_ < 0xd4) return !has_memory();
    switch (opcode_) {
    case 0x63:
    case 0x69:
    case 0x6b:
    case 0x80:
    case 0x81:
    case 0x83:
    case 0x84:
    case 0x85:
    case 0x86:
    case 0x87:
    case 0x88:
    case 0x89:
    case 0x8a:
    case 0x8b:
    case 0xc0:
    case 0xc1: return !has_memory();
    case 0x8d: return has_memory();
    case 0x90:
    case 0x98:
    case 0x99:
    case 0xa8:
    case 0xa9: return true;
    case 0xc6:
    case 0xc7: return !has_memory() && operation == 0;
    case 0xf6:
    case 0xf7: return !has_memory() && operation < 6; // the others divide
    case 0xfe: return !has_memory() && operation < 2;
    default: return false;
    }
  }

  /// The same: conditional branches, moves and sets, extensions, multiplication, bits, and padding.
  bool computes_two_bytes() const {
    if (opcode_ >= 0x80 && opcode_ < 0x90) return true;
    if (opcode_ == 0x1f || (opcode_ >= 0xc8 && opcode_ < 0xd0)) return true;
    if (has_memory()) return false;
    if ((opcode_ >= 0x40 && opcode_ < 0x50) || (opcode_ >= 0x90 && opcode_ < 0xa0)) return true;
    constexpr std::array others{0xa3, 0xa4, 0xa5, 0xab, 0xac, 0xad, 0xaf, 0xb3,
                                0xb6, 0xb7, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf};
    return std::ranges::count(others, static_cast<int>(opcode_)) != 0;
  }

  /// Those that set up and remove frames; operands are 64 bits wide.
  Kind frame_kind() const {
    if (opcode_ >= 0x50 && opcode_ < 0x58) return Kind::push;
    const bool extends = rex_ & 7;
    if (opcode_ >= 0x58 && opcode_ < 0x60)
      return opcode_ == 0x5c && !(rex_ & 1) ? Kind::site : Kind::removal; // pop %rsp
    if (opcode_ == 0xc9) return Kind::removal;
    if ((rex_ & 8) == 0 || extends) return Kind::site;
    constexpr unsigned sp_by_number = 0xc4, sp_less_number = 0xec;
    if (opcode_ == 0x81 || opcode_ == 0x83) {
      if (modrm_ == sp_by_number) return by_sign(immediate_);
      return modrm_ == sp_less_number ? by_sign(-immediate_) : Kind::site;
    }
    if (opcode_ == 0x89) return modrm_ == 0xe5 ? Kind::setup : modrm_ == 0xec ? Kind::removal : Kind::site;
    if (opcode_ == 0x8b) return modrm_ == 0xec ? Kind::setup : modrm_ == 0xe5 ? Kind::removal : Kind::site;
    if (opcode_ != 0x8d) return Kind::site;
    // lea, with a displacement of one byte or four
    constexpr unsigned sp_alone = 0x24;
    if (modrm_ == 0x65 || modrm_ == 0xa5) return Kind::removal;
    if (sib_ != sp_alone) return Kind::site;
    if (modrm_ == 0x64 || modrm_ == 0xa4) return by_sign(displacement_);
    return modrm_ == 0x6c || modrm_ == 0xac ? Kind::setup : Kind::site;
  }

  std::span<const std::byte> bytes_;
  std::uint64_t address_;
  std::size_t at_ = 0;
  bool has_operand_size_ = false, has_address_size_ = false;
  bool has_other_ = false, has_repeat_ = false;
  bool failed_ = false;
  unsigned rex_ = 0, opcode_ = 0, modrm_ = 0, sib_ = 0;
  unsigned map_ = 0; ///< 1: of one byte, 2: 0f, 3: 0f 38, 4: 0f 3a; 0: a vector's
  char follows_ = '.';
  std::int64_t displacement_ = 0, immediate_ = 0;
};

} // namespace

SiteInstruction read_amd64(std::span<const std::byte> bytes, std::uint64_t address) {
  return Reading(bytes, address).read();
}

} // namespace sframe::shrink
