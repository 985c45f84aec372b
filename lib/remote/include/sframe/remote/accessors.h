// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The owner's access to a target: the callbacks of libunwind's unw_create_addr_space(3), as a C++ interface.
// callback_space.h makes an address space from them; targets.h has ready ones for a thread stopped by
// ptrace(2) and for cores. The libunwind interface (interfaces/libunwind) and the C interface
// (sframe/c/walk.h) are thin layers over this one.
//
// All words are in the host's byte order: accessors convert. `arg` is the argument with which the cursor was
// started, so one set of accessors can serve many targets of one ABI. Accessors are called from any thread
// that steps a cursor, possibly from several at once.

#pragma once

#include "sframe/abi.h"
#include "sframe/cfi/section.h"
#include "sframe/modules/tables.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/save_locations.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::unwind {
class AddressSpace;
}

namespace sframe::modules {
class Module;
}

namespace sframe::remote {

class RemoteCursor;

/// The result of an accessor. The numbers are those of libunwind's unw_error_t, whose functions return them
/// negated; a number not in this list, from a user's callback, is passed on.
enum class RemoteStatus : int {
  ok = 0,
  unspecified = 1,
  no_memory = 2,
  bad_register = 3,
  read_only_register = 4,
  stop_unwind = 5, ///< the callback requests the end of the chain of frames
  invalid_ip = 6,
  bad_frame = 7,
  invalid = 8, ///< unsupported operation or bad value
  bad_version = 9,
  no_info = 10, ///< no information for the address
};

/// The CFI of one procedure: in the target's memory, or in a section that the host has.
struct CfiLocation {
  cfi::SectionKind kind = cfi::SectionKind::eh_frame;
  const std::byte* host = nullptr; ///< the section's bytes in this process; nullptr: it is in the target
  std::uint64_t size = 0;          ///< of the section, with `host`
  std::uint64_t section = 0;       ///< its address; not needed for .eh_frame in the target
  std::uint64_t fde = 0;           ///< address of the FDE's length field
  std::uint64_t bias = 0;          ///< added to addresses in the FDE
};

/// Describes an FDE in a section that the host has.
CfiLocation location_of(const cfi::CfiSection& section, const cfi::Fde& fde, std::uint64_t bias);

/// Information on a procedure. unw_get_proc_info(3) returns the members up to `flags`.
struct ProcedureInfo {
  enum class Rules : std::uint8_t {
    none,   ///< not requested, or not in a usable form
    cfi,    ///< `cfi` has their place
    sframe, ///< `sframe` is the row for the requested address
  };
  std::uint64_t start = 0, end = 0; ///< in the target
  std::uint64_t lsda = 0;           ///< address of language-specific data, or 0
  std::uint64_t handler = 0;        ///< address of the personality routine, or 0
  std::uint64_t gp = 0;
  std::uint64_t flags = 0;
  Rules rules = Rules::none;
  CfiLocation cfi;
  unwind::SframeMatch sframe;
  void* owner = nullptr; ///< for release_procedure(); not used otherwise
};

class Accessors {
public:
  virtual ~Accessors() = default;

  /// Information on the procedure that contains `ip`. Without `need_rules`, rules, cfi and sframe may be
  /// omitted. What `info` points to must stay valid until release_procedure(). stop_unwind ends the walk as
  /// complete, no_info continues it by other means, any other failure ends it.
  virtual RemoteStatus find_procedure(std::uint64_t ip, bool need_rules, void* arg, ProcedureInfo& info) = 0;

  /// Called exactly once for each find_procedure() with `need_rules` that returned ok.
  virtual void release_procedure(ProcedureInfo& info, void* arg) {
    static_cast<void>(info), static_cast<void>(arg);
  }

  /// The address of the list in which the target's program registers generated code (_U_dyn_register(3)); 0
  /// if there is none.
  virtual RemoteStatus find_dynamic_list(std::uint64_t& address, void* arg) {
    static_cast<void>(address), static_cast<void>(arg);
    return RemoteStatus::no_info;
  }

  /// Reads or writes the 8-byte word at `address`. Addresses are multiples of 8, except when such a word
  /// cannot be read: then the exact address needed is tried, too.
  virtual RemoteStatus access_memory(std::uint64_t address, std::uint64_t& value, bool write, void* arg) = 0;

  /// Reads many bytes at once, in the target's order; returns the number of bytes read from `address`. After
  /// 0 (not possible, or not supported), access_memory() is used.
  virtual std::size_t read_memory(std::uint64_t address, std::span<std::byte> out, void* arg) {
    static_cast<void>(address), static_cast<void>(out), static_cast<void>(arg);
    return 0;
  }

  /// Reads or writes a register of the stopped thread, by DWARF number or pc_register. Floating-point
  /// registers are read, as 64 bits, if functions save general registers in them (s390x).
  virtual RemoteStatus access_register(std::uint16_t reg, std::uint64_t& value, bool write, void* arg) = 0;

  /// Resumes the thread in the cursor's frame; registers and memory are already set.
  virtual RemoteStatus resume(RemoteCursor& cursor, void* arg) {
    static_cast<void>(cursor), static_cast<void>(arg);
    return RemoteStatus::invalid;
  }

  /// The raw name of the procedure that contains `address`, zero-terminated and truncated to the buffer
  /// (then no_memory), and the offset of `address` in it.
  virtual RemoteStatus find_name(std::uint64_t address, std::span<char> buffer, std::uint64_t& offset,
                                 void* arg) {
    static_cast<void>(address), static_cast<void>(buffer), static_cast<void>(offset), static_cast<void>(arg);
    return RemoteStatus::no_info;
  }

  // Not in libunwind; all optional:

  /// The module at the address, which must outlive the space: its SFrame sections and symbols are used if
  /// find_procedure() returns no_info.
  virtual modules::Module* module_at(std::uint64_t address, void* arg) {
    static_cast<void>(address), static_cast<void>(arg);
    return nullptr;
  }

  /// Whether the address is executable, for heuristic steppers. The default: whether it can be read.
  virtual bool is_code(std::uint64_t address, void* arg);

  /// As AddressSpace::code_address_mask(). The default: that of an address space of usual size.
  virtual std::uint64_t code_address_mask(const AbiTraits& abi, void* arg) {
    static_cast<void>(arg);
    return unwind::code_address_mask(abi, 0, std::nullopt);
  }

  /// VG of the stopped thread (unwind::Registers::vector_granule), on machines that have it; 0: unknown, as
  /// by default.
  virtual std::uint64_t vector_granule(void* arg) {
    static_cast<void>(arg);
    return 0;
  }
};

/// Copies a name to a buffer, as find_name() requires.
RemoteStatus copy_name(std::string_view name, std::span<char> buffer);

/// A table as in .eh_frame_hdr: pairs of signed 4-byte integers in the target's byte order and memory. The
/// first one is a procedure's start, by which pairs are sorted; the second is the place of its FDE.
struct SearchTable {
  std::uint64_t address = 0;  ///< of the first pair
  std::uint64_t size = 0;     ///< bytes
  std::uint64_t ip_base = 0;  ///< base of starts
  std::uint64_t fde_base = 0; ///< base of FDE places
};

/// Finds the procedure that contains `ip` by a table, for find_procedure(). no_info if the table has none.
/// Logarithmic in the table's size: it is never read completely; the FDE found is checked.
RemoteStatus search(unwind::AddressSpace& target, const SearchTable& table, std::uint64_t ip,
                    ProcedureInfo& info);

/// The same for a known FDE: start, end, language-specific data and personality of the one at `place`.
RemoteStatus describe_procedure(unwind::AddressSpace& target, const CfiLocation& location, std::uint64_t ip,
                                ProcedureInfo& info);

} // namespace sframe::remote

#pragma GCC visibility pop
