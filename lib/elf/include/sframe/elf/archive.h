// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The members of an `ar` archive (GNU, BSD and System V flavours). A thin archive holds only file names:
// ArchiveContents opens these files.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/elf/file.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::elf {

struct Member {
  std::string name; ///< as in the archive, without final slash; a long one is cut: shown_name()
  std::span<const std::byte> bytes; ///< a view into the archive, at any alignment
  std::uint64_t header_offset = 0;  ///< of the member's header, from the start of the archive
};

/// True if the bytes start with the magic number of an archive, thin or not.
bool is_archive(std::span<const std::byte> bytes);

/// True for a thin archive: its members are separate files.
bool is_thin_archive(std::span<const std::byte> bytes);

/// The members that are files (not the symbol index or the table of long names), in order. Fails on damage,
/// with the offset. `bytes` must outlive the members. Linear in the number of members.
Result<std::vector<Member>> archive_members(std::span<const std::byte> bytes);

/// The files that the thin archive at `path` names, each once, as ArchiveContents::open() opens them; at most
/// ArchiveContents::max_members. What it names after a damaged header is left out. They are not looked at.
std::vector<std::string> files_of_thin_archive(std::span<const std::byte> bytes, const std::string& path);

/// The members of an archive for readers: also those of archives in it, and of a thin archive, whose members
/// are files.
class ArchiveContents {
public:
  /// Members of archives that are members of others, and so on: up to this depth.
  static constexpr int max_depth = 8;
  /// Members in all, as archives in archives can name very many.
  static constexpr std::size_t max_members = 1'000'000;

  /// `path`: of the archive; a thin one names its members from that folder. Fails if the archive is damaged.
  /// `bytes` must outlive the result. Linear in the number of members; opens each file that a thin archive
  /// names, as File::open_named().
  static Result<ArchiveContents> open(std::span<const std::byte> bytes, const std::string& path);

  /// In order. The name of a member of an inner archive is "inner.a(x.o)".
  std::span<const Member> members() const { return members_; }

  /// Bytes of the files that a thin archive names.
  std::uint64_t bytes_in_files() const;

  struct Unreadable {
    std::string name;
    Problem problem;
  };
  /// Members that cannot be read: missing files, damaged inner archives.
  std::span<const Unreadable> unreadable() const { return unreadable_; }

private:
  class [[gnu::visibility("hidden")]] Thin;
  void add(Member member, int depth);
  void add_all(std::span<const Member> members, const std::string& outer, int depth);
  void give_up(std::string name, Problem problem);

  std::vector<Member> members_;
  std::vector<Unreadable> unreadable_;
  std::deque<File> files_; ///< those of a thin archive
};

} // namespace sframe::elf

#pragma GCC visibility pop
