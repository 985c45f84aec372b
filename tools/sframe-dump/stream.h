// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets LLVM's printers (ScopedPrinter, json::OStream) write to an Output, also as the data of a page.

#pragma once

#include <sframe/page/page.h>
#include <sframe/tool/output.h>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/raw_ostream.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sframe::dump {

inline llvm::StringRef to_ref(std::string_view text) {
  return {text.data(), text.size()};
}

class OutputStream final : public llvm::raw_ostream {
public:
  /// `in_page`: what is written is JSON for a script element.
  explicit OutputStream(tool::Output& out, bool in_page = false) : out_(out), in_page_(in_page) {
    SetBufferSize(std::size_t{1} << 16);
  }
  ~OutputStream() override { flush(); }

private:
  void write_impl(const char* data, std::size_t size) override {
    const std::string_view text(data, size);
    if (in_page_)
      out_ << page::script_json(text);
    else
      out_ << text;
    written_ += size;
  }
  std::uint64_t current_pos() const override { return written_; }

  tool::Output& out_;
  bool in_page_;
  std::uint64_t written_ = 0;
};

} // namespace sframe::dump
