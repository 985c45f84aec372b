// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/elf/package_note.h"

#include "sframe/base/text.h"
#include "sframe/elf/notes.h"

#include <llvm/Support/Error.h>
#include <llvm/Support/JSON.h>

#include <string_view>

namespace sframe::elf {

namespace {

constexpr std::uint32_t nt_package = 0xcafe1a7e;

std::optional<PackageNote> parse(std::span<const std::byte> body) {
  constexpr std::size_t longest = 4096; // the parser is recursive
  std::string_view text = as_text(body);
  text = text.substr(0, text.find('\0'));
  if (text.size() > longest) return std::nullopt;
  auto value = llvm::json::parse(llvm::StringRef(text.data(), text.size()));
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  const llvm::json::Object* const object = value->getAsObject();
  if (!object) return std::nullopt;
  const auto field = [&](llvm::StringRef key) {
    const auto found = object->getString(key);
    return found ? found->str() : std::string();
  };
  PackageNote package{field("type"), field("name"), field("version"), field("os")};
  return package.name.empty() ? std::nullopt : std::optional(std::move(package));
}

} // namespace

std::optional<PackageNote> package_note(const Image& image) {
  unsigned tries = 16;
  for (const Segment& segment : image.segments()) {
    if (segment.type != pt_note) continue;
    if (tries-- == 0) break;
    const auto notes = image.read(segment.address, segment.file_size);
    if (!notes) continue;
    NoteCursor cursor(*notes, image.byte_order(), segment.align);
    for (unsigned count = 0; count < 16; ++count) {
      const auto note = cursor.next();
      if (!note) break;
      if (note->type == nt_package && note->owner == "FDO") return parse(note->body);
    }
  }
  return std::nullopt;
}

} // namespace sframe::elf
