// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the border to C. Every function of sframe/walk.h that may allocate goes through here: no exception
// of the library's own leaves it.

#pragma once

#include "process.h"

#include <exception>
#include <new>
#include <stdexcept>

namespace sframe::c {

/// The exception at hand as a status. What is not derived from std::exception is none of the library's (the
/// end of a thread, for one) and goes on.
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

/// What `body` returns, else the status of the exception that it throws.
template <class Body> sframe_status guarded(sframe_error* error, Body&& body) {
  try {
    return body();
  } catch (const std::exception&) {
    return report_exception(error);
  }
}

/// What `body` returns, else nullptr.
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
  return report(error, SFRAME_INVALID, "an argument is NULL that must not be");
}

} // namespace sframe::c
