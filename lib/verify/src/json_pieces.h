// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: LLVM's JSON writer, used in pieces. Files are written concurrently and joined later, so each has
// its own writer, whose state is inside `depth` lists.

#pragma once

#include "sframe/base/printable.h"
#include "sframe/verify/report.h"

#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include <string>
#include <string_view>

namespace sframe::verify {

class JsonPieces {
public:
  explicit JsonPieces(unsigned depth) : stream_(text_), json_(stream_, 2), depth_(depth) {
    for (unsigned i = 0; i < depth; ++i) json_.arrayBegin();
    take();
  }
  ~JsonPieces() {
    for (unsigned i = 0; i < depth_; ++i) json_.arrayEnd();
  }
  JsonPieces(const JsonPieces&) = delete;
  JsonPieces& operator=(const JsonPieces&) = delete;

  llvm::json::OStream& json() { return json_; }

  /// The text written since the last call.
  std::string take() {
    json_.flush();
    std::string out = std::move(text_);
    text_.clear();
    return out;
  }

  /// Writes null for empty text.
  void text(llvm::StringRef key, std::string_view value) {
    if (value.empty()) return json_.attribute(key, nullptr);
    json_.attributeBegin(key);
    this->value(value);
    json_.attributeEnd();
  }

  /// Writes text as an element of a list.
  void value(std::string_view value) {
    std::string quoted;
    append_json_string(quoted, value);
    json_.rawValue(quoted);
  }

private:
  std::string text_;
  llvm::raw_string_ostream stream_;
  llvm::json::OStream json_;
  unsigned depth_;
};

/// The members of the object "run" (docs/json.md); SARIF has them, too.
void write_run(JsonPieces& pieces, const RunSummary& run);

} // namespace sframe::verify
