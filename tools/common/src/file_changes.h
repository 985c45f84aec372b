// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: all that changes files and folders, as one interface. It is implemented here, for a process that
// may change them, and by a process outside the sandbox for one that may not (writing_process.h).

#pragma once

#include "sframe/base/problem.h"
#include "sframe/tool/output_file.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace sframe::tool {

/// An output file in the making. Until commit() the target is as it was; without it, nothing is left.
class OutgoingFile {
public:
  OutgoingFile() = default;
  OutgoingFile(const OutgoingFile&) = delete;
  OutgoingFile& operator=(const OutgoingFile&) = delete;
  virtual ~OutgoingFile() = default;

  /// Where the contents go: an empty file, or the target itself if that cannot be replaced.
  virtual int fd() const = 0;
  /// True for such a target. Then nothing is to be committed.
  virtual bool is_target() const = 0;

  /// Owner, mode and extended attributes of the open file `attributes`, if it is not negative. `size`: of the
  /// contents.
  virtual Result<void> commit(std::uint64_t size, HardLinks links, int attributes) = 0;
};

class FileChanges {
public:
  FileChanges() = default;
  FileChanges(const FileChanges&) = delete;
  FileChanges& operator=(const FileChanges&) = delete;
  virtual ~FileChanges() = default;

  /// Begins a file at `path`. Its permission bits are `mode`, or without it those of the old file, or 0666
  /// less the umask. `gets_attributes`: by commit().
  virtual Result<std::unique_ptr<OutgoingFile>>
  begin(const std::string& path, std::optional<std::uint32_t> mode, bool gets_attributes) = 0;
  /// The lock of OutputLock, held while the object exists; nullptr if there is nothing to lock.
  virtual Result<std::shared_ptr<void>> lock(const std::string& path) = 0;
  // As in output_file.h.
  virtual Result<void> make_parent_folders(const std::string& path) = 0;
  virtual Result<void> hard_link(const std::string& existing, const std::string& path) = 0;
  virtual Result<bool> symbolic_link(const std::string& original, const std::string& path) = 0;
  virtual void copy_folder_mode(const std::string& from, const std::string& to) = 0;
  virtual void make_writable(const std::string& folder) = 0;
};

/// The implementation of a process that may change files. A wait for the reader of a FIFO ends with an error
/// when the other end of the socket `requester` is closed; negative: it is not limited.
std::unique_ptr<FileChanges> own_file_changes(int requester = -1);

/// The one that this process is to use: its own, until use_file_changes().
FileChanges& file_changes();
void use_file_changes(FileChanges& changes);

/// "`doing`: " and the text of an errno.
unexpected<Problem> fail_errno(const char* doing, int error);

/// Locks the file at `path` for this process (output_lock.cc).
Result<std::shared_ptr<void>> lock_file(const std::string& path);

/// Why `path` cannot be written, which is `problem`; of a path through another process, that the sandbox does
/// not follow it.
Problem why_not_written(const std::string& path, Problem problem);

} // namespace sframe::tool
