// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the owner of a target answers about it: the call-backs of libunwind's unw_create_addr_space(3), as a
// C++ interface. callback_space.h makes an address space of them; targets.h has ready ones for a thread
// stopped by ptrace(2) and for cores; the libunwind front (interfaces/libunwind) and the C interface
// (sframe/walk.h) are thin layers over this one.
//
// All words are in the host's byte order: whoever answers converts. `arg` is what the cursor was started
// with; one set of accessors can so serve many targets of one ABI. Accessors are called from whatever thread
// steps a cursor, also at the same time from several.

#pragma once

#include "sframe/abi.h"
#include "sframe/cfi/section.h"
#include "sframe/modules/tables.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/save_locations.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sframe::unwind {
class AddressSpace;
}

namespace sframe::modules {
class Module;
}

namespace sframe::remote {

class RemoteCursor;

/// How a question to a target went. The numbers are those of libunwind's unw_error_t, whose functions return
/// them negated; a number that is not in this list, from somebody else's call-back, is passed on as it is.
enum class RemoteStatus : int {
  ok = 0,
  unspecified = 1,
  no_memory = 2,
  bad_register = 3,
  read_only_register = 4,
  stop_unwind = 5, ///< the end of the chain of frames, as the answerer wants it
  invalid_ip = 6,
  bad_frame = 7,
  invalid = 8, ///< unsupported operation or bad value
  bad_version = 9,
  no_info = 10, ///< nothing is known of the address
};

/// Where the CFI of one procedure is: in the target's memory, or in a section that the host has.
struct CfiPlace {
  cfi::SectionKind kind = cfi::SectionKind::eh_frame;
  const std::byte* host = nullptr; ///< the section's bytes in this process; nullptr: it is in the target
  std::uint64_t size = 0;          ///< of the section, with `host`
  std::uint64_t section = 0;       ///< its address; not needed for .eh_frame in the target
  std::uint64_t fde = 0;           ///< address of the FDE's length field
  std::uint64_t bias = 0;          ///< what to add to addresses that the FDE tells
};

/// The place of an FDE in a section that the host has.
CfiPlace place_of(const cfi::Section& section, const cfi::Fde& fde, std::uint64_t bias);

/// What is known of a procedure. unw_get_proc_info(3) has the members up to `flags`.
struct ProcedureInfo {
  enum class Rules : std::uint8_t {
    none,   ///< they were not asked for, or are in a form that cannot be used
    cfi,    ///< `cfi` tells where
    sframe, ///< `sframe` is the row for the address that was asked for
  };
  std::uint64_t start = 0, end = 0; ///< in the target
  std::uint64_t lsda = 0;           ///< address of language-specific data, or 0
  std::uint64_t handler = 0;        ///< address of the personality routine, or 0
  std::uint64_t gp = 0;
  std::uint64_t flags = 0;
  Rules rules = Rules::none;
  CfiPlace cfi;
  unwind::SframeAnswer sframe;
  void* owner = nullptr; ///< for release_procedure(); nobody else touches it
};

class Accessors {
public:
  virtual ~Accessors() = default;

  /// What is known of the procedure around `ip`. Without `need_rules`, rules, cfi and sframe may be left out.
  /// What `info` points to must stay valid until release_procedure(). stop_unwind ends the walk as complete,
  /// no_info lets it go on by other means, and anything else ends it.
  virtual RemoteStatus find_procedure(std::uint64_t ip, bool need_rules, void* arg, ProcedureInfo& info) = 0;

  /// Called exactly once for each find_procedure() that was asked for rules and was ok.
  virtual void release_procedure(ProcedureInfo& info, void* arg) {
    static_cast<void>(info), static_cast<void>(arg);
  }

  /// The address of the list in which the target's program registers the code that it generates
  /// (_U_dyn_register(3)); 0 where there is none.
  virtual RemoteStatus find_dynamic_list(std::uint64_t& address, void* arg) {
    static_cast<void>(address), static_cast<void>(arg);
    return RemoteStatus::no_info;
  }

  /// Reads or writes the 8-byte word at `address`. Addresses are multiples of 8, except that a word that
  /// cannot be read is asked for a second time at the very address that is needed.
  virtual RemoteStatus access_memory(std::uint64_t address, std::uint64_t& value, bool write, void* arg) = 0;

  /// Reads many bytes at once, in the target's order; returns how many could be read from `address` on. 0
  /// stands for "cannot, or not like this": access_memory() is asked then.
  virtual std::size_t read_memory(std::uint64_t address, std::span<std::byte> out, void* arg) {
    static_cast<void>(address), static_cast<void>(out), static_cast<void>(arg);
    return 0;
  }

  /// Reads or writes a register of the stopped thread, by DWARF number or pc_register. Floating-point
  /// registers are asked for where functions keep general ones in them (s390x), by their 64 bits.
  virtual RemoteStatus access_register(std::uint16_t reg, std::uint64_t& value, bool write, void* arg) = 0;

  /// Lets the thread run on in the cursor's frame; registers and memory are as they have to be.
  virtual RemoteStatus resume(RemoteCursor& cursor, void* arg) {
    static_cast<void>(cursor), static_cast<void>(arg);
    return RemoteStatus::invalid;
  }

  /// The raw name of the procedure around `address`, ended by a zero byte and cut to the buffer (no_memory
  /// then), and how far into it the address is.
  virtual RemoteStatus find_name(std::uint64_t address, std::span<char> buffer, std::uint64_t& offset,
                                 void* arg) {
    static_cast<void>(address), static_cast<void>(buffer), static_cast<void>(offset), static_cast<void>(arg);
    return RemoteStatus::no_info;
  }

  // Beyond libunwind's, all optional:

  /// The module at the address, which must outlive the space: its SFrame sections and symbols are used where
  /// find_procedure() says no_info.
  virtual modules::Module* module_at(std::uint64_t address, void* arg) {
    static_cast<void>(address), static_cast<void>(arg);
    return nullptr;
  }

  /// Whether the address can be executed, for the steppers that guess. By default: whether it can be read.
  virtual bool is_code(std::uint64_t address, void* arg);

  /// As AddressSpace::code_address_mask().
  virtual std::uint64_t code_address_mask(const AbiTraits& abi, void* arg) {
    static_cast<void>(arg);
    constexpr std::uint64_t usual = (std::uint64_t{1} << 48) - 1; // what AArch64 Linux gives to programs
    return unwind::code_address_mask(abi, 0, usual);
  }
};

/// Puts a name into a buffer as find_name() wants it.
RemoteStatus give_name(std::string_view name, std::span<char> buffer);

/// A table as in .eh_frame_hdr: pairs of signed 4-byte numbers in the target's order and memory, sorted by
/// the first one, which is a procedure's start; the second is where its FDE is.
struct SearchTable {
  std::uint64_t address = 0;  ///< of the first pair
  std::uint64_t size = 0;     ///< bytes
  std::uint64_t ip_base = 0;  ///< starts count from here
  std::uint64_t fde_base = 0; ///< FDEs count from here
};

/// Finds the procedure around `ip` by a table, for find_procedure(). no_info where the table has none.
/// Logarithmic in the table, which is never read as a whole; what it leads to is checked.
RemoteStatus search(unwind::AddressSpace& target, const SearchTable& table, std::uint64_t ip,
                    ProcedureInfo& info);

/// The same where the FDE is known: start, end, language-specific data and personality of what is at `place`.
RemoteStatus describe_procedure(unwind::AddressSpace& target, const CfiPlace& place, std::uint64_t ip,
                                ProcedureInfo& info);

} // namespace sframe::remote
