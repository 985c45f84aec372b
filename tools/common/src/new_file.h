// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: a file under construction that replaces its target when it is complete.

#pragma once

#include "interrupt.h"
#include "sframe/tool/descriptor.h"

#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>

namespace sframe::tool {

/// The descriptor of this process that `path` means: "-" is standard output, and /dev/stdout or /dev/fd/N are
/// links to one. -1 if it is not open. Nothing for other paths.
std::optional<int> named_descriptor(const std::string& path);

/// True for a path at which a file is to be made or written.
inline bool is_place(const std::string& path) {
  return !path.empty() && !named_descriptor(path);
}

/// The file at the end of a chain of symbolic links; it need not exist.
std::string final_target(const std::string& path);

/// The file has no name while it is written, if the file system supports that (O_TMPFILE), so nothing is left
/// however the program ends. Otherwise it has a temporary name in the target's folder, which is removed by
/// the destructor and on signals.
class NewFile {
public:
  /// Creates an empty file in the folder of `target`, with permission bits `mode` less the umask.
  NewFile(const std::string& target, mode_t mode);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// 0, or the errno of the failure to create the file.
  int error() const { return error_; }
  int fd() const { return file_.get(); }

  /// Syncs the file to disk, under a name in the target's folder. 0 or errno.
  int save();
  /// Keeps the file under its temporary name, which is returned.
  const std::string& keep();

  /// Syncs the file to disk and renames it to `target`. 0 or errno.
  int replace_target();

private:
  int copy_name();
  void sync_folder() const;
  bool open_unnamed(mode_t mode);
  int make_named(const std::function<bool(const char* name)>& make);

  std::string target_, folder_;
  Descriptor file_;
  std::string name_;                       ///< in the target's folder; empty if it has no name
  std::optional<TemporaryName> temporary_; ///< while name_ must be removed
  int error_ = 0;
};

/// Replaces `target` by what `make` makes under the given name, which is in the same folder. `make` returns
/// false and sets errno if it fails. 0 or errno.
int replace_by(const std::string& target, const std::function<bool(const char* name)>& make);

/// Syncs what was written to `fd`. 0 or errno; file systems without this operation do not fail.
int sync_file(int fd);

} // namespace sframe::tool
