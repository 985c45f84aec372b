// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: conversion between unw_proc_info_t and remote::ProcedureInfo. libunwind's structure has a member
// `extra` for the target's unwinder. The place of the rules is stored there, so that no allocation is
// needed.
//
// Include it after the header of a target: the structure is the same for all.

#pragma once

#include "sframe/remote/accessors.h"

#include <cstring>
#include <memory>
#include <type_traits>

namespace sframe::libunwind {

/// The contents of `extra`.
struct KeptRules {
  remote::ProcedureInfo::Rules rules;
  remote::CfiLocation cfi;
  unwind::SframeMatch sframe;
};
static_assert(std::is_trivially_copyable_v<KeptRules> && sizeof(KeptRules) <= sizeof(unw_tdep_proc_info_t));

inline int negated(remote::RemoteStatus status) {
  return -static_cast<int>(status);
}
inline remote::RemoteStatus status_of(int code) {
  return code < 0 ? static_cast<remote::RemoteStatus>(-static_cast<std::int64_t>(code))
                  : remote::RemoteStatus::ok;
}

/// Without rules if `format` is not one that this library sets, or `extra` is empty.
inline void from_c(const unw_proc_info_t& from, remote::ProcedureInfo& to) {
  to.start = from.start_ip;
  to.end = from.end_ip;
  to.lsda = from.lsda;
  to.handler = from.handler;
  to.gp = from.gp;
  to.flags = from.flags;
  const bool ours = from.format == UNW_INFO_FORMAT_TABLE || from.format == UNW_INFO_FORMAT_REMOTE_TABLE;
  if (!ours || from.unwind_info_size != static_cast<int>(sizeof(KeptRules))) return;
  KeptRules kept;
  std::memcpy(static_cast<void*>(&kept), &from.extra, sizeof kept);
  to.rules = kept.rules;
  to.cfi = kept.cfi;
  to.sframe = kept.sframe;
}

inline void to_c(const remote::ProcedureInfo& from, bool need_rules, unw_proc_info_t& to) {
  std::memset(&to, 0, sizeof to);
  to.start_ip = from.start;
  to.end_ip = from.end;
  to.lsda = from.lsda;
  to.handler = from.handler;
  to.gp = from.gp;
  to.format = from.cfi.host ? UNW_INFO_FORMAT_TABLE : UNW_INFO_FORMAT_REMOTE_TABLE;
  if (from.rules == remote::ProcedureInfo::Rules::cfi && from.cfi.kind == cfi::SectionKind::debug_frame)
    to.flags = UNW_PI_FLAG_DEBUG_FRAME;
  if (!need_rules) return;
  const KeptRules kept{from.rules, from.cfi, from.sframe};
  std::memcpy(&to.extra, &kept, sizeof kept);
  to.unwind_info_size = static_cast<int>(sizeof kept);
  to.unwind_info = reinterpret_cast<void*>(from.cfi.fde); // only checked for NULL by some callers
}

} // namespace sframe::libunwind
