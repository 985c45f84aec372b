// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The unit of output: an ELF file, an archive member, an image that was mapped in a core file's process, or a
// raw SFrame section in a file. inputs.h makes these from the files on the command line.

#pragma once

#include <sframe/elf/image.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::dump {

/// A section (or segment) that should hold SFrame data, with its bytes.
struct ObjectSection {
  std::string name;
  std::uint64_t address = 0;
  elf::Contents contents;                      ///< relocations applied
  const elf::SectionHeader* section = nullptr; ///< its origin, if it is a section of object.image
};

struct Object {
  enum class Kind : std::uint8_t { file, archive_member, core_image, raw };

  Kind kind = Kind::file;
  std::string path;                  ///< as on the command line; "-" for standard input
  std::string member;                ///< name in the archive, or of the mapped file
  const elf::Image* image = nullptr; ///< nullptr for a raw section
  std::uint64_t bias = 0;            ///< core_image: added to the addresses of `image`
  std::vector<ObjectSection> sections;
  std::vector<Problem> problems; ///< in the file or its sections; reported when found

  /// "lib.a(member.o)", or the path alone.
  std::string name() const { return member.empty() ? path : path + "(" + member + ")"; }
  /// True if functions are in sections that all start at address 0.
  bool relocatable() const { return image && image->relocatable(); }
};

} // namespace sframe::dump
