// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libsframe-bench OURS GNU: our libsframe.so.3 and GNU binutils' on the same made sections, in turn in one
// process. Prints the median times and their ratio (GNU's time divided by ours).

#include "made_section.h"
#include "sframe/convert.h"

#include <sframe-api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <random>
#include <vector>

namespace sframe::bench {
namespace {

constexpr std::uint64_t address = 0x300000;
constexpr int rounds = 15;

/// The functions of one library.
struct Library {
  explicit Library(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_) return;
    std::fprintf(stderr, "libsframe-bench: %s\n", dlerror());
    std::exit(2);
  }
  template <class Function> Function* get(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }

private:
  void* handle_;

public:
#define SFRAME_BENCH_FUNCTION(name)                                                                          \
  decltype(sframe_##name)* name = get<decltype(sframe_##name)>("sframe_" #name)
  SFRAME_BENCH_FUNCTION(decode);
  SFRAME_BENCH_FUNCTION(decoder_free);
  SFRAME_BENCH_FUNCTION(find_fre);
  SFRAME_BENCH_FUNCTION(decoder_get_num_fidx);
  SFRAME_BENCH_FUNCTION(decoder_get_funcdesc_v3);
  SFRAME_BENCH_FUNCTION(decoder_get_fres_buf);
  SFRAME_BENCH_FUNCTION(encode);
  SFRAME_BENCH_FUNCTION(encoder_add_funcdesc_v3);
  SFRAME_BENCH_FUNCTION(encoder_add_fres_buf);
  SFRAME_BENCH_FUNCTION(encoder_write);
  SFRAME_BENCH_FUNCTION(encoder_free);
#undef SFRAME_BENCH_FUNCTION
};

sframe_decoder_ctx* decode(const Library& library, const std::vector<std::byte>& bytes) {
  int error = 0;
  sframe_decoder_ctx* decoder =
      library.decode(reinterpret_cast<const char*>(bytes.data()), bytes.size(), &error);
  if (!decoder) std::exit(2);
  return decoder;
}

/// What ld does with its inputs: every function goes from a decoder to an encoder, which then writes and
/// sorts.
void merge(const Library& library, const sframe_decoder_ctx* decoder) {
  int error = 0;
  sframe_encoder_ctx* encoder = library.encode(SFRAME_VERSION_3, SFRAME_F_FDE_FUNC_START_PCREL,
                                               SFRAME_ABI_AMD64_ENDIAN_LITTLE, 0, -8, &error);
  for (std::uint32_t i = 0; i < library.decoder_get_num_fidx(decoder); ++i) {
    std::uint32_t num_fres = 0, size = 0;
    std::int64_t start = 0;
    unsigned char info = 0, info2 = 0;
    std::uint8_t rep_size = 0;
    char* rows = nullptr;
    std::size_t rows_size = 0;
    if (library.decoder_get_funcdesc_v3(decoder, i, &num_fres, &size, &start, &info, &info2, &rep_size) ||
        library.decoder_get_fres_buf(decoder, i, &rows, &rows_size, &num_fres) ||
        library.encoder_add_funcdesc_v3(encoder, start, size, info, info2, rep_size, num_fres) ||
        library.encoder_add_fres_buf(encoder, i, num_fres, rows, rows_size))
      std::exit(2);
  }
  std::size_t size = 0;
  if (!library.encoder_write(encoder, &size, true, &error)) std::exit(2);
  library.encoder_free(&encoder);
}

double seconds(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// Runs the bodies in turn and prints the nanoseconds of one of `count` operations.
void compare(const char* what, std::uint32_t functions, double count, const std::function<void()>& ours,
             const std::function<void()>& gnu) {
  std::vector<double> our_times, gnu_times, ratios;
  for (int i = 0; i < rounds; ++i) {
    our_times.push_back(seconds(ours));
    gnu_times.push_back(seconds(gnu));
    ratios.push_back(gnu_times.back() / our_times.back());
  }
  std::printf("%-34s %8u functions: ours %12.1f ns, GNU %12.1f ns, ratio %.2f\n", what, functions,
              median(our_times) / count * 1e9, median(gnu_times) / count * 1e9, median(ratios));
}

void run(const Library& ours, const Library& gnu, std::uint32_t count) {
  const auto functions = make_functions(count);
  const auto bytes = encode(functions, {.version = VersionNumber::v3}, address);
  const auto flipped = flip_byte_order(bytes);
  if (!flipped) std::exit(2);

  const auto decode_with = [](const Library& library, const std::vector<std::byte>& from) {
    return [&library, &from] {
      sframe_decoder_ctx* decoder = decode(library, from);
      library.decoder_free(&decoder);
    };
  };
  compare("decode", count, 1, decode_with(ours, bytes), decode_with(gnu, bytes));
  compare("decode, the other byte order", count, 1, decode_with(ours, *flipped), decode_with(gnu, *flipped));

  std::mt19937_64 random(1);
  std::vector<std::int64_t> pcs(std::size_t{1} << 17);
  for (std::int64_t& pc : pcs) {
    const Fde& fde = functions[random() % count].fde;
    pc = static_cast<std::int64_t>(fde.start + random() % fde.size - address);
  }
  sframe_decoder_ctx *our_decoder = decode(ours, bytes), *gnu_decoder = decode(gnu, bytes);
  const auto find_with = [&](const Library& library, const sframe_decoder_ctx* decoder) {
    return [&library, &pcs, decoder] {
      std::size_t found = 0;
      for (const std::int64_t pc : pcs) {
        sframe_frame_row_entry row;
        found += library.find_fre(decoder, pc, &row) == 0;
      }
      if (found != pcs.size()) std::exit(2);
    };
  };
  compare("find, random addresses", count, static_cast<double>(pcs.size()), find_with(ours, our_decoder),
          find_with(gnu, gnu_decoder));
  compare(
      "merge as ld does", count, 1, [&] { merge(ours, our_decoder); }, [&] { merge(gnu, gnu_decoder); });
  ours.decoder_free(&our_decoder);
  gnu.decoder_free(&gnu_decoder);
}

} // namespace
} // namespace sframe::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: libsframe-bench OURS GNU (paths of libsframe.so.3)\n", stderr);
    return 2;
  }
  const sframe::bench::Library ours(argv[1]), gnu(argv[2]);
  for (const std::uint32_t count : {1'000u, 10'000u, 100'000u}) sframe::bench::run(ours, gnu, count);
}
