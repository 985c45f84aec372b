// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "python_layout.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace sframe::languages {

namespace {

/// Computed by offsetof() from the headers of 3.11.2, 3.11.7 and 3.12.1. The structures do not change within
/// a version.
constexpr PythonLayout layout_3_11 = {
    .interpreters = 40,
    .interpreter = {.next = 0, .threads = 16},
    .gil = {.pointer = PythonLayout::none, .locked = 376, .holder = 368},
    .thread = {.next = 8, .native_id = 160, .frame = 56, .in_cframe = 8},
    .frame = {.previous = 48, .code = 32, .instruction = 56, .owner = 69},
    .code = {.file = 112, .name = 128, .line_table = 136, .first_line = 72, .instructions = 184},
    .text = {.length = 16, .state = 32, .ascii_size = 48, .compact_size = 72},
    .object_type = 8,
    .type_name = 24,
    .bytes_size = 16,
    .bytes_data = 32,
};

constexpr PythonLayout layout_3_12 = {
    .interpreters = 40,
    .interpreter = {.next = 0, .threads = 72},
    .gil = {.pointer = 384, .locked = 16, .holder = 8},
    .thread = {.next = 8, .native_id = 144, .frame = 56, .in_cframe = 0},
    .frame = {.previous = 8, .code = 0, .instruction = 56, .owner = 70},
    .code = {.file = 112, .name = 128, .line_table = 136, .first_line = 68, .instructions = 192},
    .text = {.length = 16, .state = 32, .ascii_size = 40, .compact_size = 56},
    .object_type = 8,
    .type_name = 24,
    .bytes_size = 16,
    .bytes_data = 32,
};

/// _Py_DebugOffsets of 3.13: after the cookie, one number of 8 bytes each. The index of those used here.
enum Offsets3_13 : std::uint8_t {
  at_interpreters = 5,
  at_interpreter_next = 8,
  at_interpreter_threads = 9,
  at_gil_pointer = 14,
  at_gil = 15,
  at_gil_locked = 17,
  at_gil_holder = 18,
  at_thread_next = 21,
  at_thread_frame = 23,
  at_thread_native_id = 25,
  at_frame_previous = 29,
  at_frame_executable = 30,
  at_frame_instruction = 31,
  at_frame_owner = 33,
  at_code_file = 35,
  at_code_name = 37,
  at_code_line_table = 38,
  at_code_first_line = 39,
  at_code_instructions = 43,
  at_object_type = 45,
  at_type_name = 47,
  at_bytes_size = 65,
  at_bytes_data = 66,
  at_text_state = 68,
  at_text_length = 69,
  at_text_ascii_size = 70,
  offsets_3_13_count = 71,
};
constexpr std::string_view cookie = "xdebugpy";

std::optional<PythonLayout> read_layout_3_13(std::uint64_t runtime, RuntimeMemory& memory) {
  constexpr std::uint64_t greatest = 1 << 24; // more than any structure of CPython
  if (memory.text(runtime, cookie.size(), cookie.size()) != cookie) return std::nullopt;
  std::array<std::uint32_t, offsets_3_13_count> at{};
  for (std::size_t i = at_interpreters; i < at.size(); ++i) {
    const auto offset = memory.word(runtime + i * 8);
    if (!offset) return std::nullopt;
    at[i] = *offset < greatest ? static_cast<std::uint32_t>(*offset) : PythonLayout::none;
  }
  PythonLayout layout = layout_3_12;
  layout.interpreters = at[at_interpreters];
  layout.interpreter = {.next = at[at_interpreter_next], .threads = at[at_interpreter_threads]};
  layout.gil = {.pointer = at[at_gil_pointer],
                .locked = at[at_gil_locked] - at[at_gil],
                .holder = at[at_gil_holder] - at[at_gil]};
  layout.thread = {.next = at[at_thread_next],
                   .native_id = at[at_thread_native_id],
                   .frame = at[at_thread_frame],
                   .in_cframe = PythonLayout::none};
  layout.frame = {.previous = at[at_frame_previous],
                  .code = at[at_frame_executable],
                  .instruction = at[at_frame_instruction],
                  .owner = at[at_frame_owner]};
  layout.code = {.file = at[at_code_file],
                 .name = at[at_code_name],
                 .line_table = at[at_code_line_table],
                 .first_line = at[at_code_first_line],
                 .instructions = at[at_code_instructions]};
  layout.text.length = at[at_text_length];
  layout.text.state = at[at_text_state];
  layout.text.ascii_size = at[at_text_ascii_size]; // that of other texts has two more words
  layout.text.compact_size = at[at_text_ascii_size] + 16;
  layout.object_type = at[at_object_type];
  layout.type_name = at[at_type_name];
  layout.bytes_size = at[at_bytes_size];
  layout.bytes_data = at[at_bytes_data];
  return layout;
}

} // namespace

std::optional<PythonLayout> python_layout(std::uint32_t version, std::uint64_t runtime, RuntimeMemory& memory,
                                          std::string& problem) {
  constexpr std::uint32_t candidate = 0xc; // releases and their candidates
  const bool released = (version >> 4 & 0xf) >= candidate;
  if (released && version >> 16 == 0x030b) return layout_3_11;
  if (released && version >> 16 == 0x030c) return layout_3_12;
  if (released && version >> 16 == 0x030d) {
    auto layout = read_layout_3_13(runtime, memory);
    if (!layout) problem = "the interpreter's offsets for debuggers cannot be read";
    return layout;
  }
  problem = "only CPython 3.11 to 3.13 is supported";
  return std::nullopt;
}

} // namespace sframe::languages
