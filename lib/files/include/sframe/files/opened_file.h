// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file, what reading it may cost, and its ELF image. All that reads an ELF file opens it through this
// class, so that no reader forgets the budget.
//
//   auto file = elf::File::open(path);
//   files::OpenedFile opened(std::move(*file), Limits::standard);
//   if (const auto& image = opened.image()) ... image->sections() ...

#pragma once

#include "sframe/base/budget.h"
#include "sframe/base/lazy.h"
#include "sframe/base/problem.h"
#include "sframe/elf/file.h"
#include "sframe/elf/image.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#pragma GCC visibility push(default)

namespace sframe::files {

/// Movable: views of the bytes and of what the image has stay valid, pointers to the image do not. Used in
/// one thread at a time.
class OpenedFile {
public:
  /// What is read of the file has these limits, by its size.
  OpenedFile(elf::File file, Limits limits)
      : file_(std::move(file)), budget_(std::make_unique<Budget>(limits, file_.bytes().size())) {}

  const elf::File& file() const { return file_; }
  std::span<const std::byte> bytes() const { return file_.bytes(); }
  const std::string& path() const { return file_.path(); }
  Budget& budget() const { return *budget_; }

  /// The file as an ELF image, which takes from budget(), or why it is none. The first call reads the
  /// headers.
  const Result<elf::Image>& image() {
    return image_.get([&] { return elf::Image::parse(bytes(), budget_.get()); });
  }
  /// The image, if it was asked for and the file has one; else nullptr. Reads nothing.
  const elf::Image* known_image() const {
    const auto* const image = image_.made();
    return image && *image ? &**image : nullptr;
  }

  /// The file alone, for a reader who opens it in another way. The object is not used afterwards.
  elf::File take_file() && { return std::move(file_); }

  /// Limits apply again, before the file is read for another user.
  void refill() { budget_->refill(bytes().size()); }

private:
  elf::File file_;
  std::unique_ptr<Budget> budget_; ///< the image has its address
  Lazy<Result<elf::Image>> image_;
};

} // namespace sframe::files

#pragma GCC visibility pop
