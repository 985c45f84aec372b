// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads `ar` archives with LLVM's reader.

#include "sframe/elf/archive.h"

#include "sframe/base/printable.h"
#include "sframe/elf/llvm_types.h"
#include "sframe/elf/thin_archive.h"

#include <llvm/Object/Archive.h>
#include <llvm/Support/MemoryBufferRef.h>

namespace sframe::elf {

namespace {

constexpr llvm::StringRef magic = "!<arch>\n", thin_magic = "!<thin>\n";

unexpected<Problem> damaged(llvm::Error error) {
  return unexpected(to_problem(std::move(error), {}));
}

} // namespace

bool is_archive(std::span<const std::byte> bytes) {
  return to_llvm(bytes).starts_with(magic) || is_thin_archive(bytes);
}

bool is_thin_archive(std::span<const std::byte> bytes) {
  return to_llvm(bytes).starts_with(thin_magic);
}

Result<std::vector<Member>> archive_members(std::span<const std::byte> bytes) {
  if (is_thin_archive(bytes)) return fail(thin_archive_text);
  auto archive = llvm::object::Archive::create(llvm::MemoryBufferRef(to_llvm(bytes), ""));
  if (!archive) return damaged(archive.takeError());

  std::vector<Member> result;
  std::optional<Problem> problem;
  llvm::Error end = llvm::Error::success();
  for (const auto& child : (*archive)->children(end)) {
    auto buffer = child.getBuffer();
    auto name = child.getName();
    if (!buffer) problem = to_problem(buffer.takeError(), {});
    if (!name) problem = to_problem(name.takeError(), {});
    if (problem) break;
    result.push_back({shown_name({name->data(), name->size()}),
                      std::as_bytes(std::span(buffer->data(), buffer->size())), child.getChildOffset()});
  }
  if (end) return damaged(std::move(end));
  if (problem) return unexpected(std::move(*problem));
  return result;
}

} // namespace sframe::elf
