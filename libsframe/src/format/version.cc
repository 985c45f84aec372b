// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "format/version.h"

namespace sframe::format {

const Version* find_version(std::uint8_t number) {
  for (const Version* version : {&version1, &version2, &version3})
    if (version->number == number) return version;
  return nullptr;
}

void read_info(std::uint8_t byte, EncodedFde& fde) {
  fde.info = byte;
  fde.fre_type = static_cast<FreType>(byte & info::fre_type);
  fde.pc_type = byte & info::pc_mask ? PcType::mask : PcType::inc;
  fde.pauth_key = byte & info::key_b ? PauthKey::b : PauthKey::a;
}

std::uint8_t make_info(const EncodedFde& fde) {
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(fde.fre_type) | (fde.pc_type == PcType::mask ? info::pc_mask : 0) |
                                   (fde.pauth_key == PauthKey::b ? info::key_b : 0));
}

} // namespace sframe::format
