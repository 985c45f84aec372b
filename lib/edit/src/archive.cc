// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces members of an archive. The bytes are copied member by member. Two things change: the size in a
// replaced member's header, and the offsets of members in the symbol index, which comes first:
//
//   name                contents                                                    numbers
//   GNU "/"             number of symbols, then a member header's offset for each   32 bits, big endian
//   GNU "/SYM64/"       same                                                        64 bits, big endian
//   BSD "__.SYMDEF"     size in bytes, then pairs of name offset and header offset  32 bits, little endian
//   BSD "__.SYMDEF_64"  same                                                        64 bits, little endian
//
// (ar(5) of System V and of FreeBSD.) LLVM's writer would rebuild the index from the members that it can
// read. That would lose the symbols of members that only a compiler's plugin can read (link-time
// optimisation).

#include "sframe/edit/archive.h"

#include "sframe/bytes.h"
#include "sframe/elf/archive.h"
#include "sframe/elf/llvm_types.h"
#include "sframe/elf/thin_archive.h"

#include <llvm/Object/Archive.h>
#include <llvm/Support/MemoryBufferRef.h>

#include <algorithm>
#include <limits>
#include <string>

namespace sframe::edit {

using namespace elf;

namespace {

using llvm::object::Archive;

constexpr std::size_t header_size = 60, size_at = 48, size_width = 10;

/// Layout of a symbol index.
struct IndexForm {
  unsigned width; ///< bytes of each number
  ByteOrder order;
  bool pairs; ///< a name's offset before each member offset, and a size instead of a count
};

std::optional<IndexForm> index_form(Archive::Kind kind) {
  switch (kind) {
  case Archive::K_GNU: return IndexForm{4, ByteOrder::big, false};
  case Archive::K_GNU64: return IndexForm{8, ByteOrder::big, false};
  case Archive::K_BSD:
  case Archive::K_DARWIN: return IndexForm{4, ByteOrder::little, true};
  case Archive::K_DARWIN64: return IndexForm{8, ByteOrder::little, true};
  default: return std::nullopt;
  }
}

/// Offsets of a member's header in the old and the new archive.
struct MemberOffsets {
  std::uint64_t before, after;
};

class Rewriter {
public:
  using Replacements = std::span<const std::optional<std::vector<std::byte>>>;
  Rewriter(std::span<const std::byte> old, const Archive& archive) : old_(old), archive_(archive) {}

  Result<std::vector<std::byte>> write(Replacements contents);

private:
  Result<void> add_members(Replacements contents);
  Result<void> add(const Archive::Child& member, const std::optional<std::vector<std::byte>>& contents);
  Result<void> write_index();

  std::span<const std::byte> old_;
  const Archive& archive_;
  std::vector<std::byte> out_;
  std::vector<MemberOffsets> member_offsets_; ///< sorted
};

Result<void> Rewriter::add(const Archive::Child& member,
                           const std::optional<std::vector<std::byte>>& contents) {
  auto old = member.getBuffer();
  if (!old) return unexpected(to_problem(old.takeError(), {}));
  const std::uint64_t begin = member.getChildOffset();
  const std::uint64_t data = member.getDataOffset(); // after a BSD name, which counts as contents
  member_offsets_.push_back({begin, out_.size()});
  const std::size_t header = out_.size();
  const auto prefix = old_.subspan(begin, data - begin);
  out_.insert(out_.end(), prefix.begin(), prefix.end());
  const auto old_bytes = std::as_bytes(std::span(old->data(), old->size()));
  const std::span<const std::byte> bytes = contents ? std::span<const std::byte>(*contents) : old_bytes;
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  if (contents) {
    std::string size = std::to_string(prefix.size() - header_size + bytes.size());
    if (size.size() > size_width) return fail("member is too large for an archive", {}, begin);
    size.resize(size_width, ' ');
    std::ranges::copy(std::as_bytes(std::span(size)),
                      out_.begin() + static_cast<std::ptrdiff_t>(header + size_at));
  }
  if (out_.size() % 2 != 0) out_.push_back(std::byte('\n'));
  return {};
}

Result<void> Rewriter::add_members(Replacements contents) {
  llvm::Error end = llvm::Error::success();
  std::optional<Problem> problem;
  const Problem wrong_number{"the contents to write are not one for each member of the archive", {}, {}};
  std::size_t number = 0;
  for (const Archive::Child& member : archive_.children(end)) {
    if (number == 0) { // the bytes before the members: symbol index, long names
      const auto before = old_.first(member.getChildOffset());
      out_.assign(before.begin(), before.end());
      // A BSD index with its name in the header, not before the contents, is listed as an ordinary member
      // here.
      if (to_llvm(old_.subspan(before.size())).starts_with("__.SYMDEF")) {
        problem = Problem{"archive's symbol index has an unknown format", {}, before.size()};
        break;
      }
    }
    if (number == contents.size()) {
      problem = wrong_number;
      break;
    }
    if (auto added = add(member, contents[number++]); !added) {
      problem = std::move(added.error());
      break;
    }
  }
  if (end) return unexpected(to_problem(std::move(end), {}));
  if (problem) return unexpected(std::move(*problem));
  if (number != contents.size()) return unexpected(wrong_number);
  if (number == 0) out_.assign(old_.begin(), old_.end());
  return {};
}

/// Updates the offsets in the index, which has not moved.
Result<void> Rewriter::write_index() {
  const llvm::StringRef index = archive_.getSymbolTable();
  if (index.empty()) return {};
  const auto form = index_form(archive_.kind());
  if (!form) return fail("archive's symbol index has an unknown format");
  const auto base =
      static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(index.data()) - old_.data());
  const auto damaged = [&] { return fail("archive's symbol index is damaged", {}, base); };
  if (index.size() < form->width) return damaged();
  std::uint64_t count = load_sized(old_.data() + base, form->width, form->order);
  const std::uint64_t entry = form->width * (form->pairs ? 2 : 1);
  if (form->pairs) count /= entry;
  if (count > (index.size() - form->width) / entry) return damaged();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = base + form->width + i * entry + (form->pairs ? form->width : 0);
    const std::uint64_t before = load_sized(old_.data() + at, form->width, form->order);
    const auto member_offset = std::ranges::lower_bound(member_offsets_, before, {}, &MemberOffsets::before);
    if (member_offset == member_offsets_.end() || member_offset->before != before)
      return fail("archive's symbol index refers to a missing member", {}, at);
    if (form->width == 4 && member_offset->after > std::numeric_limits<std::uint32_t>::max())
      return fail("archive would exceed 4 GiB, the limit of its symbol index");
    store_sized(out_.data() + at, member_offset->after, form->width, form->order);
  }
  return {};
}

Result<std::vector<std::byte>> Rewriter::write(Replacements contents) {
  std::uint64_t size = old_.size();
  for (const auto& member : contents) size += member ? member->size() + 1 : 0;
  out_.reserve(size);
  if (auto done = add_members(contents); !done) return unexpected(done.error());
  if (auto done = write_index(); !done) return unexpected(done.error());
  return std::move(out_);
}

} // namespace

Result<std::vector<std::byte>>
replace_members(std::span<const std::byte> archive,
                std::span<const std::optional<std::vector<std::byte>>> contents) {
  auto parsed = Archive::create(llvm::MemoryBufferRef(to_llvm(archive), ""));
  if (!parsed) return unexpected(to_problem(parsed.takeError(), {}));
  if ((*parsed)->isThin()) return fail(thin_archive_text);
  return Rewriter(archive, **parsed).write(contents);
}

} // namespace sframe::edit
