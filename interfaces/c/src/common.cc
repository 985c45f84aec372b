// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of sframe/c/common.h and version.h, and what all others use.

#include "guard.h"

#include "sframe/c/version.h"

#include "sframe/base/problem.h"
#include "sframe/remote/accessors.h"
#include "sframe/unwind/stop_reason.h"

namespace sframe::c {

namespace {

static_assert(std::string_view(SFRAME_C_VERSION_TEXT) == SFRAME_PROJECT_VERSION);
static_assert(SFRAME_C_VERSION == SFRAME_PROJECT_VERSION_NUMBER);

template <auto... reasons> constexpr bool same_reasons() {
  int number = 0;
  return ((static_cast<int>(reasons) == number++) && ...);
}
using enum unwind::StopReason;
static_assert(
    same_reasons<none, bottom, zero_pc, frame_limit, interrupted, no_rule, not_code, unreadable_memory,
                 unknown_register, bad_table, loop, frames_missing, cfa_not_growing, budget, other_mode>());
static_assert(SFRAME_REASON_OTHER_MODE == static_cast<int>(other_mode));

} // namespace

sframe_status report(sframe_error* error, std::string_view message, sframe_error what) {
  if (!error) return what.status;
  remote::copy_name(message, what.message); // truncated if too long
  fill(error, what);
  return what.status;
}

sframe_status report(sframe_error* error, sframe_status status, std::string_view message) {
  return report(error, message, {.status = status, .function = SFRAME_UNKNOWN, .row = SFRAME_UNKNOWN});
}

sframe_status report(sframe_error* error, const Error& what, const std::string& where) {
  static_assert(Error::none == SFRAME_UNKNOWN);
  if (!error) return SFRAME_BAD_TABLE;
  return report(
      error, where + to_problem(what).text(),
      {.status = SFRAME_BAD_TABLE, .function = what.function, .row = what.row, .offset = what.offset});
}

sframe_status copy_text(std::string_view text, char* buffer, std::size_t size) {
  const bool whole = remote::copy_name(text, std::span(buffer, size)) == remote::RemoteStatus::ok;
  return whole ? SFRAME_OK : SFRAME_NO_MEMORY;
}

sframe_status give_bytes(std::span<const std::byte> bytes, void** to, std::size_t* length) {
  *to = ::operator new(bytes.size());
  std::ranges::copy(bytes, static_cast<std::byte*>(*to));
  *length = bytes.size();
  return SFRAME_OK;
}

} // namespace sframe::c

const char* sframe_status_text(sframe_status status) {
  static constexpr const char* texts[] = {"no error",
                                          "unspecified error",
                                          "out of memory, or the buffer is too small",
                                          "invalid register, or its value is unknown",
                                          "the register cannot be written",
                                          "the callback requested the end",
                                          "the address is not in code",
                                          "invalid frame",
                                          "unsupported operation or invalid value",
                                          "invalid unwind information",
                                          "no unwind information",
                                          "the version of the format cannot represent it",
                                          "the file or memory cannot be read"};
  const auto number = static_cast<std::size_t>(status);
  return number < std::size(texts) ? texts[number] : "unknown error";
}

const char* sframe_reason_text(sframe_reason reason) {
  if (reason < SFRAME_REASON_NONE || reason > SFRAME_REASON_OTHER_MODE) return "unknown reason";
  return sframe::unwind::message(static_cast<sframe::unwind::StopReason>(reason));
}

void sframe_free(void* bytes) {
  ::operator delete(bytes);
}

uint32_t sframe_version(void) {
  return SFRAME_C_VERSION;
}

const char* sframe_version_text(void) {
  return SFRAME_C_VERSION_TEXT;
}
