// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libunwind's address spaces: unw_create_addr_space(3), the functions that take a space, and the user's
// callbacks (unw_accessors_t) as remote::Accessors. Any callback may be missing: the error is then the one
// that libunwind returns. The only allocations are the space itself and, for one lookup, the user's
// unw_proc_info_t, which put_unwind_info() gets back.

#include "space.h"

#include <endian.h>

namespace sframe::libunwind::UNW_TARGET {

using remote::RemoteStatus;

RemoteStatus UserAccessors::find_procedure(std::uint64_t ip, bool need_rules, void* arg,
                                           remote::ProcedureInfo& info) {
  if (!user.find_proc_info) return RemoteStatus::no_info;
  auto given = std::make_unique<unw_proc_info_t>();
  std::memset(given.get(), 0, sizeof *given);
  const auto status = status_of(user.find_proc_info(space_, ip, given.get(), need_rules, arg));
  if (status != RemoteStatus::ok) return status;
  from_c(*given, info);
  if (need_rules) info.owner = given.release(); // for put_unwind_info()
  return status;
}

void UserAccessors::release_procedure(remote::ProcedureInfo& info, void* arg) {
  const std::unique_ptr<unw_proc_info_t> given(static_cast<unw_proc_info_t*>(info.owner));
  if (user.put_unwind_info) user.put_unwind_info(space_, given.get(), arg);
}

RemoteStatus UserAccessors::find_dynamic_list(std::uint64_t& address, void* arg) {
  if (!user.get_dyn_info_list_addr) return RemoteStatus::no_info;
  return status_of(user.get_dyn_info_list_addr(space_, &address, arg));
}

RemoteStatus UserAccessors::access_memory(std::uint64_t address, std::uint64_t& value, bool write,
                                          void* arg) {
  if (!user.access_mem) return RemoteStatus::invalid;
  return status_of(user.access_mem(space_, address, &value, write, arg));
}

// The type of floating-point registers differs between targets, but there is only one _UCD_access_fpreg() and
// one _UPT_access_fpreg(), which use the first 8 bytes: UBSan takes the call for one of another function.
#ifdef __clang__
[[clang::no_sanitize("function")]]
#endif
RemoteStatus
UserAccessors::access_register(std::uint16_t reg, std::uint64_t& value, bool write, void* arg) {
  const int number = target_registers().number_of(reg);
  if (!target_registers().is_fp(number)) {
    if (!user.access_reg) return RemoteStatus::invalid;
    return status_of(user.access_reg(space_, number, &value, write, arg));
  }
  // If a floating-point register holds a general one, its value is in the first 8 bytes.
  if (!user.access_fpreg) return RemoteStatus::bad_register;
  unw_fpreg_t wide{};
  static_assert(sizeof wide >= sizeof value);
  if (write) std::memcpy(&wide, &value, sizeof value);
  const auto status = status_of(user.access_fpreg(space_, number, &wide, write, arg));
  if (!write) std::memcpy(&value, &wide, sizeof value);
  return status;
}

RemoteStatus UserAccessors::resume(remote::RemoteCursor& cursor, void* arg) {
  if (!user.resume) return RemoteStatus::invalid;
  return status_of(user.resume(space_, reinterpret_cast<unw_cursor_t*>(&cursor), arg));
}

RemoteStatus UserAccessors::find_name(std::uint64_t address, std::span<char> buffer, std::uint64_t& offset,
                                      void* arg) {
  if (!user.get_proc_name) return RemoteStatus::no_info;
  return status_of(user.get_proc_name(space_, address, buffer.data(), buffer.size(), &offset, arg));
}

} // namespace sframe::libunwind::UNW_TARGET

using namespace sframe;
using libunwind::UNW_TARGET::Space;
using libunwind::UNW_TARGET::space_of;
using libunwind::UNW_TARGET::target_registers;

unw_addr_space_t unw_create_addr_space(unw_accessors_t* accessors, int byte_order) {
  const libunwind::TargetRegisters& target = target_registers();
  if (byte_order == 0) byte_order = target.default_order == ByteOrder::big ? __BIG_ENDIAN : __LITTLE_ENDIAN;
  const AbiTraits* abi = byte_order == __BIG_ENDIAN      ? target.big
                         : byte_order == __LITTLE_ENDIAN ? target.little
                                                         : nullptr;
  if (!abi || !accessors) return nullptr;
  return libunwind::guarded_pointer(
      [&] { return reinterpret_cast<unw_addr_space_t>(new Space(*accessors, *abi)); });
}

void unw_destroy_addr_space(unw_addr_space_t space) {
  delete reinterpret_cast<Space*>(space);
}

unw_accessors_t* unw_get_accessors(unw_addr_space_t space) {
  return space ? &space_of(space).accessors.user : nullptr;
}

int unw_set_caching_policy(unw_addr_space_t space, unw_caching_policy_t policy) {
  static_assert(UNW_CACHE_NONE == static_cast<int>(remote::CachingPolicy::none) &&
                UNW_CACHE_GLOBAL == static_cast<int>(remote::CachingPolicy::global) &&
                UNW_CACHE_PER_THREAD == static_cast<int>(remote::CachingPolicy::per_thread));
  if (!space || policy < UNW_CACHE_NONE || policy > UNW_CACHE_PER_THREAD) return -UNW_EINVAL;
  return libunwind::guarded([&] {
    space_of(space).space.set_caching(static_cast<remote::CachingPolicy>(policy));
    return 0;
  });
}

int unw_set_cache_size(unw_addr_space_t space, size_t entries, int flags) {
  if (!space || flags != 0) return -UNW_EINVAL;
  return libunwind::guarded([&] {
    space_of(space).space.set_cache_size(entries);
    return 0;
  });
}

void unw_flush_cache(unw_addr_space_t space, unw_word_t first, unw_word_t last) {
  if (space) space_of(space).space.flush(first, last); // does not allocate
}

int unw_get_proc_info_by_ip(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t* info, void* arg) {
  if (!space || !info) return -UNW_EINVAL;
  std::memset(info, 0, sizeof *info);
  const unw_accessors_t& user = space_of(space).accessors.user;
  return user.find_proc_info ? user.find_proc_info(space, ip, info, 0, arg) : -UNW_ENOINFO;
}

int unw_is_fpreg(unw_regnum_t reg) {
  return target_registers().is_fp(reg);
}

const char* unw_regname(unw_regnum_t reg) {
  return target_registers().name(reg);
}

const char* unw_strerror(int code) {
  static constexpr const char* texts[] = {"no error",
                                          "unspecified (general) error",
                                          "out of memory",
                                          "bad register number",
                                          "attempt to write read-only register",
                                          "stop unwinding",
                                          "invalid IP",
                                          "bad frame",
                                          "unsupported operation or bad value",
                                          "unwind info has unsupported version",
                                          "no unwind info found"};
  const unsigned number = code < 0 ? 0U - static_cast<unsigned>(code) : static_cast<unsigned>(code);
  return number < std::size(texts) ? texts[number] : "invalid error code";
}
