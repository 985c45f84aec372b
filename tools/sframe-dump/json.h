// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common parts of JSON output with and without --stats: the list of files with their sections.

#pragma once

#include "formats.h"
#include "stream.h"

#include <llvm/Support/JSON.h>

#include <string_view>

namespace sframe::dump {

/// Writes "key": "text"; bytes that are not UTF-8 become U+FFFD.
void write_text(llvm::json::OStream& json, std::string_view key, std::string_view text);

/// The keys of a section that come from its header; `name` is that of the ELF section.
void write_header(llvm::json::OStream& json, std::string_view name, const Part& part);

/// "error": the fault that ended a section early.
void write_fault(llvm::json::OStream& json, const Problem& fault);

/// The outer levels: {"files": [{"path", "sections": [...]}]}. The constructor opens them, finish() closes
/// them.
class JsonFiles {
public:
  explicit JsonFiles(tool::Output& out);
  /// As the data of a page with that title.
  JsonFiles(tool::Output& out, std::string_view page_title);

  llvm::json::OStream& json() { return json_; }
  void begin_object(const Object& object);
  void end_object();
  /// The first half of end_object(), with the object's "problems"; further keys belong to the object.
  void end_sections();
  /// An empty section, and an unreadable one, in the list of sections.
  void empty_section(const ObjectSection& section);
  void unreadable(const ObjectSection& section, const Problem& fault);
  /// A file of which nothing can be shown.
  void unreadable_file(const std::string& name, const Problem& problem);
  void finish();

private:
  JsonFiles(tool::Output& out, bool in_page);

  tool::Output& out_;
  bool in_page_;
  OutputStream stream_;
  llvm::json::OStream json_;
  const Object* object_ = nullptr; ///< set from begin_object() on
};

} // namespace sframe::dump
