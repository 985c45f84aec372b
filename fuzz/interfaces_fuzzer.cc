// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a program and its core (walk_seeds.py), through the C interface (sframe/c/walk.h) and
// libunwind's (libunwind-coredump.h), as their users call them. Properties: both start at the same pc; each
// text has an end; what the C interface reports of a frame, it can look up.

#include "memory_file.h"
#include "program_and_core.h"

#include "ucd_walk.h"

#include "sframe/c/walk.h"

#include "libunwind-x86_64.h"

#include "libunwind-coredump.h"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace {

using sframe::fuzz::MemoryFile;
using sframe::fuzz::require;

constexpr std::size_t max_frames = 64, max_threads = 4, max_modules = 16;

template <class T> T sized() {
  T made{};
  made.size = sizeof made;
  return made;
}

int check_line(const sframe_source_line* line, void*) {
  require(line->file != nullptr, "a line without a file");
  return 0;
}

void check_frame(sframe_process* process, const sframe_frame& frame) {
  char name[48];
  std::uint64_t offset = 0, value = 0;
  const sframe_status named = sframe_function_name(process, &frame, name, sizeof name, &offset);
  if (named == SFRAME_OK || named == SFRAME_NO_MEMORY)
    require(std::memchr(name, 0, sizeof name), "no end of a name");
  (void)sframe_source_lines(process, &frame, check_line, nullptr);
  for (std::uint16_t reg = 0; reg < SFRAME_NUM_REGISTERS; ++reg) {
    const bool known = frame.known_registers >> reg & 1;
    require((sframe_frame_register(&frame, reg, &value) == SFRAME_OK) == known, "another register");
    std::uint16_t number = 0;
    const char* const called = sframe_register_name(sframe_abi(process), reg);
    if (called)
      require(sframe_register_number(sframe_abi(process), called, &number) == SFRAME_OK && number == reg,
              "another number");
  }
  require(sframe_frame_register(&frame, SFRAME_PC, &value) == SFRAME_OK && value == frame.pc, "another pc");
  auto module = sized<sframe_module>();
  if (sframe_find_module(process, frame.lookup_pc, &module) == SFRAME_OK)
    require(module.path != nullptr, "a module without a path");
  std::array<std::byte, 40> memory;
  std::size_t count = 0;
  if (sframe_read_memory(process, frame.cfa, memory.data(), memory.size(), &count) == SFRAME_OK)
    require(count == memory.size(), "less memory");
}

/// The pc of each thread's innermost frame.
std::vector<std::uint64_t> walk_c(const char* core, const char* program) {
  auto options = sized<sframe_options>();
  options.executable = program;
  options.sysroot = "/nowhere"; // a core can name any file
  options.debug_dir = "";
  auto error = sized<sframe_error>();
  sframe_process* const process = sframe_open_core(core, &options, &error);
  std::vector<std::uint64_t> first;
  if (!process) {
    require(std::memchr(error.message, 0, sizeof error.message) && *error.message, "no message");
    return first;
  }
  auto info = sized<sframe_process_info>();
  require(sframe_get_process_info(process, &info) == SFRAME_OK && info.name, "no information");
  require(sframe_stop(process, &error) == SFRAME_OK, "a core is not stopped");
  for (std::size_t i = 0; i < std::min(sframe_num_modules(process), max_modules); ++i) {
    auto module = sized<sframe_module>();
    require(sframe_get_module(process, i, &module) == SFRAME_OK && module.start <= module.end, "no module");
  }
  for (std::size_t i = 0; i < std::min(sframe_num_threads(process), max_threads); ++i) {
    auto thread = sized<sframe_thread>();
    require(sframe_get_thread(process, i, &thread) == SFRAME_OK && thread.name, "no thread");
    std::vector<sframe_frame> frames(max_frames, sized<sframe_frame>());
    std::size_t count = 0;
    auto end = sized<sframe_end>();
    if (sframe_walk_into(process, i, frames.data(), frames.size(), &count, &end, &error) != SFRAME_OK)
      continue;
    require(count >= 1 && count <= max_frames && std::memchr(end.reason, 0, sizeof end.reason), "no frames");
    first.push_back(frames[0].pc);
    for (std::size_t n = 0; n < count; ++n) {
      require(frames[n].number == n, "another number of a frame");
      check_frame(process, frames[n]);
    }
  }
  sframe_resume(process);
  require(sframe_set_caching(process, SFRAME_CACHE_GLOBAL) == SFRAME_INVALID, "caches of a core");
  sframe_close(process);
  return first;
}

void walk_libunwind(const char* path, const char* program, std::string_view abi,
                    const std::vector<std::uint64_t>& first) {
  UCD_info* const core = _UCD_create(path);
  if (!core) return;
  for (int header = 0; header < 8; ++header) (void)_UCD_add_backing_file_at_segment(core, header, program);
  const auto walk = abi == "amd64"                  ? _Ux86_64_fuzz_walk
                    : abi.substr(0, 7) == "aarch64" ? _Uaarch64_fuzz_walk
                                                    : _Us390x_fuzz_walk;
  const auto threads =
      std::min<std::size_t>(static_cast<std::size_t>(_UCD_get_num_threads(core)), max_threads);
  for (unsigned i = 0; i < threads; ++i) {
    std::vector<std::uint64_t> pcs;
    walk(core, i, pcs, max_frames);
    (void)_UCD_get_pid(core);
    (void)_UCD_get_cursig(core);
    // libunwind's has no bits of AArch64's authentication codes.
    if (!pcs.empty() && first.size() == threads)
      require((pcs[0] & first[i]) == pcs[0] && (pcs[0] == first[i] || walk == _Uaarch64_fuzz_walk),
              "another innermost frame");
  }
  _UCD_destroy(core);
}

/// The ABI of an ELF file, from its header.
std::string_view abi_of(std::span<const std::byte> core) {
  if (core.size() < 20) return "amd64";
  const auto at = [&](std::size_t offset) { return std::to_integer<unsigned>(core[offset]); };
  const unsigned machine = at(5) == 2 ? at(18) << 8 | at(19) : at(19) << 8 | at(18);
  return machine == 22 ? "s390x" : machine == 183 ? "aarch64" : "amd64";
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // As the target walk, twice.
  const sframe::fuzz::Cost cost(size, {.seconds = 10,
                                       .seconds_per_byte = 200e-6,
                                       .memory = std::uint64_t(64) << 20,
                                       .memory_per_byte = 2048});
  const auto input = sframe::fuzz::split_program(std::as_bytes(std::span(data, size)));
  if (!input) return 0;
  const MemoryFile program(input->program), core(input->core);
  const auto first = walk_c(core.path().c_str(), program.path().c_str());
  if (first.empty()) return 0;
  walk_libunwind(core.path().c_str(), program.path().c_str(), abi_of(input->core), first);
  return 0;
}
