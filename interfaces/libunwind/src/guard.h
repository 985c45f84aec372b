// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the border to C. Every function of the interface that may allocate goes through here: no exception
// of the library's own leaves it.
//
// Included where a header of a target has been.

#pragma once

#include <exception>
#include <new>
#include <stdexcept>

namespace sframe::front {

/// What `body` returns, else the exception that it throws as a negated unw_error_t. What is not derived from
/// std::exception is none of the library's (the end of a thread, for one) and goes on.
template <class Body> int guarded(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return -UNW_ENOMEM;
  } catch (const std::length_error&) {
    return -UNW_ENOMEM;
  } catch (const std::exception&) {
    return -UNW_EUNSPEC;
  }
}

/// What `body` returns, else nullptr.
template <class Body> auto guarded_pointer(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception&) {
    return nullptr;
  }
}

} // namespace sframe::front
