// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's writer of JSON for a sink, and for strings of any bytes.

#pragma once

#include "sframe/base/printable.h"
#include "sframe/profile/folded.h"

#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sframe::profile {

using llvm::json::OStream;

class SinkStream final : public llvm::raw_ostream {
public:
  explicit SinkStream(const Sink& to) : to_(to) { SetBufferSize(std::size_t{1} << 16); }
  ~SinkStream() override { flush(); }

private:
  void write_impl(const char* data, std::size_t size) override {
    to_({data, size});
    written_ += size;
  }
  std::uint64_t current_pos() const override { return written_; }

  const Sink& to_;
  std::uint64_t written_ = 0;
};

/// An element.
inline void write_text(OStream& json, std::string_view text) {
  std::string quoted;
  append_json_string(quoted, text);
  json.rawValue(quoted);
}

/// A member.
inline void write_text(OStream& json, llvm::StringRef key, std::string_view text) {
  json.attributeBegin(key);
  write_text(json, text);
  json.attributeEnd();
}

/// A list as a member: `write` writes each element.
inline void write_list(OStream& json, llvm::StringRef key, const auto& list, const auto& write) {
  json.attributeArray(key, [&] {
    for (const auto& element : list) write(element);
  });
}

} // namespace sframe::profile
