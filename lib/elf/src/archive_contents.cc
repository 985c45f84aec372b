// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Archives in archives, and thin archives (GNU ar -T). These have the headers of an archive without the
// members' bytes. A header's name is "/N", a place in the table of names, or "/N:M" for the member whose
// header is at M in the archive of that name; LLVM's reader refuses the latter.

#include "sframe/base/printable.h"
#include "sframe/base/text.h"
#include "sframe/elf/archive.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace sframe::elf {

namespace {

/// Removes the number from the start.
std::optional<std::uint64_t> take_number(std::string_view& digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc()) return std::nullopt;
  digits.remove_prefix(static_cast<std::size_t>(end - digits.data()));
  return value;
}

/// A name in the table of names. Names end with "/" and a line feed.
std::optional<std::string_view> thin_name_at(std::string_view names, std::uint64_t offset) {
  if (offset >= names.size()) return std::nullopt;
  const std::string_view name = names.substr(offset, names.find("/\n", offset) - offset);
  return name.empty() ? std::nullopt : std::optional(name);
}

/// Calls add() with the name of a file, and where the member's header is in it if that is an archive, for
/// each member of a thin archive. Fails if a header is damaged.
template <class Add> Result<void> read_thin_archive(std::string_view text, Add&& add) {
  constexpr std::size_t magic_size = 8, header_size = 60, name_size = 16, size_at = 48, size_size = 10;
  std::string_view names;
  for (std::size_t at = magic_size; at < text.size();) {
    const auto damaged = [&] { return fail("thin archive is damaged", {}, at); };
    if (text.size() - at < header_size) return damaged();
    const std::string_view header = text.substr(at, header_size);
    std::string_view name = header.substr(0, name_size), digits = header.substr(size_at, size_size);
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    const auto size = take_number(digits);
    if (!size || !header.ends_with("`\n")) return damaged();
    const std::size_t data = at + header_size;
    if (name == "/" || name == "/SYM64/" || name == "//") { // the only ones that are in the archive
      if (*size > text.size() - data) return damaged();
      if (name == "//") names = text.substr(data, *size);
      at = data + *size + *size % 2;
      continue;
    }
    if (!name.starts_with('/')) {
      add(name.substr(0, name.find('/')), std::optional<std::uint64_t>());
    } else {
      name.remove_prefix(1);
      const auto place = take_number(name);
      std::optional<std::uint64_t> origin;
      if (name.starts_with(':')) {
        name.remove_prefix(1);
        if (!(origin = take_number(name))) return damaged();
      }
      const auto file = place ? thin_name_at(names, *place) : std::nullopt;
      if (!file || !name.empty()) return damaged();
      add(*file, origin);
    }
    at = data;
  }
  return {};
}

/// Where the names in the archive at `path` begin.
std::filesystem::path archive_folder(const std::string& path) {
  std::error_code ignored;
  const auto whole = std::filesystem::absolute(path == "-" ? "." : path, ignored);
  return path == "-" ? whole : whole.parent_path();
}

std::string named_path(const std::filesystem::path& folder, std::string_view name) {
  return (folder / name).lexically_normal().string();
}

} // namespace

std::vector<std::string> files_of_thin_archive(std::span<const std::byte> bytes, const std::string& path) {
  std::set<std::string_view> names;
  (void)read_thin_archive(as_text(bytes), [&](std::string_view name, std::optional<std::uint64_t>) {
    if (names.size() < ArchiveContents::max_members) names.insert(name);
  });
  const auto folder = archive_folder(path);
  std::vector<std::string> files;
  for (const std::string_view name : names) files.push_back(named_path(folder, name));
  return files;
}

/// Reads a thin archive, and opens what it names.
class ArchiveContents::Thin {
public:
  Thin(const std::string& path, ArchiveContents& out) : folder_(archive_folder(path)), out_(out) {}

  /// Fails if a header is damaged.
  Result<void> read(std::span<const std::byte> bytes) {
    return read_thin_archive(as_text(bytes), [&](std::string_view name, std::optional<std::uint64_t> origin) {
      add(name, origin);
    });
  }

private:
  /// A file that was opened, once for all its members.
  struct Named {
    std::span<const std::byte> bytes;
    std::optional<std::vector<Member>> members; ///< if it is an archive
  };
  void add(std::string_view name, std::optional<std::uint64_t> origin);
  Result<Named*> open(std::string_view name);

  std::filesystem::path folder_;
  std::map<std::string_view, Named> files_;
  ArchiveContents& out_;
};

Result<ArchiveContents::Thin::Named*> ArchiveContents::Thin::open(std::string_view name) {
  if (const auto known = files_.find(name); known != files_.end()) return &known->second;
  auto file = File::open_named(named_path(folder_, name), {});
  if (!file) return unexpected(std::move(file.error()));
  file->accept();
  Named named{out_.files_.emplace_back(std::move(*file)).bytes(), {}};
  if (is_thin_archive(named.bytes)) return fail("a thin archive, which another one names");
  if (is_archive(named.bytes)) {
    auto members = archive_members(named.bytes);
    if (!members) return unexpected(std::move(members.error()));
    named.members = std::move(*members);
  }
  return &files_.emplace(name, std::move(named)).first->second;
}

void ArchiveContents::Thin::add(std::string_view name, std::optional<std::uint64_t> origin) {
  const std::string shown = shown_name(name);
  const auto named = open(name);
  if (!named) return out_.give_up(shown, named.error());
  if (!origin) return out_.add({shown, (*named)->bytes}, 1);
  const std::vector<Member> none, &members = (*named)->members ? *(*named)->members : none;
  const auto member = std::ranges::lower_bound(members, *origin, {}, &Member::header_offset);
  if (member == members.end() || member->header_offset != *origin)
    return out_.give_up(shown, {"no member of this archive begins at " + hex(*origin), {}, {}});
  out_.add_all({&*member, 1}, shown, 1);
}

void ArchiveContents::give_up(std::string name, Problem problem) {
  if (unreadable_.size() < max_members) unreadable_.push_back({std::move(name), std::move(problem)});
}

void ArchiveContents::add_all(std::span<const Member> members, const std::string& outer, int depth) {
  for (const Member& member : members) {
    if (members_.size() >= max_members) return;
    add({outer + '(' + member.name + ')', member.bytes, member.header_offset}, depth);
  }
}

void ArchiveContents::add(Member member, int depth) {
  if (!is_archive(member.bytes)) {
    members_.push_back(std::move(member));
    return;
  }
  if (is_thin_archive(member.bytes))
    return give_up(std::move(member.name), {"a thin archive in an archive", {}, {}});
  if (depth >= max_depth) return give_up(std::move(member.name), {"too many archives in archives", {}, {}});
  const auto inner = archive_members(member.bytes);
  if (!inner) return give_up(std::move(member.name), inner.error());
  add_all(*inner, member.name, depth + 1);
}

std::uint64_t ArchiveContents::bytes_in_files() const {
  std::uint64_t all = 0;
  for (const File& file : files_) all += file.bytes().size();
  return all;
}

Result<ArchiveContents> ArchiveContents::open(std::span<const std::byte> bytes, const std::string& path) {
  ArchiveContents out;
  if (is_thin_archive(bytes)) {
    if (path == "-")
      return fail(
          "a thin archive: contains only names of files, in its own directory; name the archive instead");
    if (auto read = Thin(path, out).read(bytes); !read) return unexpected(std::move(read.error()));
  } else {
    auto members = archive_members(bytes);
    if (!members) return unexpected(std::move(members.error()));
    for (Member& member : *members) out.add(std::move(member), 1);
  }
  if (out.members_.size() >= max_members) return fail("too many members in archives of archives");
  return out;
}

} // namespace sframe::elf
