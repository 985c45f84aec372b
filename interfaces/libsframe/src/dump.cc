// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dump_sframe(): the listing of a whole section, as objdump prints it.

#include "contexts.h"

#include "sframe/listing/gnu.h"

#include <cstdio>
#include <string_view>

namespace sframe::gnu {

namespace {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout); // the program's own buffer, so that the order stays
}

} // namespace

} // namespace sframe::gnu

using namespace sframe::gnu;

void dump_sframe(const sframe_decoder_ctx* decoder, uint64_t addr) {
  if (!decoder) return;
  guarded([&] {
    const auto section = sframe::Section::parse(decoder->bytes, addr);
    if (!section) return SFRAME_ERR;
    sframe::listing::GnuListing listing(*section, print);
    listing.header();
    listing.index_heading();
    for (std::uint32_t i = 0; i < section->num_fdes(); ++i) {
      const auto fde = section->fde(i);
      if (!fde) break;
      auto rows = section->rows(*fde);
      if (listing.function(*fde, rows)) break;
    }
    return 0;
  });
}
