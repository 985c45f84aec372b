// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of output formats. driver.cc splits sections, applies the filters and reports faults; a
// Dumper only writes. The order of calls is as follows, with `*` for repetition:
//
//    begin_archive? (begin_object (no_section | section)* end_object)* finish        section = empty_section
//      | begin_section ((begin_part function* end_part) | unreadable)* end_section
//
// unreadable_file may replace an object.
//
// A part is one SFrame section: an ELF section holds several if the linker only concatenated them.

#pragma once

#include "names.h"
#include "object.h"

#include <sframe/section.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sframe::dump {

/// One SFrame section within an ELF section.
struct Part {
  const Section& section;
  std::uint64_t offset = 0; ///< from the start of the ELF section
  std::uint32_t number = 0; ///< 0 for the first
};

class Dumper {
public:
  virtual ~Dumper() = default;

  /// True if sections of this version are shown without their relocations applied.
  virtual bool needs_raw_bytes([[maybe_unused]] std::uint8_t version) const { return false; }
  /// True if sections are selected by name only, regardless of type, and only the first one of an object.
  virtual bool named_sections_only() const { return false; }
  virtual bool first_section_only() const { return false; }
  /// True if only the first of concatenated parts is shown.
  virtual bool first_part_only() const { return false; }
  /// The reason why this format cannot show the part; empty if it can.
  virtual std::optional<std::string> refuses([[maybe_unused]] const Part& part) const { return std::nullopt; }

  /// A file or archive member that cannot be shown, or only in part. Called between objects.
  virtual void unreadable_file([[maybe_unused]] const std::string& name,
                               [[maybe_unused]] const Problem& problem) {}
  virtual void begin_archive([[maybe_unused]] const std::string& path) {}
  virtual void begin_object(const Object& object) = 0;
  virtual void end_object() {}
  /// The object has no section of the requested name.
  virtual void no_section([[maybe_unused]] const Object& object) {}
  /// The section is empty.
  virtual void empty_section(const Object& object, const ObjectSection& section) = 0;
  virtual void begin_section(const Object& object, const ObjectSection& section) = 0;
  virtual void end_section() {}
  virtual void begin_part(const Part& part) = 0;
  /// `fault` is the error that ended the part early, or nullptr.
  virtual void end_part([[maybe_unused]] const Problem* fault) {}
  /// The rest of the section has no readable SFrame data.
  virtual void unreadable([[maybe_unused]] const Problem& fault) {}
  /// Shows a function with its rows, up to the first fault, which it returns. Advances `rows` to their end.
  virtual std::optional<Error> function(const EncodedFde& fde, const FunctionLocation& location,
                                        RowCursor& rows) = 0;
  /// Called after the last file.
  virtual void finish() {}
};

} // namespace sframe::dump
