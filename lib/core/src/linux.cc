// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ELF cores of Linux (core(5)): memory is in PT_LOAD segments, all else in notes (Linux
// include/uapi/linux/elfcore.h, fs/binfmt_elf.c). On all 64-bit machines:
//
//   NT_PRSTATUS      0 si_signo, si_code, si_errno (4 bytes each)   12 pr_cursig (2)   32 pr_pid (4)
//                    112 pr_reg: user_regs_struct
//   NT_PRPSINFO      24 pr_pid (4)   40 pr_fname[16]   56 pr_psargs[80]
//   NT_SIGINFO       0 si_signo (4)   4 si_errno (4)   8 si_code (4)   16 si_addr (8), or si_pid, si_uid (4
//   each)
//                    24 si_syscall (4)
//   NT_FILE          count, page size (8 each); count times start, end, file offset in pages (8 each);
//                    count paths, zero-terminated
//   NT_AUXV          pairs of type and value (8 each), ended by type 0
//   NT_FPREGSET      floating-point registers
//   NT_ARM_PAC_MASK  mask for data pointers, mask for code pointers (8 each)
//   NT_ARM_SVE, NT_ARM_SSVE  scalable vectors: a header with their length (abi/aarch64.cc), registers
//   NT_X86_SHSTK     the shadow stack pointer (8)
//   NT_ARM_GCS       features_enabled, features_locked, gcspr_el0 (8 each)
//
// The last six belong to the thread of the preceding NT_PRSTATUS. Those of the hardware's shadow stacks:
// Linux Documentation/arch/x86/shstk.rst, Documentation/arch/arm64/gcs.rst, include/uapi/linux/elf.h,
// arch/arm64/include/uapi/asm/ptrace.h (struct user_gcs).

#include "register_layout.h"
#include "sframe/bytes.h"
#include "sframe/core/core_format.h"
#include "sframe/elf/llvm_types.h"
#include "sframe/elf/notes.h"

#include <string_view>
#include <utility>

namespace sframe::core {

using namespace elf;

namespace {

constexpr std::uint32_t nt_prstatus = 1, nt_fpregset = 2, nt_prpsinfo = 3, nt_auxv = 6,
                        nt_siginfo = 0x53494749, nt_file = 0x46494c45, nt_x86_shstk = 0x204,
                        nt_arm_pac_mask = 0x406, nt_arm_gcs = 0x410;
constexpr std::uint64_t prstatus_registers = 112;

/// Reads the notes of a core into it.
class NoteReader {
public:
  /// `other_mode`: registers are as decode_lower_halves() reads them.
  NoteReader(CoreData& core, bool other_mode) : core_(core), other_mode_(other_mode) {}
  void read(std::span<const std::byte> notes, std::uint64_t align);

private:
  void status(std::span<const std::byte> body);
  void fp_registers(std::span<const std::byte> body);
  void process(std::span<const std::byte> body);
  void signal(std::span<const std::byte> body);
  void auxiliary(std::span<const std::byte> body);
  void files(std::span<const std::byte> body);
  void pac_mask(std::span<const std::byte> body);
  void vectors(std::span<const std::byte> body);
  void streaming_vectors(std::span<const std::byte> body);
  void vectors(std::span<const std::byte> body, VectorSet set, const char* what);
  void x86_shadow(std::span<const std::byte> body);
  void arm_shadow(std::span<const std::byte> body);
  void report(const char* what);

  CoreData& core_;
  bool other_mode_;
};

void NoteReader::report(const char* what) {
  core_.problems.push_back({what, {}, std::nullopt});
}

void NoteReader::read(std::span<const std::byte> notes, std::uint64_t align) {
  struct NoteHandler {
    std::string_view owner;
    std::uint32_t type;
    void (NoteReader::*read)(std::span<const std::byte>);
  };
  static constexpr NoteHandler handlers[] = {
      {"CORE", nt_prstatus, &NoteReader::status},
      {"CORE", nt_prpsinfo, &NoteReader::process},
      {"CORE", nt_siginfo, &NoteReader::signal},
      {"CORE", nt_auxv, &NoteReader::auxiliary},
      {"CORE", nt_file, &NoteReader::files},
      {"CORE", nt_fpregset, &NoteReader::fp_registers},
      {"LINUX", nt_arm_pac_mask, &NoteReader::pac_mask},
      {"LINUX", std::to_underlying(VectorSet::usual), &NoteReader::vectors},
      {"LINUX", std::to_underlying(VectorSet::streaming), &NoteReader::streaming_vectors},
      {"LINUX", nt_x86_shstk, &NoteReader::x86_shadow},
      {"LINUX", nt_arm_gcs, &NoteReader::arm_shadow},
  };
  static constexpr std::pair<std::string_view, std::string_view> systems[] = {
      {"NetBSD-CORE", "NetBSD"}, {"FreeBSD", "FreeBSD"}, {"OpenBSD", "OpenBSD"}};
  NoteCursor cursor(notes, core_.byte_order, align);
  while (auto note = cursor.next()) {
    for (const auto& [owner, system] : systems) // NetBSD's thread notes: "NetBSD-CORE@1"
      if (note->owner.starts_with(owner)) core_.other_system = system;
    for (const NoteHandler& reader : handlers)
      if (reader.type == note->type && reader.owner == note->owner) (this->*reader.read)(note->body);
  }
  if (cursor.damaged()) report("note runs past the end of its segment");
}

void NoteReader::status(std::span<const std::byte> body) {
  const ByteOrder order = core_.byte_order;
  if (body.size() < prstatus_registers) return report("NT_PRSTATUS note is too short");
  const auto decode = other_mode_ ? decode_lower_halves : decode_registers;
  auto registers = decode(core_.machine, order, body.subspan(prstatus_registers));
  if (!registers)
    return report(has_register_layout(core_.machine) ? "NT_PRSTATUS note is too short"
                                                     : "registers of this machine are not supported");
  core_.threads.push_back({load<std::uint32_t>(body.data() + 32, order),
                           static_cast<std::int16_t>(load<std::uint16_t>(body.data() + 12, order)),
                           *registers, 0, 0});
}

void NoteReader::fp_registers(std::span<const std::byte> body) {
  if (core_.threads.empty()) return;
  if (!decode_fp_registers(core_.machine, core_.byte_order, body, core_.threads.back().registers))
    report("NT_FPREGSET note is too short");
}

void NoteReader::process(std::span<const std::byte> body) {
  if (body.size() < 136) return report("NT_PRPSINFO note is too short");
  core_.pid = load<std::uint32_t>(body.data() + 24, core_.byte_order);
  core_.name = string_at(body, 40, 16);
  core_.arguments = string_at(body, 56, 80);
  // The kernel leaves a space at the end.
  while (core_.arguments.ends_with(' ')) core_.arguments.remove_suffix(1);
}

void NoteReader::signal(std::span<const std::byte> body) {
  const auto info = decode_signal_info(body, core_.byte_order);
  if (!info) return report("NT_SIGINFO note is too short");
  if (!core_.signal_info) // one per thread: the first is that of the crashed thread
    core_.signal_info = *info;
}

void NoteReader::auxiliary(std::span<const std::byte> body) {
  if (!core_.auxv.empty()) return;
  TaggedValueCursor pairs(body, core_.byte_order);
  while (const auto pair = pairs.next()) core_.auxv.push_back(*pair);
}

void NoteReader::files(std::span<const std::byte> body) {
  const ByteOrder order = core_.byte_order;
  if (!core_.mappings.empty()) return;
  auto count = load_at<std::uint64_t>(body, 0, order), page_size = load_at<std::uint64_t>(body, 8, order);
  if (!count || !page_size || *count > (body.size() - 16) / 24) return report("NT_FILE note is too short");
  std::uint64_t path_at = 16 + *count * 24;
  core_.mappings.reserve(*count);
  for (std::uint64_t i = 0; i < *count; ++i) {
    const std::byte* entry = body.data() + 16 + i * 24;
    if (path_at >= body.size()) return report("NT_FILE note has fewer paths than mappings");
    const std::string_view path = string_at(body, path_at, body.size());
    path_at += path.size() + 1;
    Mapping mapping{load<std::uint64_t>(entry, order), load<std::uint64_t>(entry + 8, order),
                    load<std::uint64_t>(entry + 16, order) * *page_size, path};
    if (mapping.start < mapping.end) core_.mappings.push_back(mapping);
  }
}

void NoteReader::pac_mask(std::span<const std::byte> body) {
  if (auto mask = load_at<std::uint64_t>(body, 8, core_.byte_order); mask && !core_.threads.empty())
    core_.threads.back().code_pac_mask = *mask;
}

void NoteReader::vectors(std::span<const std::byte> body, VectorSet set, const char* what) {
  if (core_.threads.empty()) return;
  RegisterValues& registers = core_.threads.back().registers;
  if (!decode_vector_length(set, core_.machine, core_.byte_order, body, registers)) report(what);
}

void NoteReader::vectors(std::span<const std::byte> body) {
  vectors(body, VectorSet::usual, "NT_ARM_SVE note is too short, or has an impossible vector length");
}

/// The kernel writes the notes of a thread in the order of their numbers.
void NoteReader::streaming_vectors(std::span<const std::byte> body) {
  vectors(body, VectorSet::streaming, "NT_ARM_SSVE note is too short, or has an impossible vector length");
}

void NoteReader::x86_shadow(std::span<const std::byte> body) {
  if (core_.threads.empty()) return;
  const auto pointer = load_at<std::uint64_t>(body, 0, core_.byte_order);
  if (!pointer) return report("NT_X86_SHSTK note is too short");
  core_.threads.back().hardware_shadow = *pointer;
}

/// The note is there for every thread if the processor has the feature; whether it was in use is a bit.
void NoteReader::arm_shadow(std::span<const std::byte> body) {
  if (core_.threads.empty()) return;
  constexpr std::uint64_t enabled = 1; // PR_SHADOW_STACK_ENABLE
  const auto features = load_at<std::uint64_t>(body, 0, core_.byte_order),
             pointer = load_at<std::uint64_t>(body, 16, core_.byte_order);
  if (!features || !pointer) return report("NT_ARM_GCS note is too short");
  if (*features & enabled) core_.threads.back().hardware_shadow = *pointer;
}

Result<CoreData> read_linux_core(std::span<const std::byte> file) {
  auto core = read_elf_core(file);
  if (!core) return core;
  const RegisterLayout* const layout = find_layout_of_mode(core->machine);
  if (layout) {
    core->machine = layout->machine;
    constexpr const char* what =
        "the process died in 32-bit code: the kernel has written 32 bits of each register, of all threads";
    core->problems.insert(core->problems.begin(), {what, {}, std::nullopt});
  }
  NoteReader reader(*core, layout != nullptr);
  each_note_segment(*core, [&](auto notes, std::uint64_t align) { reader.read(notes, align); });
  if (core->pid == 0 && !core->threads.empty()) core->pid = core->threads.front().tid;
  return core;
}

bool any_file(std::span<const std::byte>) {
  return true; // the last of the formats
}

} // namespace

const CoreFormat formats::linux_elf = {any_file, read_linux_core};

} // namespace sframe::core
