// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libunwind's cursors. A remote::RemoteCursor is constructed inside the caller's unw_cursor_t and never
// destroyed, since libunwind has no call for that. Each function checks its arguments, converts the target's
// register number to DWARF's, and converts the result to libunwind's codes: unw_step() returns 1 after a
// step, 0 at the outermost frame, else a negative error. What differs between libunwind's targets (whether a
// frame without rules is the last one, which frames count as interrupted) is data in TargetRegisters.

#include "space.h"

#include <new>

using namespace sframe;
using libunwind::guarded;
using libunwind::negated;
using libunwind::UNW_TARGET::cursor_of;
using libunwind::UNW_TARGET::space_of;
using libunwind::UNW_TARGET::target_registers;
using remote::RemoteCursor;
using unwind::SaveLocation;

namespace {

/// The cursor's number of the register; nothing if it is not tracked.
std::optional<std::uint16_t> dwarf_of(const RemoteCursor& cursor, unw_regnum_t reg) {
  return target_registers().dwarf_of(reg, cursor.space().abi());
}

std::optional<std::uint64_t> value_of(const RemoteCursor& cursor, std::uint16_t reg) {
  const unwind::Registers& registers = cursor.frame().registers;
  return reg == unwind::pc_register ? std::optional(registers.pc) : registers.get(reg);
}

bool read_only(const RemoteCursor& cursor, std::uint16_t reg) {
  return reg == cursor.space().abi().sp;
}

} // namespace

int unw_init_remote(unw_cursor_t* cursor, unw_addr_space_t space, void* arg) {
  if (!cursor || !space) return -UNW_EINVAL;
  return guarded(
      [&] { return negated((new (cursor->opaque) RemoteCursor)->start(space_of(space).space, arg)); });
}

namespace {

int step(RemoteCursor& walk) {
  switch (walk.step()) {
  case unwind::StepStatus::stepped: return 1;
  case unwind::StepStatus::bottom: return negated(walk.status()); // 0, or the callback's request to stop
  default: break;
  }
  switch (walk.status()) {
  case remote::RemoteStatus::ok: return -UNW_EUNSPEC;
  case remote::RemoteStatus::no_info: return target_registers().unknown_is_last ? 0 : -UNW_ENOINFO;
  default: return negated(walk.status());
  }
}

int get_proc_info(const RemoteCursor& walk, unw_proc_info_t* info) {
  const auto& user = static_cast<libunwind::UNW_TARGET::UserAccessors&>(walk.space().accessors());
  const int result = unw_get_proc_info_by_ip(user.space(), walk.frame().lookup_pc(), info, walk.arg());
  if (result != -UNW_ENOINFO) return result;
  if (remote::ProcedureInfo registered; walk.find_procedure(registered) == remote::RemoteStatus::ok) {
    info->start_ip = registered.start;
    info->end_ip = registered.end;
    return 0;
  }
  if (!target_registers().unknown_is_last) return result;
  info->start_ip = walk.frame().registers.pc;
  info->end_ip = info->start_ip + 1;
  return 0;
}

} // namespace

int unw_step(unw_cursor_t* cursor) {
  return cursor ? guarded([&] { return step(cursor_of(cursor)); }) : -UNW_EINVAL;
}

int unw_resume(unw_cursor_t* cursor) {
  return cursor ? guarded([&] { return negated(cursor_of(cursor).resume()); }) : -UNW_EINVAL;
}

int unw_get_proc_info(unw_cursor_t* cursor, unw_proc_info_t* info) {
  if (!cursor || !info) return -UNW_EINVAL;
  return guarded([&] { return get_proc_info(cursor_of(cursor), info); });
}

int unw_get_proc_name(unw_cursor_t* cursor, char* buffer, size_t size, unw_word_t* offset) {
  if (!cursor || (!buffer && size)) return -UNW_EINVAL;
  return guarded([&] {
    std::uint64_t into = 0;
    const auto status = cursor_of(cursor).find_name(std::span(buffer, size), into);
    if (offset) *offset = into;
    return negated(status);
  });
}

int unw_get_reg(unw_cursor_t* cursor, unw_regnum_t reg, unw_word_t* value) {
  if (!cursor || !value) return -UNW_EINVAL;
  const RemoteCursor& walk = cursor_of(cursor);
  const auto number = dwarf_of(walk, reg);
  const auto known = number && !unw_is_fpreg(reg) ? value_of(walk, *number) : std::nullopt;
  if (!known) return -UNW_EBADREG;
  *value = *known;
  return 0;
}

int unw_set_reg(unw_cursor_t* cursor, unw_regnum_t reg, unw_word_t value) {
  if (!cursor) return -UNW_EINVAL;
  RemoteCursor& walk = cursor_of(cursor);
  const auto number = dwarf_of(walk, reg);
  if (!number || unw_is_fpreg(reg)) return -UNW_EBADREG;
  if (read_only(walk, *number)) return -UNW_EREADONLYREG;
  return guarded([&] { return negated(walk.set_register(*number, value)); });
}

int unw_get_fpreg(unw_cursor_t* cursor, unw_regnum_t reg, unw_fpreg_t* value) {
  if (!cursor || !value) return -UNW_EINVAL;
  const RemoteCursor& walk = cursor_of(cursor);
  const auto number = unw_is_fpreg(reg) ? dwarf_of(walk, reg) : std::nullopt;
  const auto known = number ? value_of(walk, *number) : std::nullopt;
  if (!known) return -UNW_EBADREG;
  *value = {};
  std::memcpy(value, &*known, sizeof *known);
  return 0;
}

int unw_set_fpreg(unw_cursor_t* cursor, unw_regnum_t reg, unw_fpreg_t value) {
  if (!cursor) return -UNW_EINVAL;
  RemoteCursor& walk = cursor_of(cursor);
  const auto number = unw_is_fpreg(reg) ? dwarf_of(walk, reg) : std::nullopt;
  if (!number) return -UNW_EBADREG;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return guarded([&] { return negated(walk.set_register(*number, bits)); });
}

int unw_get_save_loc(unw_cursor_t* cursor, unw_regnum_t reg, unw_save_loc_t* location) {
  if (!cursor || !location) return -UNW_EINVAL;
  const RemoteCursor& walk = cursor_of(cursor);
  const auto number = dwarf_of(walk, reg);
  if (!number) return -UNW_EBADREG;
  const SaveLocation found = walk.save_location(*number);
  std::memset(location, 0, sizeof *location);
  if (found.kind == SaveLocation::Kind::memory) {
    location->type = UNW_SLT_MEMORY;
    location->u.addr = found.where;
  } else if (found.kind == SaveLocation::Kind::reg) {
    location->type = UNW_SLT_REG;
    location->u.regnum = target_registers().number_of(static_cast<std::uint16_t>(found.where));
  }
  return 0;
}

int unw_is_signal_frame(unw_cursor_t* cursor) {
  if (!cursor) return -UNW_EINVAL;
  return guarded([&]() -> int {
    const RemoteCursor& walk = cursor_of(cursor);
    return target_registers().marks_interrupted ? walk.interrupted() : walk.peek().signal_frame;
  });
}
