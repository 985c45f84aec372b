// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images that several users share, each with the files that belong to it: a process has many modules of a
// few files, and cores of one program have the same files.

#pragma once

#include "sframe/base/lazy.h"
#include "sframe/files/opened_file.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#pragma GCC visibility push(default)

namespace sframe::files {

class SharedImage;

/// What a search for the separate debug file has found.
struct FoundDebug {
  std::shared_ptr<SharedImage> image; ///< with the build ID or the checksum that was asked for; or nullptr
  std::string problem;                ///< why a file was not used; empty: no problem
};

/// What a search for the sidecar has found.
struct FoundSidecar {
  std::optional<OpenedFile> file; ///< open; as an image it may be used if there is no problem
  std::string problem;            ///< why it cannot be used
};

/// An image of a file or of memory, what belongs to it, and what others derive from it.
class SharedImage {
public:
  SharedImage() = default;                                                ///< no image
  explicit SharedImage(elf::Image memory) : memory_(std::move(memory)) {} ///< its bytes must live as long
  /// What is read of the file has these limits, by its size. The image is read at once.
  SharedImage(elf::File file, Limits limits);
  SharedImage(const SharedImage&) = delete;
  SharedImage& operator=(const SharedImage&) = delete;

  /// Unique, even if one replaces another at the same place in memory.
  std::uint64_t number() const { return number_; }
  /// nullptr if the image is in memory.
  const OpenedFile* file() const { return file_ ? &*file_ : nullptr; }
  /// nullptr if there is none: then problem() says what is wrong with the file.
  const elf::Image* image() const { return file_ ? file_->known_image() : memory_ ? &*memory_ : nullptr; }
  std::string problem();
  /// Of the file, by its own size; nullptr: the image is in memory.
  Budget* budget() const { return file_ ? &file_->budget() : nullptr; }

  // What belongs to the image (companions.h). The first user's options decide where it is looked for.
  Lazy<FoundDebug> debug;                       ///< one whose image has none itself
  Lazy<std::shared_ptr<SharedImage>> alternate; ///< that this debug file refers to; or nullptr
  Lazy<FoundSidecar> sidecar;

  /// The separate debug file, if one was found so far; else nullptr.
  SharedImage* known_debug() const { return debug.made() ? debug.made()->image.get() : nullptr; }

  /// The limit that the file or the sidecar has reached, and its path; nothing if there is none.
  std::optional<std::string> reached_limit() const;
  /// The same of the debug file as well.
  std::optional<std::string> any_reached_limit() const;
  /// Limits apply again; reached_limit() stays.
  void refill();

  /// What users derive from the image, made at the first call: the same type in all calls.
  template <class T> T& derived() {
    if (!derived_) derived_ = std::make_shared<T>();
    return *static_cast<T*>(derived_.get());
  }

private:
  static std::uint64_t next_number();

  const std::uint64_t number_ = next_number();
  std::optional<OpenedFile> file_;
  std::optional<elf::Image> memory_;
  std::optional<std::string> former_limit_; ///< reached before the last refill()
  std::shared_ptr<void> derived_;           ///< refers to all of the above
};

/// The files that the modules of one address space have opened: modules of the same file share what is read
/// from it. Not thread-safe: an address space and its modules are used in one thread at a time. Address
/// spaces used one after the other in the same thread may share one (FileOptions::shared).
class OpenFiles {
public:
  /// A file that is both gets an image for each role: a debug file never has debug files itself, which would
  /// be a circle.
  enum class Role : std::uint8_t { module, debug_file };

  OpenFiles() = default;
  /// Keeps `most` files that no module uses.
  explicit OpenFiles(std::size_t most) : least_(most), most_(most) {}
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  /// The image of the file in this role: the one that another module has made, or a new one. What is read of
  /// the file has these limits, by its size.
  std::shared_ptr<SharedImage> add(elf::File file, Role role, Limits limits);

  /// For a new sample of a running process: the limits of each file apply again. Those that a file has
  /// reached stay reported.
  void refill();

  /// The number of files.
  std::size_t size() const { return files_.size(); }

private:
  void remove_unused();

  std::map<std::pair<elf::File::Id, Role>, std::shared_ptr<SharedImage>> files_;
  std::size_t least_ = 64;
  std::size_t most_ = least_; ///< files, before unused ones are removed
};

} // namespace sframe::files

#pragma GCC visibility pop
