// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A core file: what the kernel (or a debugger) kept of a process. Memory is in PT_LOAD segments, all else in
// notes: NT_PRSTATUS per thread, NT_PRPSINFO, NT_SIGINFO, NT_FILE, NT_AUXV (core(5), Linux fs/binfmt_elf.c
// for the layouts).
//
// Memory that was mapped and memory that is in the file are different things: kernels leave out file-backed
// pages, and cores get truncated. Reading gives only bytes that are in the file.

#pragma once

#include "sframe/elf/image.h"
#include "sframe/elf/registers.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::elf {

/// Types of the auxiliary vector's entries (getauxval(3)).
inline constexpr std::uint64_t at_phdr = 3, at_phnum = 5, at_entry = 9, at_execfn = 31, at_sysinfo_ehdr = 33;

/// A thread as its NT_PRSTATUS has it.
struct CoreThread {
  std::uint32_t tid = 0;
  std::int32_t signal = 0; ///< pr_cursig: the signal that the thread was taking, or 0
  Registers registers;
  /// AArch64: the bits of a code pointer that hold its authentication code (NT_ARM_PAC_MASK); 0 where
  /// unknown.
  std::uint64_t code_pac_mask = 0;
};

/// An entry of NT_FILE: a mapping of a file.
struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0; ///< bytes
  std::string_view path;         ///< into the core; may end in " (deleted)"
};

/// NT_SIGINFO.
struct SignalInfo {
  std::int32_t signal = 0;
  std::int32_t code = 0;
  std::uint64_t address = 0; ///< si_addr, for signals that have one
};

/// An ELF image that was mapped: an executable, a library, the vdso.
struct Module {
  std::string_view path;   ///< into the core; "[vdso]" for the vdso; "" for an image that no mapping names
  std::uint64_t start = 0; ///< of its first mapping
  std::uint64_t end = 0;   ///< of its last mapping
  std::uint64_t header_address = 0; ///< where its ELF header is mapped; 0 where it is not
  /// What to add to the file's addresses; nothing where the core lacks the page with the program headers (see
  /// bias_from_file()).
  std::optional<std::uint64_t> bias;
  std::vector<std::byte> build_id; ///< empty where the core does not have it
  bool vdso = false;
  /// Nothing tells of the image but the program's entry point: start and end are those of the memory that is
  /// mapped around it in a row, and the file offset of its one mapping is not known.
  bool assumed = false;
  std::vector<Mapping> mappings; ///< by address; one made-up entry for the vdso
};

/// A stretch of the process's memory.
struct MemoryRange {
  std::uint64_t address = 0;
  std::uint64_t size = 0;    ///< as it was mapped
  std::uint64_t present = 0; ///< leading bytes that are in the file
  std::uint32_t flags = 0;   ///< pf_r, pf_w, pf_x
};

class Core {
public:
  /// Reads headers and notes. Fails where the bytes are no ELF64 core; damaged notes are left out and told by
  /// problems(). `bytes` must outlive the Core. Linear in headers and notes.
  static Result<Core> parse(std::span<const std::byte> bytes);

  const Image& image() const { return image_; }
  ByteOrder byte_order() const { return image_.byte_order(); }
  std::uint16_t machine() const { return image_.machine(); }
  const AbiTraits* abi() const { return image_.abi(); }

  /// The threads, in the file's order: the first is the one that died.
  std::span<const CoreThread> threads() const { return threads_; }

  std::uint32_t pid() const { return pid_; } ///< of NT_PRPSINFO; the first thread's tid without it
  std::string_view process_name() const { return name_; }   ///< pr_fname: at most 15 bytes
  std::string_view arguments() const { return arguments_; } ///< pr_psargs: at most 79 bytes
  const std::optional<SignalInfo>& signal_info() const { return signal_info_; }

  /// The signal that ended the process: of NT_SIGINFO, else of the first thread; 0 where there was none.
  std::int32_t signal() const;

  std::span<const Mapping> mappings() const { return mappings_; }
  /// The value of an entry of the auxiliary vector (AT_ENTRY 9, AT_SYSINFO_EHDR 33, ...), where it is there.
  std::optional<std::uint64_t> auxv(std::uint64_t type) const;

  /// All memory, by address.
  std::span<const MemoryRange> memory() const { return memory_; }
  /// The range that the address was mapped in, or nullptr. Logarithmic.
  const MemoryRange* range_at(std::uint64_t address) const;

  /// Copies memory from `address` on; returns how many bytes are in the file (0 to out.size()), across
  /// neighbouring segments.
  std::size_t read(std::uint64_t address, std::span<std::byte> out) const;
  /// All bytes in a row from `address` on, as far as one segment goes; empty where they are not in the file.
  std::span<const std::byte> bytes_at(std::uint64_t address) const;
  /// An 8-byte word in the core's byte order.
  std::optional<std::uint64_t> read_word(std::uint64_t address) const;

  /// The system whose kernel wrote the core, where its notes are not those of Linux: "NetBSD"; else empty. Then
  /// memory is all that can be read.
  std::string_view other_system() const { return other_system_; }

  /// True where the file is shorter than its segments say.
  bool truncated() const { return truncated_; }

  /// The images mapped, by address. Made by parse().
  std::span<const Module> modules() const { return modules_; }
  /// The module that has a mapping for the address, or nullptr. Logarithmic.
  const Module* module_at(std::uint64_t address) const;

  /// What is damaged, usually nothing.
  std::span<const Problem> problems() const { return problems_; }

private:
  struct Stored {
    std::uint64_t file_offset;
  };
  explicit Core(Image image) : image_(std::move(image)) {}
  friend class NoteReader;
  friend class ModuleFinder;
  void index_memory();

  Image image_;
  std::vector<CoreThread> threads_;
  std::uint32_t pid_ = 0;
  std::string_view name_;
  std::string_view arguments_;
  std::optional<SignalInfo> signal_info_;
  std::vector<Mapping> mappings_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> auxv_;
  std::vector<MemoryRange> memory_;
  std::vector<Stored> stored_; ///< beside memory_
  std::vector<Module> modules_;
  /// Module mappings by address, for module_at().
  struct ModuleSpan {
    std::uint64_t start, end;
    std::uint32_t module;
  };
  std::vector<ModuleSpan> module_spans_;
  std::vector<Problem> problems_;
  std::string_view other_system_;
  bool truncated_ = false;
};

/// The bias of a module from the file on disk: by the PT_LOAD that holds the file offset of one of the
/// mappings. Nothing where no mapping fits the file.
std::optional<std::uint64_t> bias_from_file(const Image& file, std::span<const Mapping> mappings);

/// The name of a signal: "SIGSEGV"; "signal 77" for a number without a name.
std::string signal_name(std::int32_t signal);

} // namespace sframe::elf
