// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: common to the sources of this folder. They are compiled once per target, with its public header;
// all their names are in a namespace with the target's name.

#pragma once

#include SFRAME_TARGET_HEADER

#include "guard.h"
#include "proc_info.h"
#include "registers.h"

#include "sframe/remote/callback_space.h"
#include "sframe/remote/remote_cursor.h"

#define SFRAME_TARGET_REGISTERS UNW_PASTE(UNW_TARGET, _registers)

namespace sframe::libunwind::UNW_TARGET {

inline const TargetRegisters& target_registers() {
  return SFRAME_TARGET_REGISTERS();
}

/// The user's callbacks as accessors.
class UserAccessors final : public remote::Accessors {
public:
  UserAccessors(const unw_accessors_t& user, unw_addr_space_t space) : user(user), space_(space) {}

  remote::RemoteStatus find_procedure(std::uint64_t ip, bool need_rules, void* arg,
                                      remote::ProcedureInfo& info) override;
  void release_procedure(remote::ProcedureInfo& info, void* arg) override;
  remote::RemoteStatus find_dynamic_list(std::uint64_t& address, void* arg) override;
  remote::RemoteStatus access_memory(std::uint64_t address, std::uint64_t& value, bool write,
                                     void* arg) override;
  remote::RemoteStatus access_register(std::uint16_t reg, std::uint64_t& value, bool write,
                                       void* arg) override;
  remote::RemoteStatus resume(remote::RemoteCursor& cursor, void* arg) override;
  remote::RemoteStatus find_name(std::uint64_t address, std::span<char> buffer, std::uint64_t& offset,
                                 void* arg) override;

  unw_addr_space_t space() const { return space_; }

  unw_accessors_t user;

private:
  unw_addr_space_t space_;
};

/// What an unw_addr_space_t points to.
struct Space {
  Space(const unw_accessors_t& user, const AbiTraits& abi)
      : accessors(user, reinterpret_cast<unw_addr_space_t>(this)), space(accessors, abi) {}

  UserAccessors accessors;
  remote::CallbackSpace space;
};

inline Space& space_of(unw_addr_space_t space) {
  return *reinterpret_cast<Space*>(space);
}

static_assert(sizeof(remote::RemoteCursor) <= sizeof(unw_cursor_t));

/// The cursor stored in the user's structure.
inline remote::RemoteCursor& cursor_of(unw_cursor_t* cursor) {
  return *reinterpret_cast<remote::RemoteCursor*>(cursor->opaque);
}

} // namespace sframe::libunwind::UNW_TARGET
