// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of versions, and what versions 1 and 2 have in common.

#include "format/version.h"

namespace sframe {

namespace format {

namespace {

constexpr const Version* registry[] = {
#define SFRAME_DEFINE_VERSION(number) &version##number,
#include "sframe/versions.def"
};

} // namespace

const Version* find_version(std::uint8_t number) {
  for (const Version* version : registry)
    if (version->number == number) return version;
  return nullptr;
}

} // namespace format

const VersionTraits& traits(VersionNumber version) {
  return *find_version(static_cast<std::uint8_t>(version));
}

const VersionTraits* find_version(std::uint8_t number) {
  return format::find_version(number);
}

std::span<const VersionTraits* const> all_versions() {
  static constexpr const VersionTraits* all[] = {
#define SFRAME_DEFINE_VERSION(number) &format::version##number,
#include "sframe/versions.def"
  };
  return all;
}

namespace format {

void read_narrow_entry(const std::byte* entry, ByteOrder order, EncodedFde& out) {
  out.size = load<std::uint32_t>(entry + 4, order);
  out.fre_offset = load<std::uint32_t>(entry + 8, order);
  out.num_fres = load<std::uint32_t>(entry + 12, order);
  read_info(load<std::uint8_t>(entry + 16, order), out);
}

void write_narrow_entry(std::byte* entry, ByteOrder order, const FdeFields& fields) {
  store(entry, static_cast<std::int32_t>(fields.start), order);
  store(entry + 4, fields.fde.size, order);
  store(entry + 8, fields.fde.fre_offset, order);
  store(entry + 12, fields.fde.num_fres, order);
  store(entry + 16, make_info(fields.fde), order);
}

void swap_narrow_entry(std::byte* entry) {
  for (std::uint32_t at : {0, 4, 8, 12}) swap_bytes(entry + at, 4);
}

void read_info(std::uint8_t byte, EncodedFde& fde) {
  fde.info = byte;
  fde.fre_type = static_cast<FreType>(byte & info_bits::fre_type);
  fde.pc_type = byte & info_bits::pc_mask ? PcType::mask : PcType::inc;
  fde.pauth_key = byte & info_bits::pauth_key_b ? PauthKey::b : PauthKey::a;
}

std::uint8_t make_info(const EncodedFde& fde) {
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(fde.fre_type) |
                                   (fde.pc_type == PcType::mask ? info_bits::pc_mask : 0) |
                                   (fde.pauth_key == PauthKey::b ? info_bits::pauth_key_b : 0));
}

} // namespace format

} // namespace sframe
