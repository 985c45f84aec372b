// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A core file: what the kernel (or a debugger) saved of a process.
//
// Each format has a file of its own that fills a CoreData: the ELF cores of Linux (src/linux.cc) and
// minidumps (src/minidump.cc). sframe/core_formats.def lists them. A Core adds what is the same for all
// formats: lookups by address, and the images among the mappings.
//
// Mapped memory is not always in the file: kernels leave out file-backed pages, and cores get truncated.
// Reading returns only bytes that are in the file. Minidumps have a selection of the memory.

#pragma once

#include "sframe/core/registers.h"
#include "sframe/core/signals.h"
#include "sframe/elf/image.h"
#include "sframe/elf/mapped_images.h"
#include "sframe/elf/tagged_values.h"

#include <cstdint>
#include <forward_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::core {

/// A thread, from its NT_PRSTATUS, or a minidump's list of threads.
struct CoreThread {
  std::uint32_t tid = 0;
  std::int32_t signal = 0;  ///< pr_cursig: the signal being delivered to the thread, or 0
  RegisterValues registers; ///< a lower half of each if the process died in 32-bit code of AMD64
  /// AArch64: the bits of a code pointer that hold its authentication code (NT_ARM_PAC_MASK); 0 if unknown.
  std::uint64_t code_pac_mask = 0;
  /// Where the processor keeps the thread's return addresses, if it does: the newest entry of its hardware
  /// shadow stack (AMD64: NT_X86_SHSTK; AArch64: NT_ARM_GCS). Any value; 0 if there is none.
  std::uint64_t hardware_shadow = 0;
  std::string_view name = {}; ///< only in minidumps; else empty. Valid as long as the Core.
};

/// An ELF image that was mapped: an executable, a library, the vdso.
struct CoreModule {
  std::string_view path;   ///< into the core; "[vdso]" for the vdso; "" for an image that no mapping names
  std::uint64_t start = 0; ///< of its first mapping
  std::uint64_t end = 0;   ///< of its last mapping
  std::uint64_t header_address = 0; ///< where its ELF header is mapped; 0 if it is not
  /// The difference between addresses in memory and in the file; nothing if the core lacks the page with the
  /// program headers (see BiasFinder).
  std::optional<std::uint64_t> bias;
  std::vector<std::byte> build_id;    ///< the linker's, else Go's; empty if the core does not have it
  std::vector<std::byte> go_build_id; ///< Go's, if the core has it
  /// The core has 16 bytes for each build ID: those after them are missing, and zeros follow a shorter one.
  bool build_id_cut = false;
  bool vdso = false;
  /// Only the program's entry point is known of the image: start and end are those of the contiguous memory
  /// mapped around it, and the file offset of its one mapping is unknown.
  bool assumed = false;
  /// The one mapping is what a minidump has of the image: its start and size.
  bool listed = false;
  bool main = false;                  ///< a minidump says that it is the program
  std::vector<elf::Mapping> mappings; ///< by address; one synthetic entry for the vdso
};

/// A contiguous range of the process's memory.
struct MemoryRange : AddressRange { ///< as mapped
  std::uint64_t present = 0;        ///< leading bytes that are in the file
  std::uint32_t flags = 0;          ///< pf_r, pf_w, pf_x
  std::uint64_t file_offset = 0;    ///< of the bytes that are present
};

/// What a format's reader takes from a file; Core's functions of the same names describe the parts. Views are
/// into `bytes` or `texts`.
struct CoreData {
  std::span<const std::byte> bytes; ///< the whole file
  std::optional<elf::Image> image;
  ByteOrder byte_order = ByteOrder::little;
  std::uint16_t machine = 0;
  std::vector<CoreThread> threads;
  std::uint32_t pid = 0;
  std::string_view name;
  std::string_view arguments;
  std::vector<std::string_view> command_line;
  std::optional<std::uint64_t> time;
  std::optional<SignalInfo> signal_info;
  std::vector<elf::Mapping> mappings;
  std::vector<elf::TaggedValue> auxv;
  std::vector<MemoryRange> memory; ///< by address
  bool has_permissions = true;
  /// The images that the file lists, by address and disjoint; in most formats they are found among the
  /// mappings.
  std::vector<CoreModule> listed_modules;
  std::string_view other_system;
  bool truncated = false;
  std::vector<Problem> problems;
  /// For views of what is not in `bytes`: elements never move.
  std::forward_list<std::string> texts;
};

class Core {
public:
  /// Reads headers and notes, or a minidump's streams. Fails if the bytes are no core of a known format;
  /// damaged notes and streams are left out and reported by problems(). `bytes` must outlive the Core. Linear
  /// in what is read, not in the memory.
  static Result<Core> parse(std::span<const std::byte> bytes);

  // Views and pointers that these return are valid as long as the Core.

  /// The core as an ELF image; nullptr for a minidump.
  const elf::Image* image() const { return data_.image ? &*data_.image : nullptr; }
  /// True if the file is a minidump: it has a selection of the memory. What is missing may have been changed
  /// since it was mapped.
  bool is_minidump() const { return !data_.image; }
  ByteOrder byte_order() const { return data_.byte_order; }
  std::uint16_t machine() const { return data_.machine; } ///< ELF e_machine; 0 if it is none of SFrame's
  /// nullptr if SFrame does not define the machine.
  const AbiTraits* abi() const { return find_abi(machine(), byte_order()); }

  /// The threads, in the file's order: the first is the one that crashed.
  std::span<const CoreThread> threads() const { return data_.threads; }

  std::uint32_t pid() const { return data_.pid; } ///< from NT_PRPSINFO, else the first thread's tid
  std::string_view process_name() const { return data_.name; }   ///< pr_fname: at most 16 bytes
  std::string_view arguments() const { return data_.arguments; } ///< pr_psargs: at most 80 bytes
  /// The arguments, apart; only in minidumps. At most max_arguments.
  std::span<const std::string_view> command_line() const { return data_.command_line; }
  static constexpr std::size_t max_arguments = 1024;
  /// When a minidump was written: seconds since 1970, UTC.
  std::optional<std::uint64_t> time() const { return data_.time; }
  const std::optional<SignalInfo>& signal_info() const { return data_.signal_info; }

  /// The signal that ended the process: from NT_SIGINFO, else from the first thread; 0 if there was none.
  std::int32_t signal() const;

  /// The mapped files, in the order of NT_FILE, or of a minidump's copy of /proc/PID/maps.
  std::span<const elf::Mapping> mappings() const { return data_.mappings; }
  /// The value of an entry of the auxiliary vector (AT_ENTRY 9, AT_SYSINFO_EHDR 33, ...), if present.
  std::optional<std::uint64_t> auxv(std::uint64_t type) const;
  /// All entries of the auxiliary vector, in their order, without the last one (AT_NULL).
  std::span<const elf::TaggedValue> auxiliary_vector() const { return data_.auxv; }

  /// False if the core has no permissions of the memory (a minidump of crashpad): then the flags of all
  /// ranges are 0, and only ranges with bytes in the file are known.
  bool has_permissions() const { return data_.has_permissions; }
  /// All memory, by address.
  std::span<const MemoryRange> memory() const { return data_.memory; }
  /// The mapped range that contains the address, or nullptr. Logarithmic.
  const MemoryRange* range_at(std::uint64_t address) const { return sframe::range_at(data_.memory, address); }

  /// Copies memory starting at `address`, across adjacent segments; returns how many bytes are in the file (0
  /// to out.size()).
  std::size_t read(std::uint64_t address, std::span<std::byte> out) const;
  /// The contiguous bytes from `address` to the end of its segment; empty if they are not in the file.
  std::span<const std::byte> bytes_at(std::uint64_t address) const;
  /// An 8-byte word in the core's byte order.
  std::optional<std::uint64_t> read_word(std::uint64_t address) const;

  /// The system whose kernel wrote the core, if its notes are not those of Linux: "NetBSD"; else empty. Then
  /// only memory can be read.
  std::string_view other_system() const { return data_.other_system; }

  /// True if the file is shorter than its segments require.
  bool truncated() const { return data_.truncated; }

  /// The mapped images, by address. Found by parse().
  std::span<const CoreModule> modules() const { return modules_; }
  /// The module with a mapping that contains the address, or nullptr. Logarithmic.
  const CoreModule* module_at(std::uint64_t address) const;

  /// What is damaged; usually empty.
  std::span<const Problem> problems() const { return data_.problems; }

private:
  explicit Core(CoreData data);

  CoreData data_;
  std::vector<CoreModule> modules_;
  /// Module mappings by address, for module_at().
  struct ModuleSpan : AddressRange {
    std::uint32_t module;
  };
  std::vector<ModuleSpan> module_spans_;
};

} // namespace sframe::core

#pragma GCC visibility pop
