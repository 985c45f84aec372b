// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: where the fields of CPython's structures are. The same on all 64-bit machines: there is nothing
// before them whose size depends on the machine.

#pragma once

#include "runtime_memory.h"

#include <cstdint>
#include <optional>
#include <string>

namespace sframe::languages {

struct PythonLayout {
  static constexpr std::uint32_t none = UINT32_MAX;

  std::uint32_t interpreters; ///< of _PyRuntimeState: interpreters.head
  struct {
    std::uint32_t next, threads;
  } interpreter;
  struct {
    std::uint32_t pointer;        ///< of the interpreter; none: the lock is in _PyRuntimeState
    std::uint32_t locked, holder; ///< of the lock, or of _PyRuntimeState
  } gil;
  struct {
    std::uint32_t next, native_id;
    std::uint32_t frame;     ///< its innermost frame, or its _PyCFrame
    std::uint32_t in_cframe; ///< of the _PyCFrame: the frame; none: there is no _PyCFrame
  } thread;
  struct {
    std::uint32_t previous, code, instruction, owner;
  } frame;
  struct {
    std::uint32_t file, name, line_table, first_line, instructions;
  } code;
  struct {
    std::uint32_t length, state, ascii_size, compact_size;
  } text;
  std::uint32_t object_type, type_name, bytes_size, bytes_data;
};

/// `version` is PY_VERSION_HEX. Nothing, with the reason, if it is not supported.
std::optional<PythonLayout> python_layout(std::uint32_t version, std::uint64_t runtime, RuntimeMemory& memory,
                                          std::string& problem);

} // namespace sframe::languages
