// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: a file that is being made, and takes the place of its target when it is complete.

#pragma once

#include "descriptor.h"
#include "interrupt.h"

#include <optional>
#include <string>
#include <sys/types.h>

namespace sframe::tool {

/// The file that a chain of symbolic links ends in, whether it exists or not.
std::string final_target(const std::string& path);

/// While it is written it has no name at all, where the file system can do that (O_TMPFILE), so that nothing is left
/// whatever ends the program; else one beside the target, which goes away with the object, and with signals.
class NewFile {
public:
  /// An empty file in the folder of `target`, with the permission bits that the umask leaves of `mode`.
  NewFile(const std::string& target, mode_t mode);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// 0, or the errno of why there is no file.
  int error() const { return error_; }
  int fd() const { return file_.get(); }

  /// The file is on the disk, under a name beside the target. 0 or errno.
  int save();
  /// The file keeps its name beside the target. Gives that name.
  const std::string& keep();

  /// The file is on the disk, and is what `target` names. 0 or errno.
  int replace_target();

private:
  int give_name();
  void sync_folder() const;
  bool open_unnamed(mode_t mode);
  template <class Make> int make_named(Make&& make);

  std::string target_, folder_;
  Descriptor file_;
  std::string name_;                       ///< beside the target; empty while it has none
  std::optional<TemporaryName> temporary_; ///< while name_ is to be removed
  int error_ = 0;
};

/// What was written to `fd` is on the disk. 0 or errno; file systems that have no such thing do not fail.
int sync_file(int fd);

} // namespace sframe::tool
