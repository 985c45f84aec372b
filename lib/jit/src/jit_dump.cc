// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linux/tools/perf/Documentation/jitdump-specification.txt. For each region up to three records: source lines
// and unwinding data, which apply to the code of the next record, and the code. perf makes an ELF file of
// them, with the code at text_offset and .eh_frame after it, so that what .eh_frame refers to by distance is
// there, too.

#include "byte_writer.h"
#include "sframe/jit/eh_frame.h"
#include "sframe/jit/publishers.h"

#include <ctime>
#include <limits>
#include <new>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sframe::jit {

namespace {

constexpr std::uint32_t dump_magic = 0x4a695444, dump_version = 1, dump_header_size = 40, prefix_size = 16;
constexpr std::uint32_t code_load = 0, debug_info = 2, unwinding_info = 4; ///< records

std::uint64_t timestamp() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// An .eh_frame_hdr, with a table of one FDE, for the .eh_frame directly before it. perf's unwinders search
/// in the table only.
void write_eh_frame_hdr(ByteWriter& out, ByteOrder order, std::uint64_t eh_frame_address) {
  constexpr std::uint8_t relative4 = 0x1b, unsigned4 = 0x03, table4 = 0x3b; ///< DW_EH_PE_*
  const std::uint64_t header = out.size();
  const std::uint64_t fde = load<std::uint32_t>(out.bytes.data(), order) + 4; // after the CIE
  const std::uint64_t start_field = fde + 8;                                  // relative to its own place
  const bool has_fde = header >= start_field + 8;
  const std::uint64_t start =
      has_fde ? eh_frame_address + start_field + load<std::uint64_t>(out.bytes.data() + start_field, order)
              : 0;
  out.u8(1);
  out.u8(relative4);
  out.u8(unsigned4);
  out.u8(table4);
  out.u32(0 - (header + 4));
  out.u32(has_fde);
  if (!has_fde) return;
  out.u32(start - (eh_frame_address + header));
  out.u32(fde - header);
}

/// False if the record would be too large for its field.
bool start_record(ByteWriter& out, std::uint32_t id, std::uint64_t body) {
  if (body > std::numeric_limits<std::uint32_t>::max() - prefix_size) return false;
  out.u32(id);
  out.u32(prefix_size + body);
  out.u64(timestamp());
  return true;
}

bool write_unwinding_info(ByteWriter& out, const PublishedCode& code, std::size_t room) {
  const std::uint64_t after = align_up(code.rows.code_size(), 8);
  ByteWriter data(code.rows.abi().byte_order);
  data.append(make_eh_frame(0, code.rows, after));
  data.align(8);
  const std::size_t eh_frame_size = data.size();
  write_eh_frame_hdr(data, code.rows.abi().byte_order, after);
  if (!start_record(out, unwinding_info, 24 + data.size())) return false;
  out.u64(data.size());
  out.u64(data.size() - eh_frame_size);
  out.u64(data.size() <= room ? data.size() : 0); // mapped: perf takes addresses after the code for it
  out.append(data.bytes);
  return true;
}

/// Source lines, which apply to the code of the next record, too.
bool write_lines(ByteWriter& out, const PublishedCode& code) {
  if (code.lines.empty()) return true;
  std::uint64_t size = 16;
  for (const SourceLine& one : code.lines) size += 16 + one.file.size() + 1;
  if (!start_record(out, debug_info, size)) return false;
  out.u64(code.start);
  out.u64(code.lines.size());
  for (const SourceLine& one : code.lines) {
    out.u64(code.start + one.offset);
    out.u32(one.line);
    out.u32(0); // discriminator
    out.text(one.file);
  }
  return true;
}

bool write_code(ByteWriter& out, const PublishedCode& code, std::uint64_t number) {
  const std::uint64_t size = code.rows.code_size();
  if (!start_record(out, code_load, 40 + code.name.size() + 1 + size)) return false;
  out.u32(static_cast<std::uint32_t>(getpid()));
  out.u32(static_cast<std::uint32_t>(syscall(SYS_gettid)));
  out.u64(code.start);
  out.u64(code.start);
  out.u64(size);
  out.u64(number);
  out.text(code.name);
  out.append({reinterpret_cast<const std::byte*>(code.start), size});
  return true;
}

} // namespace

JitDump::JitDump(const std::string& path, std::size_t room) : file_(path), room_(room) {
  const AbiTraits& abi = traits(host_abi());
  ByteWriter out(abi.byte_order);
  out.u32(dump_magic);
  out.u32(dump_version);
  out.u32(dump_header_size);
  out.u32(abi.machine);
  out.u32(0);
  out.u32(static_cast<std::uint32_t>(getpid()));
  out.u64(timestamp());
  out.u64(0);
  if (!file_.write(out.bytes.data(), out.size())) return;
  // perf records the mapping, and finds the file by it.
  marker_ = mmap(nullptr, dump_header_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file_.descriptor(), 0);
  if (marker_ == MAP_FAILED) marker_ = nullptr;
}

JitDump::~JitDump() {
  if (marker_) munmap(marker_, dump_header_size);
}

bool JitDump::add(const PublishedCode& code) {
  try {
    ByteWriter out(code.rows.abi().byte_order);
    if (!write_lines(out, code) || !write_unwinding_info(out, code, room_) || !write_code(out, code, count_))
      return false;
    if (!file_.write(out.bytes.data(), out.size())) return false;
    ++count_;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// The format has no record for it; another region's record at the same addresses ends this one.
void JitDump::drop(const PublishedCode&) {}

} // namespace sframe::jit
