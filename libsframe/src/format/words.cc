// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "format/words.h"

namespace sframe::format {

WordMeaning word_meaning(const Version& version, const AbiTraits& abi, FdeType type, std::int8_t fixed_ra,
                         std::int8_t fixed_fp) {
  return {
      .abi = &abi,
      .flex = type == FdeType::flex,
      .fixed_ra = fixed_ra != 0,
      .fixed_fp = fixed_fp != 0,
      .zero_is_outermost = version.has_outermost_rows,
      .register_words = version.register_words && abi.register_words,
  };
}

} // namespace sframe::format
