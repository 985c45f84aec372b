// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The texts of the error codes, from the list in sframe-api.h.

#include "sframe-api.h"

#include <cstring>

namespace {

constexpr const char* texts[] = {
#define _SFRAME_FIRST(name, text) text,
#define _SFRAME_ITEM(name, text) text,
    _SFRAME_ERRORS
#undef _SFRAME_ITEM
#undef _SFRAME_FIRST
};

} // namespace

const char* sframe_errmsg(int error) {
  const bool own = error >= SFRAME_ERR_BASE && error - SFRAME_ERR_BASE < SFRAME_ERR_NERR;
  return own ? texts[error - SFRAME_ERR_BASE] : std::strerror(error);
}
