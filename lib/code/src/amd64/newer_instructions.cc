// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions that Zydis 4.0 does not know and that current libraries use: vector instructions with a VEX
// prefix (AVX-IFMA, AVX-VNNI-INT8 and -INT16, AVX-NE-CONVERT, SHA512, SM3, SM4), and LKGS of kernels. None of
// them writes a general register, flags or memory, so the length is sufficient. (Intel SDM, volume 2,
// sections 2.1 and 2.3, and the instructions' own pages.)

#include "amd64/byte_reader.h"
#include "amd64/decoder.h"

namespace sframe::code::amd64 {
namespace {

/// Prefixes of VEX, as a mask of those that an opcode accepts.
enum : unsigned { np = 1, x66 = 2, xf3 = 4, xf2 = 8 };

struct Opcode {
  std::uint8_t map, opcode, prefixes;
};

constexpr Opcode opcodes[] = {
    {2, 0x50, np | xf3 | xf2},
    {2, 0x51, np | xf3 | xf2}, // vpdpb[su][su]d, ...ds
    {2, 0x72, xf3},            // vcvtneps2bf16
    {2, 0xb0, np | x66 | xf3 | xf2},
    {2, 0xb1, x66 | xf3}, // vcvtne[eo]..., vbcstne...
    {2, 0xb4, x66},
    {2, 0xb5, x66}, // vpmadd52luq, vpmadd52huq
    {2, 0xcb, xf2},
    {2, 0xcc, xf2}, // vsha512rnds2, vsha512msg1
    {2, 0xcd, xf2}, // vsha512msg2
    {2, 0xd2, np | x66 | xf3},
    {2, 0xd3, np | x66 | xf3},       // vpdpw[su][su]d, ...ds
    {2, 0xda, np | x66 | xf3 | xf2}, // vsm3msg1, vsm3msg2, vsm4key4, vsm4rnds4
    {3, 0xde, x66},                  // vsm3rnds2
};

bool is_known(unsigned map, unsigned opcode, unsigned prefix) {
  for (const Opcode& known : opcodes)
    if (known.map == map && known.opcode == opcode) return known.prefixes >> prefix & 1;
  return false;
}

bool is_segment_or_address_size(unsigned byte) {
  return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x64 || byte == 0x65 ||
         byte == 0x67;
}

bool skip_vex(ByteReader& reader) {
  const unsigned map = reader.next() & 0x1f, prefix = reader.next() & 3;
  if (!is_known(map, reader.next(), prefix)) return false;
  (void)read_modrm(reader);
  constexpr unsigned map_with_immediate = 3;
  if (map == map_with_immediate) reader.skip(1);
  return true;
}

/// LKGS: the descriptor table's opcode with a prefix. Loads a segment whose base user code does not see in FS
/// or GS.
bool skip_lkgs(ByteReader& reader) {
  constexpr unsigned rex_mask = 0xf0, rex = 0x40, lkgs = 6;
  if ((reader.peek() & rex_mask) == rex) reader.skip(1);
  if (reader.next() != 0x0f || reader.next() != 0x00) return false;
  return read_modrm(reader).reg == lkgs;
}

} // namespace

std::uint8_t length_of_newer_instruction(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  while (is_segment_or_address_size(reader.peek())) reader.skip(1);
  constexpr unsigned vex3 = 0xc4, repne = 0xf2;
  const unsigned first = reader.next();
  const bool known = first == vex3 ? skip_vex(reader) : first == repne && skip_lkgs(reader);
  return known ? reader.length() : 0;
}

} // namespace sframe::code::amd64
