// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "unpack_formats.h"

namespace sframe::test {

bool is_built_with(std::string_view format) {
#if SFRAME_HAVE_ZSTD
  if (format == "zstd") return true;
#endif
#if SFRAME_HAVE_LZMA
  if (format == "xz") return true;
#endif
#if SFRAME_HAVE_LZ4
  if (format == "lz4") return true;
#endif
#if SFRAME_HAVE_Z
  if (format == "gzip") return true;
#endif
  return false;
}

} // namespace sframe::test
