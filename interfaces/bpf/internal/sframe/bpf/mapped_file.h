// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What libsframe-bpf and sframe-profile need of a mapped file: segments, entry and build ID, from its ELF
// headers. The files are those of any process, and may change while they are read: reads are by pread(), of a
// few kilobytes, and every number is checked.

#pragma once

#include "sframe/bpf/stack.h"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>

namespace sframe::bpf {

/// Closes it.
class FileDescriptor {
public:
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor();
  int number() const { return number_; }

private:
  int number_;
};

struct MappedFile {
  std::uint16_t type = 0, machine = 0; ///< ET_DYN, EM_X86_64
  std::uint64_t entry = 0;
  sframe_bpf_segment segments[SFRAME_BPF_MAX_SEGMENTS] = {};
  std::string build_id;    ///< its bytes; may be empty
  std::string interpreter; ///< the path of its dynamic linker; empty if it has none
};

/// What is mapped there; -1 if the process has ended, or has another file there now.
FileDescriptor open_mapped(const sframe_bpf_mapping& mapping);

/// Nothing if it is no 64-bit ELF file of this machine's byte order, or has too many executable segments.
std::optional<MappedFile> read_mapped_file(int file);

/// The user who may have changed what is opened; nothing if only this one and root could.
std::optional<uid_t> owner_of_changes(int file);

} // namespace sframe::bpf
