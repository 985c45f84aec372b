// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The models of the Linux kernel's and of glibc's readers (test/unit/reader_models.h) as readers to be
// tested: MODEL_LINUX or MODEL_GLIBC. They stand for programs that need another system to run.

#include "reader_models.h"
#include "sframe-conformance.h"

namespace {

using namespace sframe;
using namespace sframe::test;
using enum ReaderAnswer::Kind;

sframe_conformance_rule converted(const Rule& rule) {
  const auto kind = [&]() -> std::uint8_t {
    switch (rule.kind) {
    case Rule::Kind::same: return SFRAME_CONFORMANCE_SAME;
    case Rule::Kind::undefined: return SFRAME_CONFORMANCE_UNDEFINED;
    case Rule::Kind::fixed: return SFRAME_CONFORMANCE_FIXED;
    case Rule::Kind::value: return SFRAME_CONFORMANCE_VALUE;
    case Rule::Kind::stored: return SFRAME_CONFORMANCE_STORED;
    }
    return 0xff;
  }();
  return {kind, 0, rule.base, rule.offset};
}

int converted(const ReaderAnswer& found, sframe_conformance_answer& answer) {
  if (found.kind == rules) {
    answer.cfa = converted(found.row.cfa);
    answer.ra = converted(found.row.ra);
    answer.fp = converted(found.row.fp);
    return SFRAME_CONFORMANCE_ROW;
  }
  if (found.kind == breaks) __builtin_trap(); // the program would read elsewhere, or divide by zero
  return found.kind == refuses ? SFRAME_CONFORMANCE_REJECT : SFRAME_CONFORMANCE_NONE;
}

#ifdef MODEL_LINUX
constexpr std::uint8_t version = 3;
LinuxReader make(std::span<const std::byte> bytes, std::uint64_t address, const AbiTraits& abi) {
  return {bytes, address, abi, {0, ~std::uint64_t{0}}};
}
bool knows(const AbiTraits&) {
  return true;
}
#else
constexpr std::uint8_t version = 2;
GlibcReader make(std::span<const std::byte> bytes, std::uint64_t address, const AbiTraits& abi) {
  return {bytes, address, abi};
}
bool knows(const AbiTraits& abi) {
  return abi.id != Abi::s390x;
}
#endif

} // namespace

int sframe_conformance_find(const void* section, size_t size, uint64_t address, uint64_t pc,
                            sframe_conformance_answer* answer) {
  const std::span bytes(static_cast<const std::byte*>(section), size);
  const auto byte = [&](std::size_t at) { return std::to_integer<std::uint8_t>(bytes[at]); };
  if (size < 28) return SFRAME_CONFORMANCE_REJECT;
  // A reader is built for one ABI, and never sees a section of another one, or of the other byte order.
  const AbiTraits* abi = find_abi(byte(4));
  const bool is_big = byte(0) == 0xde && byte(1) == 0xe2, is_little = byte(0) == 0xe2 && byte(1) == 0xde;
  if (!is_big && !is_little) return SFRAME_CONFORMANCE_REJECT;
  if (!abi || !knows(*abi) || is_big != (abi->byte_order == ByteOrder::big) || byte(2) != version)
    return SFRAME_CONFORMANCE_UNSUPPORTED;
  const auto reader = make(bytes, address, *abi);
  return reader.accepts() ? converted(reader.find(pc), *answer) : SFRAME_CONFORMANCE_REJECT;
}
