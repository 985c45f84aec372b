// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the C boundary. Every function of sframe/c/walk.h that may allocate is wrapped by these functions,
// so that no exception of the library leaves it.

#pragma once

#include "process.h"

#include <exception>
#include <new>
#include <stdexcept>

namespace sframe::c {

/// Returns the current exception as a status. Exceptions not derived from std::exception are not the
/// library's (thread cancellation, for one) and are rethrown.
inline sframe_status report_exception(sframe_error* error) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return report(error, SFRAME_NO_MEMORY, "out of memory");
  } catch (const std::length_error&) {
    return report(error, SFRAME_NO_MEMORY, "out of memory");
  } catch (const std::exception& what) {
    return report(error, SFRAME_UNSPECIFIED, what.what());
  }
}

/// Returns the result of `body`, or the status of its exception.
template <class Body> sframe_status guarded(sframe_error* error, Body&& body) {
  try {
    return body();
  } catch (const std::exception&) {
    return report_exception(error);
  }
}

/// Returns the result of `body`, or nullptr.
template <class Body> auto guarded_pointer(sframe_error* error, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception&) {
    report_exception(error);
    return nullptr;
  }
}

/// For arguments that must not be NULL.
inline sframe_status report_null(sframe_error* error) {
  return report(error, SFRAME_INVALID, "a required argument is NULL");
}

} // namespace sframe::c
