// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of sframe/c/walk.h common to all processes.

#include "guard.h"

#include "sframe/elf/symbols.h"
#include "sframe/remote/accessors.h"

namespace sframe::c {

sframe_status report(sframe_error* error, sframe_status status, std::string_view message) {
  if (!error) return status;
  error->status = status;
  remote::copy_name(message, error->message); // truncated if too long
  return status;
}

void describe_end(const unwind::WalkEnd& from, sframe_end& to) {
  to.complete = from.complete;
  remote::copy_name(unwind::describe(from), to.reason);
}

} // namespace sframe::c

using namespace sframe;

sframe_status sframe_process::stop(sframe_error*) {
  return SFRAME_OK;
}
const char* sframe_process::module_path(std::uint64_t) {
  return nullptr;
}
sframe_status sframe_process::set_caching(sframe_caching) {
  return SFRAME_INVALID;
}
sframe_status sframe_process::flush(std::uint64_t, std::uint64_t) {
  return SFRAME_INVALID;
}

const char* sframe_status_text(sframe_status status) {
  static constexpr const char* texts[] = {"no error",
                                          "unspecified error",
                                          "out of memory, or the buffer is too small",
                                          "invalid register, or its value is unknown",
                                          "the register cannot be written",
                                          "the callback requested the end of the walk",
                                          "the address is not in code",
                                          "invalid frame",
                                          "unsupported operation or invalid value",
                                          "invalid unwind information",
                                          "no unwind information"};
  const auto number = static_cast<std::size_t>(status);
  return number < std::size(texts) ? texts[number] : "unknown error";
}

sframe_status sframe_stop(sframe_process* process, sframe_error* error) {
  if (!process) return c::report_null(error);
  return c::guarded(error, [&] { return process->stop(error); });
}

void sframe_resume(sframe_process* process) {
  if (process) c::guarded(nullptr, [&] { return process->resume(), SFRAME_OK; });
}

void sframe_close(sframe_process* process) {
  delete process;
}

const char* sframe_abi(const sframe_process* process) {
  return process ? process->abi().name.data() : nullptr; // a literal
}

size_t sframe_num_threads(const sframe_process* process) {
  return process ? process->num_threads() : 0;
}

sframe_status sframe_get_thread(const sframe_process* process, size_t number, sframe_thread* thread) {
  if (!thread || number >= sframe_num_threads(process)) return SFRAME_INVALID;
  *thread = process->thread(number);
  return SFRAME_OK;
}

namespace {

sframe_status walk_thread(sframe_process* process, std::size_t thread,
                          const sframe_process::Receiver& receiver, sframe_end* end, sframe_error* error) {
  if (thread >= process->num_threads())
    return c::report(error, SFRAME_INVALID, "no such thread, or the process is not stopped");
  sframe_end ignored;
  return process->walk(thread, receiver, end ? *end : ignored, error);
}

std::uint64_t lookup_pc(const sframe_frame& frame) {
  return frame.pc - (frame.pc_exact ? 0 : 1);
}

} // namespace

sframe_status sframe_walk(sframe_process* process, size_t thread, sframe_frame_callback callback, void* data,
                          sframe_end* end, sframe_error* error) {
  if (!process || !callback) return c::report_null(error);
  return c::guarded(error, [&] {
    return walk_thread(
        process, thread, [&](const sframe_frame& frame) { return callback(&frame, data) == 0; }, end, error);
  });
}

sframe_status sframe_walk_into(sframe_process* process, size_t thread, sframe_frame* frames, size_t capacity,
                               size_t* count, sframe_end* end, sframe_error* error) {
  if (count) *count = 0;
  if (!process || !count || (!frames && capacity)) return c::report_null(error);
  const auto keep = [&](const sframe_frame& frame) {
    if (*count == capacity) return false;
    frames[(*count)++] = frame;
    return true;
  };
  return c::guarded(error, [&] { return walk_thread(process, thread, keep, end, error); });
}

sframe_status sframe_function_name(sframe_process* process, const sframe_frame* frame, char* buffer,
                                   size_t size, uint64_t* offset) {
  if (!process || !frame || (!buffer && size)) return SFRAME_INVALID;
  return c::guarded(nullptr, [&] {
    std::string name;
    std::uint64_t into = 0;
    const auto status = process->name(lookup_pc(*frame), frame->pc, name, into);
    if (status != SFRAME_OK) return status;
    if (offset) *offset = into;
    const bool whole =
        remote::copy_name(elf::demangle(name), std::span(buffer, size)) == remote::RemoteStatus::ok;
    return whole ? SFRAME_OK : SFRAME_NO_MEMORY;
  });
}

const char* sframe_module_path(sframe_process* process, const sframe_frame* frame) {
  if (!process || !frame) return nullptr;
  return c::guarded_pointer(nullptr, [&] { return process->module_path(lookup_pc(*frame)); });
}

sframe_status sframe_set_caching(sframe_process* process, sframe_caching policy) {
  if (!process) return SFRAME_INVALID;
  return c::guarded(nullptr, [&] { return process->set_caching(policy); });
}

sframe_status sframe_flush(sframe_process* process, uint64_t first, uint64_t last) {
  if (!process) return SFRAME_INVALID;
  return c::guarded(nullptr, [&] { return process->flush(first, last); });
}
