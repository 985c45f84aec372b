// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "section_headers.h"

#include <array>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <link.h>
#include <unistd.h>

namespace sframe::here {

namespace {

/// A file open for reading.
class File {
public:
  explicit File(const char* path) : descriptor_(open(path, O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Returns the number of bytes read; fewer at the end of the file.
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) const {
    if (offset > INT64_MAX) return 0;
    const ssize_t got = pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    return got < 0 ? 0 : static_cast<std::size_t>(got);
  }
  template <class T> std::optional<T> read(std::uint64_t offset) const {
    T value;
    if (read(offset, std::as_writable_bytes(std::span(&value, 1))) != sizeof value) return std::nullopt;
    return value;
  }

private:
  int descriptor_;
};

/// The name at the offset, limited to the length of the names searched for.
std::string_view read_name(const File& file, std::uint64_t offset, std::array<char, 16>& name) {
  const std::size_t got = file.read(offset, std::as_writable_bytes(std::span(name)));
  const std::string_view text(name.data(), got);
  return text.substr(0, text.find('\0'));
}

} // namespace

FileSections unwind_sections_of_program() {
  FileSections found;
  const File file("/proc/self/exe");
  const auto header = file.read<ElfW(Ehdr)>(0);
  if (!header || std::string_view(reinterpret_cast<const char*>(header->e_ident), SELFMAG) != ELFMAG ||
      header->e_shentsize != sizeof(ElfW(Shdr)))
    return found;
  const auto section = [&](std::uint64_t number) {
    return file.read<ElfW(Shdr)>(header->e_shoff + number * sizeof(ElfW(Shdr)));
  };
  const auto names = section(header->e_shstrndx);
  for (std::uint64_t i = 1; names && i < header->e_shnum; ++i) {
    const auto one = section(i);
    if (!one) break;
    if (!(one->sh_flags & SHF_ALLOC)) continue;
    std::array<char, 16> buffer;
    const std::string_view name = read_name(file, names->sh_offset + one->sh_name, buffer);
    if ((name == ".eh_frame" || name == ".sframe") && found.count < found.all.size())
      found.all[found.count++] = {name == ".eh_frame", one->sh_addr, one->sh_size};
  }
  return found;
}

} // namespace sframe::here
