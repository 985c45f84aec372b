// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets LLVM's printers (ScopedPrinter, json::OStream) write to an Output.

#pragma once

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
  explicit OutputStream(tool::Output& out) : out_(out) { SetBufferSize(std::size_t{1} << 16); }
  ~OutputStream() override { flush(); }

private:
  void write_impl(const char* data, std::size_t size) override {
    out_ << std::string_view(data, size);
    written_ += size;
  }
  std::uint64_t current_pos() const override { return written_; }

  tool::Output& out_;
  std::uint64_t written_ = 0;
};

} // namespace sframe::dump
