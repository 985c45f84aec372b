// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the C boundary. Every function of the interface that may allocate is wrapped by these functions,
// so that no exception of the library leaves it.
//
// Include it after the header of a target.

#pragma once

#include <exception>
#include <new>
#include <stdexcept>

namespace sframe::libunwind {

/// Returns the result of `body`, or its exception as a negated unw_error_t. Exceptions not derived from
/// std::exception are not the library's (thread cancellation, for one) and are rethrown.
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

/// Returns the result of `body`, or nullptr.
template <class Body> auto guarded_pointer(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception&) {
    return nullptr;
  }
}

} // namespace sframe::libunwind
