// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ELF cores of FreeBSD on AMD64, as far as a stack walk needs them: the example for a format of cores. Notes
// have the owner "FreeBSD" (FreeBSD sys/sys/procfs.h, sys/user.h, sys/elf_common.h, sys/x86/include/reg.h):
//
//   NT_PRSTATUS          36 pr_cursig (4)   40 pr_pid (4): the thread   48 pr_reg: struct reg
//   NT_PRPSINFO          16 pr_fname[17]   33 pr_psargs[81]   116 pr_pid (4)
//   NT_PROCSTAT_VMMAP    0 size of a structure (4); kinfo_vmentry, each of its own size:
//                        0 its size (4)   8 start   16 end   24 file offset (8 each)   136 path,
//                        zero-terminated
//   NT_PROCSTAT_AUXV     0 size of an entry (4); pairs of type and value (8 each)

#include "register_layout.h"
#include "sframe/core/core_format.h"
#include "sframe/elf/llvm_types.h"
#include "sframe/elf/notes.h"

#include <utility>

namespace sframe::core {

namespace {

constexpr std::uint32_t nt_prstatus = 1, nt_prpsinfo = 3, nt_procstat_vmmap = 10, nt_procstat_auxv = 16;
constexpr std::byte os_abi_freebsd{9};
constexpr std::uint16_t machine_amd64 = 62;

/// struct reg: r15 to r8, rdi, rsi, rbp, rbx, rdx, rcx, rax; trap number, segments and error; rip, cs,
/// rflags, rsp, ss.
constexpr RegisterSlot registers[] = {{112, 0}, {96, 1},  {104, 2}, {88, 3}, {72, 4},   {64, 5},
                                      {80, 6},  {160, 7}, {56, 8},  {48, 9}, {40, 10},  {32, 11},
                                      {24, 12}, {16, 13}, {8, 14},  {0, 15}, {136, 16}, {152, 49}};
constexpr std::uint64_t pc_offset = 136, registers_size = 176, status_registers = 48;

class FreeBsdNotes {
public:
  explicit FreeBsdNotes(CoreData& core) : core_(core) {}

  void read(std::span<const std::byte> notes, std::uint64_t align) {
    elf::NoteCursor cursor(notes, core_.byte_order, align);
    while (const auto note = cursor.next()) {
      if (note->owner != "FreeBSD") continue;
      if (note->type == nt_prstatus) status(note->body);
      if (note->type == nt_prpsinfo) process(note->body);
      if (note->type == nt_procstat_vmmap) mappings(note->body);
      if (note->type == nt_procstat_auxv) auxiliary(note->body);
    }
    if (cursor.damaged()) report("note runs past the end of its segment");
  }

private:
  void report(const char* what) { core_.problems.push_back({what, {}, std::nullopt}); }
  template <class T> T at(std::span<const std::byte> body, std::size_t offset) const {
    return load<T>(body.data() + offset, core_.byte_order);
  }

  void status(std::span<const std::byte> body) {
    if (body.size() < status_registers + registers_size) return report("NT_PRSTATUS note is too short");
    CoreThread thread{
        at<std::uint32_t>(body, 40), static_cast<std::int32_t>(at<std::uint32_t>(body, 36)), {}};
    const auto saved = body.subspan(status_registers);
    for (const RegisterSlot& slot : registers)
      thread.registers.set(slot.dwarf, load_sized(saved.data() + slot.offset, slot.size, core_.byte_order));
    thread.registers.pc = at<std::uint64_t>(saved, pc_offset);
    core_.threads.push_back(thread);
  }

  void process(std::span<const std::byte> body) {
    if (body.size() < 120) return report("NT_PRPSINFO note is too short");
    core_.name = elf::string_at(body, 16, 17);
    core_.arguments = elf::string_at(body, 33, 81);
    core_.pid = at<std::uint32_t>(body, 116);
  }

  void mappings(std::span<const std::byte> body) {
    constexpr std::uint64_t path_offset = 136;
    std::uint64_t next = 4;
    while (next < body.size() && body.size() - next > path_offset) {
      const auto entry = body.subspan(next);
      const std::uint32_t size = at<std::uint32_t>(entry, 0);
      if (size <= path_offset || size > entry.size()) return report("NT_PROCSTAT_VMMAP note is damaged");
      elf::Mapping mapping{.start = at<std::uint64_t>(entry, 8),
                           .end = at<std::uint64_t>(entry, 16),
                           .file_offset = at<std::uint64_t>(entry, 24),
                           .path = elf::string_at(entry.first(size), path_offset, size)};
      if (mapping.path.starts_with('/') && mapping.start < mapping.end) core_.mappings.push_back(mapping);
      next += size;
    }
  }

  void auxiliary(std::span<const std::byte> body) {
    if (body.size() < 4) return;
    elf::TaggedValueCursor pairs(body.subspan(4), core_.byte_order);
    while (const auto pair = pairs.next()) core_.auxv.push_back(*pair);
  }

  CoreData& core_;
};

bool is_freebsd(std::span<const std::byte> file) {
  return elf::Image::is_elf(file) && file.size() > 7 && file[7] == os_abi_freebsd;
}

Result<CoreData> read_freebsd(std::span<const std::byte> file) {
  auto core = read_elf_core(file);
  if (!core) return core;
  if (core->machine != machine_amd64) return fail("core of FreeBSD on another machine than AMD64");
  FreeBsdNotes reader(*core);
  each_note_segment(*core, [&](auto notes, std::uint64_t align) { reader.read(notes, align); });
  return core;
}

} // namespace

const CoreFormat formats::freebsd = {is_freebsd, read_freebsd};

} // namespace sframe::core
