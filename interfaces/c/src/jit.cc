// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of sframe/c/jit.h. On processors without lib/jit they are there, too.

#include "sframe/c/jit.h"

#include "guard.h"
#include "section.h"

#if SFRAME_HAS_HERE

#  include "sframe/jit/cfi.h"
#  include "sframe/jit/check.h"
#  include "sframe/jit/publishers.h"
#  include "sframe/jit/registry.h"

#  include <memory>
#  include <mutex>
#  include <optional>
#  include <vector>

using namespace sframe;

struct sframe_jit {
  // Publishers outlive the registry.
  jit::FrameRegistration frames;
  jit::GdbInterface gdb;
  std::mutex more_lock; ///< of those that are added later
  std::optional<jit::KernelRegistration> kernel;
  std::optional<jit::PerfMap> perf_map;
  std::optional<jit::JitDump> dump;
  jit::Registry registry;
};

struct sframe_jit_rows {
  jit::Rows rows;
};

namespace {

sframe_status report(sframe_error* error, const jit::Error& what) {
  if (what.kind == jit::ErrorKind::rows) return c::report_refusal(error, what.refusal);
  if (what.kind == jit::ErrorKind::malformed_cfi)
    return c::report(error, what.detail,
                     {.status = SFRAME_BAD_TABLE,
                      .function = SFRAME_UNKNOWN,
                      .row = SFRAME_UNKNOWN,
                      .offset = what.offset});
  if (what.kind == jit::ErrorKind::unrepresentable) return c::report(error, SFRAME_REFUSED, what.detail);
  const bool is_memory = what.kind == jit::ErrorKind::out_of_memory;
  return c::report(error, is_memory ? SFRAME_NO_MEMORY : SFRAME_INVALID, message(what.kind));
}

std::optional<std::vector<jit::SavedRegister>> take_saved(const sframe_jit_saved* saved, std::size_t count) {
  std::vector<jit::SavedRegister> all;
  if (!c::is_array(saved, count)) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    const auto one = c::take(c::element(saved, i), saved->size);
    if (!one || one->reg > UINT16_MAX) return std::nullopt;
    all.push_back({one->from, one->to, static_cast<std::uint16_t>(one->reg), one->cfa_offset});
  }
  return all;
}

/// False if the callback requests the end.
bool pass(const jit::Contradiction& one, sframe_jit_contradiction_callback callback, void* data) {
  const auto sized = [](const FrameRow& from) {
    sframe_row row = c::to_c(from);
    row.size = sizeof row;
    return row;
  };
  const sframe_row row = sized(one.row), right = one.right ? sized(*one.right) : sframe_row{};
  const sframe_jit_contradiction given = {
      .size = sizeof given, .offset = one.offset, .row = &row, .right = one.right ? &right : nullptr};
  return callback(&given, data) == 0;
}

/// Publishes to what `make` puts there, unless it returns an error.
template <class Publisher, class Make>
sframe_status publish(sframe_jit* jit, std::optional<Publisher> sframe_jit::*member, sframe_error* error,
                      const Make& make) {
  return c::guarded(error, [&] {
    const std::lock_guard guard(jit->more_lock);
    std::optional<Publisher>& publisher = jit->*member;
    if (publisher) return c::report(error, SFRAME_INVALID, "there is one already");
    try {
      const sframe_status status = make(publisher);
      if (status == SFRAME_OK)
        jit->registry.publish_to(*publisher);
      else
        publisher.reset();
      return status;
    } catch (...) { // not one that nobody publishes to
      publisher.reset();
      throw;
    }
  });
}

/// `more`: what the publisher needs besides the path.
template <class Publisher, class... More>
sframe_status publish_file(sframe_jit* jit, std::optional<Publisher> sframe_jit::*member, sframe_error* error,
                           const char* path, More... more) {
  if (!jit || !path) return c::report_null(error);
  return publish(jit, member, error, [&](std::optional<Publisher>& publisher) {
    publisher.emplace(path, more...);
    return publisher->is_open() ? SFRAME_OK
                                : c::report(error, SFRAME_UNREADABLE, "the file cannot be written");
  });
}

} // namespace

sframe_jit* sframe_jit_make(uint32_t readers, sframe_error* error) {
  return c::guarded_pointer(error, [&]() -> sframe_jit* {
    if (readers & ~std::uint32_t{SFRAME_JIT_FRAMES | SFRAME_JIT_GDB}) {
      c::report(error, SFRAME_INVALID, "unknown readers");
      return nullptr;
    }
    auto jit = std::make_unique<sframe_jit>();
    if (readers & SFRAME_JIT_FRAMES) jit->registry.publish_to(jit->frames);
    if (readers & SFRAME_JIT_GDB) jit->registry.publish_to(jit->gdb);
    return jit.release();
  });
}

void sframe_jit_free(sframe_jit* jit) {
  delete jit;
}

sframe_status sframe_jit_write_perf_map(sframe_jit* jit, const char* path, sframe_error* error) {
  return publish_file(jit, &sframe_jit::perf_map, error, path);
}

sframe_status sframe_jit_write_dump(sframe_jit* jit, const char* path, size_t room, sframe_error* error) {
  return publish_file(jit, &sframe_jit::dump, error, path, room);
}

sframe_status sframe_jit_register_with_kernel(sframe_jit* jit, long register_number, long unregister_number,
                                              sframe_error* error) {
  if (!jit) return c::report_null(error);
  return publish(jit, &sframe_jit::kernel, error, [&](std::optional<jit::KernelRegistration>& publisher) {
    publisher.emplace(register_number, unregister_number);
    return publisher->is_available()
               ? SFRAME_OK
               : c::report(error, SFRAME_NO_INFO, "the kernel does not have the system calls");
  });
}

sframe_jit_rows* sframe_jit_rows_make(const sframe_function* function, const sframe_row* rows,
                                      size_t num_rows, const sframe_jit_saved* saved, size_t num_saved,
                                      sframe_error* error) {
  if (!function || (!rows && num_rows) || (!saved && num_saved)) {
    c::report_null(error);
    return nullptr;
  }
  return c::guarded_pointer(error, [&]() -> sframe_jit_rows* {
    Fde fde;
    std::vector<FrameRow> taken;
    if (c::take_function(function, rows, num_rows, fde, taken, error) != SFRAME_OK) return nullptr;
    const auto registers = take_saved(saved, num_saved);
    if (!registers) {
      c::report_size(error);
      return nullptr;
    }
    auto made = jit::Rows::make(fde, taken, *registers);
    if (made) return new sframe_jit_rows{std::move(*made)};
    report(error, made.error());
    return nullptr;
  });
}

void sframe_jit_rows_free(sframe_jit_rows* rows) {
  delete rows;
}

sframe_status sframe_jit_read_eh_frame(const void* eh_frame, size_t size, uint64_t address,
                                       sframe_jit_function_callback callback, void* data,
                                       sframe_error* error) {
  if ((!eh_frame && size) || !callback) return c::report_null(error);
  return c::guarded(error, [&] {
    const auto functions = jit::read_eh_frame({static_cast<const std::byte*>(eh_frame), size}, address);
    if (!functions) return report(error, functions.error());
    for (const jit::CfiFunction& one : *functions) {
      sframe_jit_function given = {.size = sizeof given,
                                   .start = one.start,
                                   .length = one.size,
                                   .is_fit_for_exceptions = one.is_fit_for_exceptions};
      std::optional<sframe_jit_rows> rows;
      sframe_error problem = {.size = sizeof problem};
      if (one.rows) {
        given.rows = &rows.emplace(*one.rows);
      } else {
        report(&problem, one.rows.error());
        given.problem = problem.message;
      }
      if (callback(&given, data) != 0) return SFRAME_STOP;
    }
    return SFRAME_OK;
  });
}

sframe_status sframe_jit_check(const void* code, const sframe_jit_rows* rows, const sframe_row* entry,
                               sframe_jit_contradiction_callback callback, void* data, sframe_error* error) {
  if (!code || !rows) return c::report_null(error);
  return c::guarded(error, [&] {
    std::optional<FrameRow> entry_row;
    if (entry) {
      const auto taken = c::take(entry);
      if (!taken) return c::report_size(error);
      entry_row = c::from_c(*taken);
      if (!entry_row) return c::report(error, SFRAME_INVALID, "unknown kind of rule");
    }
    const jit::CheckResult result = jit::check(code, rows->rows, entry_row);
    if (callback)
      for (const jit::Contradiction& one : result.contradictions)
        if (!pass(one, callback, data)) return SFRAME_STOP;
    if (!result.contradictions.empty())
      return c::report(error, "the code contradicts its rows",
                       {.status = SFRAME_BAD_TABLE,
                        .function = SFRAME_UNKNOWN,
                        .row = SFRAME_UNKNOWN,
                        .offset = result.contradictions.front().offset});
    return result.agreed ? SFRAME_OK : c::report(error, SFRAME_NO_INFO, "no row can be confirmed");
  });
}

sframe_status sframe_jit_add(sframe_jit* jit, const void* start, const char* name,
                             const sframe_jit_rows* rows, sframe_jit_region* region, sframe_error* error) {
  if (!jit || !rows || !region) return c::report_null(error);
  return c::guarded(error, [&] {
    const auto added = jit->registry.add({start, name ? name : ""}, rows->rows);
    if (!added) return report(error, added.error());
    *region = {added->number, added->start};
    return SFRAME_OK;
  });
}

sframe_status sframe_jit_remove(sframe_jit* jit, const sframe_jit_region* region, sframe_error* error) {
  if (!jit || !region) return c::report_null(error);
  return c::guarded(error, [&] {
    const auto removed = jit->registry.remove({region->number, region->start});
    return removed ? SFRAME_OK : report(error, removed.error());
  });
}

sframe_status sframe_jit_drop(sframe_jit* jit, const sframe_jit_region* region, sframe_error* error) {
  if (!jit || !region) return c::report_null(error);
  return c::guarded(error, [&] {
    const auto dropped = jit->registry.drop({region->number, region->start});
    return dropped ? SFRAME_OK : report(error, dropped.error());
  });
}

sframe_status sframe_jit_move(sframe_jit* jit, sframe_jit_region* region, const void* start,
                              sframe_error* error) {
  if (!jit || !region) return c::report_null(error);
  return c::guarded(error, [&] {
    const auto moved = jit->registry.move({region->number, region->start}, start);
    if (!moved) return report(error, moved.error());
    *region = {moved->number, moved->start};
    return SFRAME_OK;
  });
}

sframe_status sframe_jit_patch(sframe_jit* jit, const sframe_jit_region* region, const sframe_jit_rows* rows,
                               sframe_error* error) {
  if (!jit || !region || !rows) return c::report_null(error);
  return c::guarded(error, [&] {
    const auto patched = jit->registry.patch({region->number, region->start}, rows->rows);
    return patched ? SFRAME_OK : report(error, patched.error());
  });
}

size_t sframe_jit_collect(sframe_jit* jit) {
  return jit ? jit->registry.collect() : 0;
}

#else

namespace {

sframe_status report_nothing(sframe_error* error) {
  return sframe::c::report(error, SFRAME_INVALID, "there is no support for this processor");
}

} // namespace

sframe_jit* sframe_jit_make(uint32_t, sframe_error* error) {
  report_nothing(error);
  return nullptr;
}
void sframe_jit_free(sframe_jit*) {}
sframe_status sframe_jit_write_perf_map(sframe_jit*, const char*, sframe_error* error) {
  return report_nothing(error);
}
sframe_status sframe_jit_write_dump(sframe_jit*, const char*, size_t, sframe_error* error) {
  return report_nothing(error);
}
sframe_status sframe_jit_register_with_kernel(sframe_jit*, long, long, sframe_error* error) {
  return report_nothing(error);
}
sframe_jit_rows* sframe_jit_rows_make(const sframe_function*, const sframe_row*, size_t,
                                      const sframe_jit_saved*, size_t, sframe_error* error) {
  report_nothing(error);
  return nullptr;
}
void sframe_jit_rows_free(sframe_jit_rows*) {}
sframe_status sframe_jit_read_eh_frame(const void*, size_t, uint64_t, sframe_jit_function_callback, void*,
                                       sframe_error* error) {
  return report_nothing(error);
}
sframe_status sframe_jit_check(const void*, const sframe_jit_rows*, const sframe_row*,
                               sframe_jit_contradiction_callback, void*, sframe_error* error) {
  return report_nothing(error);
}
sframe_status sframe_jit_add(sframe_jit*, const void*, const char*, const sframe_jit_rows*,
                             sframe_jit_region*, sframe_error* error) {
  return report_nothing(error);
}
sframe_status sframe_jit_remove(sframe_jit*, const sframe_jit_region*, sframe_error* error) {
  return report_nothing(error);
}
sframe_status sframe_jit_drop(sframe_jit*, const sframe_jit_region*, sframe_error* error) {
  return report_nothing(error);
}
sframe_status sframe_jit_move(sframe_jit*, sframe_jit_region*, const void*, sframe_error* error) {
  return report_nothing(error);
}
sframe_status sframe_jit_patch(sframe_jit*, const sframe_jit_region*, const sframe_jit_rows*,
                               sframe_error* error) {
  return report_nothing(error);
}
size_t sframe_jit_collect(sframe_jit*) {
  return 0;
}

#endif
