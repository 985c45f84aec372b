// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the JSON of one file (docs/json.md), which the HTML page has, too.

#pragma once

#include "json_pieces.h"

namespace sframe::verify {

class JsonReport : public FileReport {
public:
  explicit JsonReport(const Context& context) : JsonReport(context, false) {}

protected:
  /// `in_page`: the JSON is for a script element.
  JsonReport(const Context& context, bool in_page);

  void print(const Finding& finding, Severity severity) override;
  void print_end(const Summary& summary) override;

  /// Further keys of a finding, and of the file.
  virtual void add_to_finding([[maybe_unused]] const Finding& finding) {}
  virtual void add_to_file() {}

  JsonPieces& pieces() { return pieces_; }

private:
  void write();

  bool in_page_;
  JsonPieces pieces_;
  llvm::json::OStream& json_ = pieces_.json();
};

/// The head of the document, up to the files.
std::string json_head();
/// The end of the list of files and the keys after it, without the end of the object.
std::string json_tail(const RunEnd& end);
/// The entry of a file that could not be verified.
std::string json_unreadable(const Failure& failure);

} // namespace sframe::verify
