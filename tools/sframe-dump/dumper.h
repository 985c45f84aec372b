// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every output format implements. driver.cc splits sections, applies the filters and reports faults; a
// Dumper only writes. It is called in this order, with `*` for any number of times:
//
//   begin_archive? (begin_object (no_section | section)* end_object)* finish        section = empty_section
//     | begin_section ((begin_part function* end_part) | unreadable)* end_section
//
// unreadable_file may come in the place of an object.
//
// A part is one SFrame section: an ELF section holds several of them where a linker only concatenated.

#pragma once

#include "names.h"
#include "object.h"

#include <sframe/section.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sframe::dump {

/// One SFrame section in the section that holds it.
struct Part {
  const Section& section;
  std::uint64_t offset = 0; ///< from the start of the ELF section
  std::uint32_t number = 0; ///< 0 for the first
};

class Dumper {
public:
  virtual ~Dumper() = default;

  /// True where sections of this version are shown without their relocations applied.
  virtual bool wants_raw_bytes([[maybe_unused]] std::uint8_t version) const { return false; }
  /// True where a section counts by its name alone, whatever its type, and only the first one of an object.
  virtual bool named_sections_only() const { return false; }
  virtual bool first_section_only() const { return false; }
  /// True where only the first of concatenated parts is shown.
  virtual bool first_part_only() const { return false; }
  /// Why this format cannot show the part, or nothing.
  virtual std::optional<std::string> refuses([[maybe_unused]] const Part& part) const { return std::nullopt; }

  /// A file, or a member of an archive, that cannot be shown, or only in part. Between objects.
  virtual void unreadable_file([[maybe_unused]] const std::string& name,
                               [[maybe_unused]] const Problem& problem) {}
  virtual void begin_archive([[maybe_unused]] const std::string& path) {}
  virtual void begin_object(const Object& object) = 0;
  virtual void end_object() {}
  /// The object has no section of the name wanted.
  virtual void no_section([[maybe_unused]] const Object& object) {}
  /// The section has no bytes.
  virtual void empty_section(const Object& object, const ObjectSection& section) = 0;
  virtual void begin_section(const Object& object, const ObjectSection& section) = 0;
  virtual void end_section() {}
  virtual void begin_part(const Part& part) = 0;
  /// `fault` is what ended the part early, or nullptr.
  virtual void end_part([[maybe_unused]] const Problem* fault) {}
  /// From here on, the section holds no SFrame data that can be read.
  virtual void unreadable([[maybe_unused]] const Problem& fault) {}
  /// Shows a function with its rows, up to the first fault, which it returns. Moves `rows` to their end.
  virtual std::optional<Error> function(const EncodedFde& fde, const Place& place, RowCursor& rows) = 0;
  /// After the last file.
  virtual void finish() {}
};

} // namespace sframe::dump
