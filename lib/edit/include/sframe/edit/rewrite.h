// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes an .sframe section into an ELF file. A linked file gets a loaded section of type SHT_GNU_SFRAME and
// a segment PT_GNU_SFRAME of exactly its size, by which unwinders find it; a relocatable object gets the
// section with its relocations.
//
//   auto insertion = sframe::edit::Insertion::plan(image);
//   const auto address = insertion->choose_address(size);
//   const auto linked = insertion->write(section_for(*address));
//
// No address and no byte of the program changes: the section goes into a new read-only PT_LOAD after the last
// one. Two more program headers need space; tables and notes that the linker put next to them may move.
// src/rewrite_layout.h describes the layout and the reasons.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/edit/edit.h"
#include "sframe/elf/image.h"
#include "sframe/elf/object.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::edit {

/// The possible addresses of a section.
struct AddressBounds {
  std::uint64_t lowest = 0, highest = 0;
};

/// Bytes of a read-only PT_LOAD that nothing uses.
struct Room {
  std::uint64_t offset = 0; ///< in the file
  std::uint64_t address = 0, size = 0;
};

/// A read-only loaded section whose bytes are in the file already, and only its header is missing.
struct UnnamedSection {
  std::string_view name; ///< of static duration
  std::uint32_t type = 0;
  std::uint64_t offset = 0, address = 0, size = 0, align = 1;
};

/// What an Insertion finds in the file, or adds to it.
struct Additions {
  std::optional<Room> room;              ///< the section goes there if it fits, with what must move
  std::optional<UnnamedSection> section; ///< gets a header, in the order of offsets
};

/// A linked file with the section added.
struct RewrittenFile {
  Edit edit;
  /// The program headers had no space at the start of the file and are now after the last segment: the file
  /// works, but libelf's tools (eu-strip, eu-elfcompress, find-debuginfo) would overwrite them with zeros.
  bool headers_moved = false;
};

/// Adds the section to a linked file, in four steps: plan, choose the address by the section's size, make the
/// section for that address (the caller does), write.
///
/// An existing section is replaced. If it has its own PT_LOAD after all others, as this class makes it, that
/// PT_LOAD is first removed: adding a section twice gives the same bytes, also if objcopy removed the section
/// in between. Program headers that an earlier version of this code moved to the file's end move back to the
/// start if there is space. Otherwise the new section replaces the old one in place if it fits (the rest is
/// filled with zeros); else it goes into a new PT_LOAD and the old bytes become zeros.
class Insertion {
public:
  /// Fails for files that are not executables or shared objects, for damaged headers, and for layouts that
  /// loaders would reject. Also fails if bytes after the image belong to no section or segment (an appended
  /// archive), which moving the headers would lose. A file without section headers gets only segments. Only
  /// reads the image, which must outlive the result. Linear in the number of headers and symbols.
  static Result<Insertion> plan(const elf::Image& image, const Additions& additions = {});
  ~Insertion();
  Insertion(Insertion&&) noexcept;
  Insertion& operator=(Insertion&&) noexcept;

  /// Where the section may be: known before its size, so that a conversion can consider the reach of its
  /// fields.
  AddressBounds bounds() const;

  /// The address of a section of at most `size` bytes; within bounds(). Fails if only a smaller one has room.
  Result<std::uint64_t> choose_address(std::uint64_t size);

  /// True if the chosen address is in Additions::room.
  bool is_in_room() const;

  /// The file with the section, which was made for the chosen address. Linear in the number of headers,
  /// symbols and the section's size.
  Result<RewrittenFile> write(std::span<const std::byte> section) const;

private:
  struct [[gnu::visibility("hidden")]] Plan;
  explicit Insertion(std::unique_ptr<Plan> plan);
  std::unique_ptr<Plan> plan_;
};

/// A relocatable object with `.sframe` and `.rela.sframe` added, as an assembler makes them: one relocation
/// per function. Linkers that support SFrame merge such sections, and drop functions with their code
/// sections.
///
/// `section` is for the address object.end(); function starts are addresses of the layout. The written
/// section has start fields of 0, is not marked sorted and keeps its flag FUNC_START_PCREL. The relocations
/// refer to existing symbols: the section's own, else a local one, else a global one. All other sections keep
/// number, contents and header except for their offset in the file; an existing `.sframe` is replaced at the
/// same index. Doing it twice gives the same bytes.
///
/// Fails if a function's start is not in code or is in a section without symbols. Fails for damaged headers,
/// sections that overlap in the file, and more than one `.sframe` or one in a group. Fails for trailing bytes
/// that no header describes (the signature of a kernel module). Linear in the file's size.
Result<Edit> add_section_to_object(const elf::ObjectLayout& object, std::span<const std::byte> section);

} // namespace sframe::edit

#pragma GCC visibility pop
