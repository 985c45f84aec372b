// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// main() of the targets where there is no libFuzzer: runs a target over files, and over mutations of them
// that are the same each time. test/lit/fuzz does so in every build. A part of libFuzzer's command line:
//
//   NAME-fuzzer [-runs=N] [-max_len=BYTES] [-timeout=SECONDS] [-artifact_prefix=PATH] FILE|FOLDER...
//
// An input that ends the program, or takes more than SECONDS of processor time, stays as PATHcrash.

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <malloc.h>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <sys/time.h>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// The hooks that cost.h installs to count memory are AddressSanitizer's. Without it, these are in their
// place.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {
std::atomic<void (*)(const volatile void*, std::size_t)> allocated;
std::atomic<void (*)(const volatile void*)> freed;

void* note(void* memory) {
  if (const auto hook = allocated.load(); hook && memory) hook(memory, ::malloc_usable_size(memory));
  return memory;
}
} // namespace

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);

int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, std::size_t),
                                              void (*on_free)(const volatile void*)) {
  allocated = on_malloc;
  freed = on_free;
  return 1;
}

std::size_t __sanitizer_get_allocated_size(const volatile void* memory) {
  return ::malloc_usable_size(const_cast<void*>(memory));
}

void* malloc(std::size_t size) {
  return note(__libc_malloc(size));
}

void* calloc(std::size_t count, std::size_t size) {
  return note(__libc_calloc(count, size));
}

void* realloc(void* memory, std::size_t size) {
  // What cannot be enlarged stays: it is counted as freed only for this moment.
  if (const auto hook = freed.load(); hook && memory) hook(memory);
  void* const made = __libc_realloc(memory, size);
  note(made || size == 0 ? made : memory);
  return made;
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return note(__libc_memalign(alignment, size));
}

int posix_memalign(void** made, std::size_t alignment, std::size_t size) {
  void* const memory = note(__libc_memalign(alignment, size));
  if (!memory) return ENOMEM;
  *made = memory;
  return 0;
}

void free(void* memory) {
  if (const auto hook = freed.load(); hook && memory) hook(memory);
  __libc_free(memory);
}
}
#endif

namespace {

using Bytes = std::vector<std::uint8_t>;

struct Options {
  std::uint64_t runs = 0;
  std::uint64_t max_len = std::uint64_t(1) << 20;
  std::uint64_t timeout = 20;
  std::string artifact_prefix = "./";
};

/// What the handler of signals writes.
struct Current {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
  std::string path;
} current;

extern "C" void keep_input(int signal) {
  const int fd = ::open(current.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  constexpr std::string_view text = "the input is in PATHcrash: see -artifact_prefix\n";
  if (fd >= 0 && ::write(fd, current.data, current.size) == static_cast<ssize_t>(current.size))
    (void)!::write(STDERR_FILENO, text.data(), text.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void catch_signals() {
  static std::array<char, 1 << 16> stack;
  stack_t alternate{};
  alternate.ss_sp = stack.data();
  alternate.ss_size = stack.size();
  ::sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_handler = keep_input;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF})
    ::sigaction(signal, &action, nullptr);
}

void run(const Bytes& input, const Options& options) {
  // At the end of its memory, so that a sanitizer or valgrind sees what is read beyond.
  const Bytes copy(input.begin(), input.end());
  current.data = copy.data();
  current.size = copy.size();
  const itimerval limit{{0, 0}, {static_cast<time_t>(options.timeout), 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

/// Changes inputs: bytes, numbers, sizes, and parts that come from other places or inputs.
class Mutator {
public:
  Mutator(const std::vector<Bytes>& inputs, std::uint64_t max_len) : inputs_(inputs), max_len_(max_len) {}

  Bytes next() {
    Bytes input = inputs_[below(inputs_.size())];
    for (std::uint64_t changes = 1 + below(4); changes > 0; --changes) change(input);
    if (input.size() > max_len_) input.resize(max_len_);
    return input;
  }

private:
  std::uint64_t below(std::uint64_t end) { return end ? random_() % end : 0; }

  /// Headers are at the start.
  std::size_t place(const Bytes& input) {
    return below(below(2) ? input.size() : std::min<std::size_t>(input.size(), 256));
  }

  std::uint64_t number(const Bytes& input) {
    constexpr std::array<std::uint64_t, 10> limits = {
        0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff};
    switch (below(4)) {
    case 0: return limits[below(limits.size())];
    case 1: return ~limits[below(limits.size())];
    case 2: return input.size() + below(9) - 4;
    default: return random_();
    }
  }

  void change(Bytes& input) {
    if (input.empty()) {
      input.push_back(static_cast<std::uint8_t>(random_()));
      return;
    }
    const std::size_t at = place(input);
    switch (below(7)) {
    case 0: input[at] ^= static_cast<std::uint8_t>(1 << below(8)); break;
    case 1: input[at] = static_cast<std::uint8_t>(random_()); break;
    case 2: {
      const std::size_t size = std::min<std::size_t>(std::size_t(1) << below(4), input.size() - at);
      std::uint64_t value = number(input);
      const bool is_big = below(2);
      for (std::size_t i = 0; i < size; ++i, value >>= 8)
        input[is_big ? at + size - 1 - i : at + i] = static_cast<std::uint8_t>(value);
      break;
    }
    case 3: input.resize(at); break;
    case 4: {
      const auto first = input.begin() + static_cast<std::ptrdiff_t>(at);
      input.erase(first,
                  first + static_cast<std::ptrdiff_t>(below(std::min<std::size_t>(64, input.size() - at))));
      break;
    }
    default: {
      const Bytes& other = below(2) ? input : inputs_[below(inputs_.size())];
      if (other.empty()) break;
      const std::size_t from = place(other);
      const Bytes part(
          other.begin() + static_cast<std::ptrdiff_t>(from),
          other.begin() +
              static_cast<std::ptrdiff_t>(from + below(std::min<std::size_t>(256, other.size() - from) + 1)));
      if (below(2))
        input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), part.begin(), part.end());
      else
        std::ranges::copy(std::span(part).first(std::min(part.size(), input.size() - at)),
                          input.begin() + static_cast<std::ptrdiff_t>(at));
    }
    }
  }

  const std::vector<Bytes>& inputs_;
  std::uint64_t max_len_;
  std::mt19937_64 random_{1};
};

bool set_option(Options& options, std::string_view argument) {
  const std::size_t equals = argument.find('=');
  if (!argument.starts_with('-') || equals == argument.npos) return false;
  const std::string_view name = argument.substr(1, equals - 1), value = argument.substr(equals + 1);
  if (name == "artifact_prefix") {
    options.artifact_prefix = value;
    return true;
  }
  std::uint64_t* const number = name == "runs"      ? &options.runs
                                : name == "max_len" ? &options.max_len
                                : name == "timeout" ? &options.timeout
                                                    : nullptr;
  return number && std::from_chars(value.data(), value.data() + value.size(), *number).ec == std::errc();
}

/// In the order of their names, so that mutations are the same each time.
std::vector<std::string> files_in(const char* path) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  if (fs::is_directory(path, error))
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  else
    files.emplace_back(path);
  std::ranges::sort(files);
  return files;
}

} // namespace

int main(int count, char** arguments) {
  LLVMFuzzerInitialize(&count, &arguments);
  Options options;
  std::vector<Bytes> inputs;
  for (int i = 1; i < count; ++i) {
    if (arguments[i][0] == '-') {
      if (set_option(options, arguments[i])) continue;
      std::fprintf(stderr, "%s: unknown option\n", arguments[i]);
      return 2;
    }
    for (const std::string& path : files_in(arguments[i])) {
      std::ifstream file(path, std::ios::binary);
      Bytes input(std::istreambuf_iterator<char>(file), {});
      if (!file) {
        std::fprintf(stderr, "%s: %s\n", path.c_str(), std::strerror(errno));
        return 2;
      }
      if (input.size() <= options.max_len) inputs.push_back(std::move(input));
    }
  }
  if (inputs.empty()) {
    std::fprintf(stderr, "no inputs\n");
    return 2;
  }
  current.path = options.artifact_prefix + "crash";
  catch_signals();
  for (const Bytes& input : inputs) run(input, options);
  Mutator mutator(inputs, options.max_len);
  for (std::uint64_t i = 0; i < options.runs; ++i) run(mutator.next(), options);
  std::printf("%zu inputs, %llu mutations\n", inputs.size(), static_cast<unsigned long long>(options.runs));
  return 0;
}
