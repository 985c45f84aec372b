// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/elf/file_kind.h"

#include "sframe/base/printable.h"
#include "sframe/base/text.h"
#include "sframe/elf/llvm_types.h"

#include <llvm/BinaryFormat/Magic.h>

#include <algorithm>

namespace sframe::elf {

namespace {

struct KindOfFile {
  std::string_view magic, name;
};

/// The formats that LLVM does not recognise.
constexpr KindOfFile file_kinds[] = {
    {{"\x28\xb5\x2f\xfd", 4}, "zstd-compressed"},
    {{"\xfd\x37\x7a\x58\x5a\x00", 6}, "xz-compressed"},
    {{"\x04\x22\x4d\x18", 4}, "lz4-compressed"},
    {"\x1f\x8b", "gzip-compressed"},
    {"BZh", "bzip2-compressed"},
    {"\x5d\x00\x00", "lzma-compressed"},
    {"LZIP", "lzip-compressed"},
    {"\x1f\x9d", "compressed by compress"},
    {"PK\x03\x04", "zip archive"},
    {"7z\xbc\xaf\x27\x1c", "7z archive"},
    {"070701", "cpio archive"},
    {{"\xed\xab\xee\xdb", 4}, "rpm package"},
    {"#!", "script"},
};

std::string_view kind_by_llvm(llvm::StringRef bytes) {
  using Magic = llvm::file_magic;
  const Magic magic = llvm::identify_magic(bytes);
  if (magic >= Magic::macho_object && magic <= Magic::macho_file_set) return "Mach-O file";
  switch (magic) {
  case Magic::bitcode: return "LLVM bitcode";
  case Magic::archive: return "archive";
  case Magic::pecoff_executable: return "Windows program";
  case Magic::wasm_object: return "WebAssembly module";
  case Magic::pdb: return "Windows debug information";
  default: return {};
  }
}

bool is_text(std::string_view bytes) {
  constexpr std::size_t most = 512;
  const std::size_t end = std::min(bytes.size(), most);
  for (std::size_t at = 0; at < end;) {
    const TextPiece piece = first_piece(bytes.substr(at));
    const bool is_blank = bytes[at] == '\n' || bytes[at] == '\t' || bytes[at] == '\r' || bytes[at] == '\f';
    if (!is_blank && !piece.is_printable) return false;
    at += piece.size;
  }
  return true;
}

std::string_view kind_of(std::span<const std::byte> bytes) {
  const std::string_view text = as_text(bytes);
  constexpr std::size_t tar_magic = 257;
  for (const KindOfFile& kind : file_kinds)
    if (text.starts_with(kind.magic)) return kind.name;
  if (text.size() > tar_magic && text.substr(tar_magic).starts_with("ustar")) return "tar archive";
  if (is_text(text)) return "text";
  if (const auto kind = kind_by_llvm(to_llvm(bytes)); !kind.empty()) return kind;
  const auto start = text.substr(0, 4096);
  return start.find_first_not_of('\0') == start.npos ? "zeros" : "";
}

} // namespace

std::string with_file_kind(std::string_view message, std::span<const std::byte> bytes) {
  if (bytes.empty()) return "empty file";
  std::string text(message);
  if (const std::string_view kind = kind_of(bytes); !kind.empty()) text.append(" (").append(kind).append(")");
  return text;
}

} // namespace sframe::elf
