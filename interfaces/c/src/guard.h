// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the C boundary. Every function of sframe/c/ that may allocate is wrapped by these functions, so
// that no exception of the library leaves it.

#pragma once

#include "sized.h"

#include "sframe/error.h"

#include <exception>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sframe::c {

/// Fills in `error`, if there is one, with `what` and the message. Returns the status.
sframe_status report(sframe_error* error, std::string_view message, sframe_error what);

/// The same without a location.
sframe_status report(sframe_error* error, sframe_status status, std::string_view message);

/// The same for an error in a section, with its location. `where` comes before the message.
sframe_status report(sframe_error* error, const Error& what, const std::string& where = {});

/// For arguments that must not be NULL.
inline sframe_status report_null(sframe_error* error) {
  return report(error, SFRAME_INVALID, "a required argument is NULL");
}

/// For structs that is_sized(), is_array() or take() refuse.
inline sframe_status report_size(sframe_error* error) {
  return report(error, SFRAME_INVALID, "a struct has a wrong size, or members that this library lacks");
}

/// Copies a text to the caller's buffer; SFRAME_NO_MEMORY if it was truncated.
sframe_status copy_text(std::string_view text, char* buffer, std::size_t size);

/// Copies bytes to memory that the caller frees by sframe_free().
sframe_status give_bytes(std::span<const std::byte> bytes, void** to, std::size_t* length);

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

} // namespace sframe::c
