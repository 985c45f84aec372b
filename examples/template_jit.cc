// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A template JIT for AMD64: each token of an expression in postfix notation becomes a piece of code, and each
// piece says how far SP is from the CFA after it. That is all that readers need to know of the code:
//
//   $ template_jit "1 ( 2 ( 3 @ + ) * ) +" print
//   result: 9
//
// N pushes a number, + and * combine two, ( ... ) calls a function of its own for what is inside, and @ calls
// host(), whose value is 1. Its source lines are the numbers of the tokens. What host() does there:
//
//   print        prints the stack by sframe::here
//   libgcc       the same by _Unwind_Backtrace()
//   throw        throws an exception through the generated frames
//   abort        ends the program, for a debugger
//   wait         waits, until it is killed, for a debugger
//   work         computes for a while, for a profiler

#include "sframe/here/here.h"
#include "sframe/jit/publishers.h"
#include "sframe/jit/registry.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

namespace {

using sframe::FrameRow;
using sframe::Rule;

std::string_view mode;
constexpr std::size_t room_after_code = 256; ///< for perf, see JitDump

[[gnu::noinline]] void print_frame(std::uint64_t pc) {
  Dl_info info = {};
  sframe::SourcedRow row;
  const bool generated = sframe::jit::Registry::find(pc - 1, row);
  const bool named = dladdr(reinterpret_cast<void*>(pc), &info) && info.dli_sname;
  std::printf("  %s\n", generated ? "generated" : named ? info.dli_sname : "?");
}

extern "C" [[gnu::noinline]] std::uint64_t host() {
  if (mode == "print") {
    std::array<std::uint64_t, 64> frames = {};
    const auto walk = sframe::here::callers(frames);
    for (std::size_t i = 0; i < walk.count; ++i) print_frame(frames[i]);
    std::printf("end: %s\n", message(walk.end));
  } else if (mode == "libgcc") {
    const auto each = [](_Unwind_Context* context, void*) {
      print_frame(_Unwind_GetIP(context));
      return _URC_NO_REASON;
    };
    _Unwind_Backtrace(each, nullptr);
  } else if (mode == "throw") {
    throw std::runtime_error("from the host");
  } else if (mode == "abort") {
    std::abort();
  } else if (mode == "wait") {
    std::puts("waiting");
    std::fflush(stdout);
    for (;;) pause();
  } else if (mode == "work") {
    for (std::uint32_t i = 0; i < 400'000'000; ++i) asm volatile("");
  }
  return 1;
}

/// Code that is being made, with its rows.
struct Function {
  std::vector<std::uint8_t> bytes;
  std::vector<FrameRow> rows;
  std::vector<sframe::jit::SourceLine> lines;
  std::int32_t words = 0; ///< on the stack, above the return address

  void emit(std::initializer_list<int> code, std::int32_t pushed = 0) {
    for (const int byte : code) bytes.push_back(static_cast<std::uint8_t>(byte));
    words += pushed;
    if (rows.empty() || pushed) add_row();
  }
  template <class T> void emit_number(T value) {
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof value);
    std::memcpy(&bytes[at], &value, sizeof value);
  }
  /// From here on, CFA = SP + 8 for the return address + the words.
  void add_row() {
    constexpr std::uint16_t sp = 7;
    rows.push_back(
        {static_cast<std::uint32_t>(bytes.size()), Rule::value(sp, 8 + 8 * words), Rule::fixed(), {}, false});
  }
};

class Compiler {
public:
  explicit Compiler(sframe::jit::Registry& registry) : registry_(registry) {
    memory_ = mmap(nullptr, memory_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::runtime_error("no memory for code");
    at_ = static_cast<std::uint8_t*>(memory_);
    end_ = at_ + memory_size;
  }

  /// Compiles up to the end or a closing parenthesis.
  std::uint64_t (*compile(std::istream& text))() {
    Function code;
    code.add_row();
    for (std::string token; text >> token && token != ")";) {
      code.lines.push_back({static_cast<std::uint32_t>(code.bytes.size()), ++tokens_, "expression"});
      compile(token, text, code);
    }
    if (code.words != 1) throw std::runtime_error("no expression");
    code.emit({0x58}, -1); // pop %rax
    code.emit({0xc3});     // ret
    return place(code);
  }

private:
  void compile(const std::string& token, std::istream& text, Function& code) {
    if (token == "(")
      call(reinterpret_cast<std::uint64_t>(compile(text)), code);
    else if (token == "@")
      call(reinterpret_cast<std::uint64_t>(&host), code);
    else if (token == "+" || token == "*") {
      if (code.words < 2) throw std::runtime_error("too few numbers");
      code.emit({0x58}, -1); // pop %rax
      if (token == "+")
        code.emit({0x48, 0x01, 0x04, 0x24}); // add %rax,(%rsp)
      else
        code.emit(
            {0x48, 0x0f, 0xaf, 0x04, 0x24, 0x48, 0x89, 0x04, 0x24}); // imul (%rsp),%rax; mov %rax,(%rsp)
    } else {
      code.bytes.push_back(0x68); // push $
      code.emit_number(static_cast<std::int32_t>(std::stol(token)));
      code.emit({}, 1);
    }
  }

  static void call(std::uint64_t function, Function& code) {
    const bool pad = code.words % 2 == 0;            // SP is a multiple of 16 at calls
    if (pad) code.emit({0x48, 0x83, 0xec, 0x08}, 1); // sub $8,%rsp
    code.emit({0x48, 0xb8});                         // movabs $,%rax
    code.emit_number(function);
    code.emit({0xff, 0xd0});                          // call *%rax
    if (pad) code.emit({0x48, 0x83, 0xc4, 0x08}, -1); // add $8,%rsp
    code.emit({0x50}, 1);                             // push %rax
  }

  std::uint64_t (*place(const Function& code))() {
    if (code.bytes.size() > static_cast<std::size_t>(end_ - at_)) throw std::runtime_error("too long");
    std::uint8_t* const start = at_;
    protect(PROT_READ | PROT_WRITE);
    std::memcpy(start, code.bytes.data(), code.bytes.size());
    protect(PROT_READ | PROT_EXEC);
    at_ += (code.bytes.size() + room_after_code + 15) / 16 * 16;
    // From here on, readers find its rows.
    const auto rows =
        sframe::jit::Rows::make({.size = static_cast<std::uint32_t>(code.bytes.size())}, code.rows);
    if (!rows) throw std::runtime_error(message(rows.error().kind));
    const std::string name = "expression_" + std::to_string(count_++);
    const auto region = registry_.add({start, name, code.lines}, *rows);
    if (!region) throw std::runtime_error(message(region.error().kind));
    return reinterpret_cast<std::uint64_t (*)()>(start);
  }

  void protect(int protection) {
    if (mprotect(memory_, memory_size, protection) != 0) throw std::runtime_error("no right to make code");
  }

  static constexpr std::size_t memory_size = 1 << 16;
  sframe::jit::Registry& registry_;
  void* memory_ = nullptr;
  std::uint8_t *at_ = nullptr, *end_ = nullptr;
  int count_ = 0;
  std::uint32_t tokens_ = 0;
};

} // namespace

/// Which publishers there are is chosen by the environment, so that tests can look at one of them.
int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  mode = argv[2];
  const char* const wanted = std::getenv("PUBLISH");
  const std::string_view publish = wanted ? wanted : "";
  sframe::jit::FrameRegistration frames;
  sframe::jit::GdbInterface gdb;
  std::optional<sframe::jit::JitDump> dump;
  sframe::jit::Registry registry;
  if (publish.contains("frames")) registry.publish_to(frames);
  if (publish.contains("gdb")) registry.publish_to(gdb);
  if (publish.contains("dump"))
    registry.publish_to(dump.emplace("jit-" + std::to_string(getpid()) + ".dump", room_after_code));
  sframe::here::refresh();

  std::istringstream text(argv[1]);
  Compiler compiler(registry);
  const auto function = compiler.compile(text);
  try {
    const std::uint64_t result = function();
    std::printf("result: %llu\n", static_cast<unsigned long long>(result));
  } catch (const std::runtime_error& error) {
    std::printf("caught: %s\n", error.what());
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "template_jit: %s\n", error.what());
  return 1;
}
