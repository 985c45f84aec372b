// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "gzip.h"

#include <array>
#include <new>

#ifdef SFRAME_HAVE_Z
#  include <zlib.h>
#endif

namespace sframe::profile {

#ifdef SFRAME_HAVE_Z
struct Gzip::Stream : z_stream {};

Gzip::Gzip(const Sink& to) : to_(to), stream_(std::make_unique<Stream>()) {
  constexpr int gzip_window = 15 + 16; // with a header of gzip, without a time
  if (::deflateInit2(stream_.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw std::bad_alloc();
}

Gzip::~Gzip() {
  (void)::deflateEnd(stream_.get());
}

void Gzip::pump(std::string_view text, bool is_last) {
  std::array<char, std::size_t{1} << 16> out;
  constexpr std::size_t most = std::size_t{1} << 30;
  do {
    const std::string_view part = text.substr(0, most);
    text.remove_prefix(part.size());
    // zlib does not change its input.
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data())); // NOLINT
    stream_->avail_in = static_cast<uInt>(part.size());
    do {
      stream_->next_out = reinterpret_cast<Bytef*>(out.data());
      stream_->avail_out = static_cast<uInt>(out.size());
      (void)::deflate(stream_.get(), is_last && text.empty() ? Z_FINISH : Z_NO_FLUSH);
      to_({out.data(), out.size() - stream_->avail_out});
    } while (stream_->avail_out == 0);
  } while (!text.empty());
}

void Gzip::write(std::string_view text) {
  pump(text, false);
}
void Gzip::finish() {
  pump({}, true);
}
#else
struct Gzip::Stream {};
Gzip::Gzip(const Sink& to) : to_(to) {}
Gzip::~Gzip() = default;
void Gzip::pump(std::string_view text, bool) {
  to_(text);
}
void Gzip::write(std::string_view text) {
  pump(text, false);
}
void Gzip::finish() {}
#endif

} // namespace sframe::profile
