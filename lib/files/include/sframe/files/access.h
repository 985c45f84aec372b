// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens files as FileOptions permit: the one place that decides which names are followed, and from where. A
// name that only the input has leads into the sysroot, and to file systems that store files; a name from the
// user leads anywhere. Every attempt costs (Resource::files).

#pragma once

#include "sframe/base/problem.h"
#include "sframe/elf/file.h"
#include "sframe/files/open_files.h"
#include "sframe/files/options.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::files {

/// Who named a file.
enum class NamedBy : std::uint8_t {
  user,
  kernel, ///< as the file that a process has mapped
  core,   ///< or another input
  server,
};

/// Where an image is from: its companions are looked for there.
struct Origin {
  std::string path;                 ///< of its file, as opened; empty: there is none, only memory
  NamedBy named_by = NamedBy::user; ///< the file
  std::string name;                 ///< the path in the process; may be empty
  /// Of a process that has another root folder than this program, in a container; else empty.
  std::string root;
  bool is_served = true; ///< false: no server has files of it
};

class FileAccess {
public:
  /// `options` must outlive the object.
  explicit FileAccess(const FileOptions& options)
      : options_(options), opened_(options.shared ? options.shared : std::make_shared<OpenFiles>()) {}

  const FileOptions& options() const { return options_; }
  /// Of the input; may be nullptr.
  Budget* budget() const { return options_.budget.get(); }

  /// Opens a file by a name that is not of a companion.
  Result<elf::File> open(const std::string& path, NamedBy by) const;

  /// Opens a file below a folder that the user named, which neither ".." nor a link leaves.
  Result<elf::File> open_below(const std::string& root, const std::string& path) const;

  /// A file from the server, whose copy is of this program. Fails without a server or a build ID: it is all
  /// that ties such a file to the image.
  Result<elf::File> fetch(ServedFile what, std::span<const std::byte> build_id,
                          std::string_view name = {}) const;

  /// The folders in which debug files of the image may be, by build ID or below its path.
  std::vector<std::string> debug_folders(const Origin& origin) const;

  /// Opens a candidate for a companion. Below a root, links are those of the machine that the files come
  /// from, whoever named the folder. In other folders, or next to a file, that the user named, links are
  /// followed; elsewhere they count as named by the core.
  Result<elf::File> open_companion(const std::string& path, const Origin& origin) const;

  /// The image of an open file, which others with the same options may have opened before.
  std::shared_ptr<SharedImage> share(elf::File file, OpenFiles::Role role) const {
    return opened_->add(std::move(file), role, options_.limits());
  }

private:
  bool take_file() const { return !budget() || budget()->take(Resource::files); }

  const FileOptions& options_;
  const std::shared_ptr<OpenFiles> opened_;
};

} // namespace sframe::files

#pragma GCC visibility pop
