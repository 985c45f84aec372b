// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is shown as a unit: an ELF file, a member of an archive, an image that was mapped in the process of a
// core file, or a file that is nothing but an SFrame section. inputs.h makes these from the files named on
// the command line.

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
  elf::Contents contents;                ///< relocations applied
  const elf::Section* section = nullptr; ///< where it comes from, if from a section of object.image
};

struct Object {
  enum class Kind : std::uint8_t { file, archive_member, core_image, raw };

  Kind kind = Kind::file;
  std::string path;                  ///< as the command line has it; "-" for standard input
  std::string member;                ///< name in the archive, or of the mapped file
  const elf::Image* image = nullptr; ///< nullptr for a raw section
  std::uint64_t bias = 0;            ///< core_image: what was added to the addresses of `image`
  std::vector<ObjectSection> sections;
  std::vector<Problem> problems; ///< with the file or its sections; reported where they were found

  /// "lib.a(member.o)", or the path alone.
  std::string name() const { return member.empty() ? path : path + "(" + member + ")"; }
  /// True where functions lie in sections that all start at address 0.
  bool relocatable() const { return image && image->relocatable(); }
};

/// Names of an ELF file's format, as GNU ("elf64-littleaarch64") and LLVM ("aarch64") tools print them.
struct FormatNames {
  std::string_view gnu_format;
  std::string_view llvm_format;
  std::string_view llvm_arch;
};

/// By machine and byte order; generic names where SFrame has no ABI for them.
FormatNames format_names(const elf::Image& image);

} // namespace sframe::dump
