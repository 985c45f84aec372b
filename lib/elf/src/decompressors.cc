// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decompressors: libzstd, liblzma, liblz4, zlib. They are C and report it if there is no memory; here
// that is std::bad_alloc, as everywhere.
//
// Windows of all sizes that the programs zstd and xz make are allowed. A window takes memory only as it
// fills, so never more than what is decompressed.

#include "unpack.h"

#if SFRAME_HAVE_ZSTD
#  include <zstd.h>
#  include <zstd_errors.h>
#endif
#if SFRAME_HAVE_LZMA
#  include <lzma.h>
#endif
#if SFRAME_HAVE_LZ4
#  include <lz4frame.h>
#endif

#if SFRAME_HAVE_Z
#  include <zlib.h>
#endif

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <string_view>

namespace sframe::elf {

#if SFRAME_HAVE_ZSTD
namespace {

class ZstdDecompressor final : public Decompressor {
public:
  ZstdDecompressor() {
    if (!stream_) throw std::bad_alloc();
    constexpr int largest = 31; // binary logarithm; the default is 27
    (void)ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, largest);
  }
  ~ZstdDecompressor() override { ZSTD_freeDStream(stream_); }

  Status step(std::span<const std::byte>& in, std::span<std::byte>& out) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t result = ZSTD_decompressStream(stream_, &to, &from);
    in = in.subspan(from.pos);
    out = out.subspan(to.pos);
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge) return Status::too_large;
    if (ZSTD_isError(result)) return Status::damaged;
    return result == 0 ? Status::done : Status::more;
  }

private:
  ZSTD_DStream* stream_ = ZSTD_createDStream();
};

} // namespace

std::unique_ptr<Decompressor> make_zstd_decompressor() {
  return std::make_unique<ZstdDecompressor>();
}
#else
std::unique_ptr<Decompressor> make_zstd_decompressor() {
  return nullptr;
}
#endif

#if SFRAME_HAVE_LZMA
namespace {

class XzDecompressor final : public Decompressor {
public:
  XzDecompressor() {
    // For a dictionary of 2 GiB, and the decompressor's own.
    constexpr std::uint64_t memory_limit = std::uint64_t{2049} << 20;
    const lzma_ret result = lzma_stream_decoder(&stream_, memory_limit, 0);
    if (result == LZMA_MEM_ERROR) throw std::bad_alloc();
    ready_ = result == LZMA_OK;
  }
  ~XzDecompressor() override { lzma_end(&stream_); }

  Status step(std::span<const std::byte>& in, std::span<std::byte>& out) override {
    if (!ready_) return Status::damaged;
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    const lzma_ret result = lzma_code(&stream_, LZMA_RUN);
    in = in.last(stream_.avail_in);
    out = out.last(stream_.avail_out);
    if (result == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (result == LZMA_MEMLIMIT_ERROR) return Status::too_large;
    if (result == LZMA_STREAM_END) return Status::done;
    return result == LZMA_OK ? Status::more : Status::damaged;
  }

private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ready_ = false;
};

} // namespace

std::unique_ptr<Decompressor> make_xz_decompressor() {
  return std::make_unique<XzDecompressor>();
}
#else
std::unique_ptr<Decompressor> make_xz_decompressor() {
  return nullptr;
}
#endif

#if SFRAME_HAVE_LZ4
namespace {

class Lz4Decompressor final : public Decompressor {
public:
  Lz4Decompressor() {
    // Its other error is a library of another version, which the linker excludes.
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION))) throw std::bad_alloc();
  }
  ~Lz4Decompressor() override { LZ4F_freeDecompressionContext(context_); }

  Status step(std::span<const std::byte>& in, std::span<std::byte>& out) override {
    std::size_t taken = in.size(), made = out.size();
    const std::size_t result = LZ4F_decompress(context_, out.data(), &made, in.data(), &taken, nullptr);
    if (LZ4F_isError(result)) { // the codes are not in its stable interface
      if (LZ4F_getErrorName(result) == std::string_view("ERROR_allocation_failed")) throw std::bad_alloc();
      return Status::damaged;
    }
    in = in.subspan(taken);
    out = out.subspan(made);
    return result == 0 ? Status::done : Status::more;
  }

private:
  LZ4F_dctx* context_ = nullptr;
};

} // namespace

std::unique_ptr<Decompressor> make_lz4_decompressor() {
  return std::make_unique<Lz4Decompressor>();
}
#else
std::unique_ptr<Decompressor> make_lz4_decompressor() {
  return nullptr;
}
#endif

#if SFRAME_HAVE_Z
namespace {

class GzipDecompressor final : public Decompressor {
public:
  GzipDecompressor() {
    constexpr int largest_window_gzip_only = 15 + 16;
    const int result = inflateInit2(&stream_, largest_window_gzip_only);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    ready_ = result == Z_OK;
  }
  ~GzipDecompressor() override { inflateEnd(&stream_); }

  Status step(std::span<const std::byte>& in, std::span<std::byte>& out) override {
    if (!ready_) return Status::damaged;
    const auto limited = [](std::size_t size) {
      return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
    };
    const uInt given = limited(in.size()), room = limited(out.size());
    // zlib does not write there.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    stream_.avail_in = given;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = room;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    in = in.subspan(given - stream_.avail_in);
    out = out.subspan(room - stream_.avail_out);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result == Z_STREAM_END) return Status::done;
    return result == Z_OK || result == Z_BUF_ERROR ? Status::more : Status::damaged;
  }

private:
  z_stream stream_{};
  bool ready_ = false;
};

} // namespace

std::unique_ptr<Decompressor> make_gzip_decompressor() {
  return std::make_unique<GzipDecompressor>();
}
#else
std::unique_ptr<Decompressor> make_gzip_decompressor() {
  return nullptr;
}
#endif

} // namespace sframe::elf
