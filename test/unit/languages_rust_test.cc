// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Panics of Rust in made-up memory: the arguments of std::panicking::panic_with_hook() as compilers leave
// them on the stack or in registers (library/std/src/panicking.rs).

#include "made_up_process.h"
#include "made_up_space.h"

#include "sframe/languages/rust.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

namespace languages_rust_test {

using namespace sframe;
using namespace sframe::languages;
using test::rbx;
using test::rsp;

/// `table` and `place` are in the program, the text of a message is not.
constexpr std::uint64_t image = 0x10000, table = image + 0x400, place = image + 0x500, file = image + 0x600,
                        text = 0x60000, stack = 0x70000;

constexpr std::string_view handler = "_ZN3std9panicking15panic_with_hook17h0123456789abcdefE",
                           old_handler = "_ZN3std9panicking20rust_panic_with_hook17h0123456789abcdefE",
                           v0_handler = "_RNvNtCs1_3std9panicking15panic_with_hook";
constexpr std::string_view formatted = "_ZN102_$LT$std..panicking..begin_panic_handler..FormatStringPayload"
                                       "$u20$as$u20$core..panic..PanicPayload$GT$8take_box17hE";
constexpr std::string_view old_formatted = "_ZN90_$LT$std..panicking..begin_panic_handler..PanicPayload"
                                           "$u20$as$u20$core..panic..BoxMeUp$GT$3get17hE";
constexpr std::string_view static_text = "_ZN99_$LT$std..panicking..begin_panic_handler..StaticStrPayload"
                                         "$u20$as$u20$core..panic..PanicPayload$GT$3get17hE";
constexpr std::string_view old_text = "_ZN96_$LT$std..panicking..begin_panic_handler..StrPanicPayload"
                                      "$u20$as$u20$core..panic..BoxMeUp$GT$3get17hE";
constexpr std::string_view macro_text = "_RNvXs_NvNtCs1_3std9panicking11begin_panicINtB4_7PayloadReE"
                                        "NtNtCs2_4core5panic12PanicPayload3getB8_";
/// Those of other types, and of another library.
constexpr std::string_view number = "_RNvXs_NvNtCs1_3std9panicking11begin_panicINtB4_7PayloadlE"
                                    "NtNtCs2_4core5panic12PanicPayload3getB8_";
constexpr std::string_view other = "_ZN4mine19FormatStringPayload3get17hE";

/// A frame: its function, the words from its stack pointer to its CFA, and other registers.
struct At {
  std::string_view function;
  std::vector<std::uint64_t> words;
  std::vector<std::pair<std::uint16_t, std::uint64_t>> registers = {};
  unwind::Trust trust = unwind::Trust::exact;
};

class Program final : public test::MadeUpProcess {
public:
  Program() : MadeUpProcess(Abi::amd64) {
    std::vector<std::pair<std::string_view, std::uint64_t>> symbols;
    for (const std::string_view name :
         {handler, old_handler, v0_handler, formatted, old_formatted, static_text, old_text, macro_text,
          number, other, std::string_view("drop"), std::string_view("main")}) {
      functions[name] = image + 0x800 + 0x20 * functions.size();
      symbols.emplace_back(name, functions[name]);
    }
    add_library("program", symbols, image, function_symbol);
    put(text, bytes().text("message"));
    put(file, bytes().text("src/main.rs"));
    words(place, {file, 11, std::uint64_t{7} << 32 | 42});
    payload(static_text);
  }

  bool is_code(std::uint64_t) override { return true; }

  /// Makes the payload's functions those of a type.
  void payload(std::string_view function, std::uint64_t size = 16, std::uint64_t alignment = 8) {
    words(table, {functions.at("drop"), size, alignment, functions.at(function)});
  }

  /// The panics of a thread, as "message, at place"; "nothing". The frames are next to each other.
  std::string panic(const std::vector<At>& frames) {
    std::vector<std::uint64_t> sp{stack};
    test::Bytes memory = bytes();
    for (const At& frame : frames) {
      for (const std::uint64_t word : frame.words) memory.u64(word);
      sp.push_back(sp.back() + 8 * frame.words.size());
    }
    put(stack, memory);
    const auto set = [&](unwind::Registers& registers, std::size_t i) {
      for (const auto& [reg, value] : frames[i].registers) registers.set(reg, value);
    };
    const auto pc = [&](std::size_t i) { return functions.at(frames[i].function) + 8; };
    std::size_t at = 0;
    unwind::Walker walker(*this, test::list(std::make_unique<test::Scripted>(
                                     [&](const unwind::FrameState&, unwind::Memory&,
                                         unwind::FrameState& caller) -> unwind::StepResult {
                                       if (++at == frames.size()) return unwind::StepResult::not_applicable();
                                       auto result = test::to_caller(caller, pc(at), sp[at]);
                                       set(caller.registers, at);
                                       result.trust = frames[at].trust;
                                       return result;
                                     },
                                     true)));
    unwind::FrameState thread;
    thread.registers = test::start(pc(0), stack);
    set(thread.registers, 0);
    const auto found = rust_panic(*this, walker, thread);
    if (!found) return "nothing";
    EXPECT_EQ(found->language, "Rust");
    EXPECT_EQ(found->type, "");
    return found->message + ", at " + found->place;
  }
  /// With a frame of these words, and the payload in its caller's, at object().
  std::string panic(std::vector<std::uint64_t> words, std::vector<std::uint64_t> payload = {text, 7}) {
    return panic({{handler, std::move(words)}, {"main", std::move(payload)}});
  }
  static std::uint64_t object(std::size_t words = 3) { return stack + 8 * words; }

  std::map<std::string_view, std::uint64_t> functions;
};

class LanguagesRust : public testing::Test {
protected:
  Program program;
  const std::vector<std::uint64_t> frame = {Program::object(), table, place};
  const std::string found = "message, at src/main.rs:42:7";
};

TEST_F(LanguagesRust, Texts) {
  for (const std::string_view function : {static_text, old_text, macro_text}) {
    program.payload(function);
    EXPECT_EQ(program.panic(frame), found) << function;
  }
  for (const std::string_view function : {number, other, std::string_view("main")}) {
    program.payload(function);
    EXPECT_EQ(program.panic(frame), "nothing") << function;
  }
}

/// Option<String> and a pointer. The compiler and its version choose the order.
TEST_F(LanguagesRust, FormattedTexts) {
  for (const std::string_view function : {formatted, old_formatted}) {
    program.payload(function, 32);
    EXPECT_EQ(program.panic(frame, {16, text, 7, stack}), found);
    EXPECT_EQ(program.panic(frame, {text, 16, 7, stack}), found);
    EXPECT_EQ(program.panic(frame, {stack, 7, text, 7}), found);
    EXPECT_EQ(program.panic(frame, {stack, text, 7, 7}), found);
    // The text is larger than its room, all is not there, and it is not formatted yet.
    EXPECT_EQ(program.panic(frame, {6, text, 7, 0}), "nothing");
    EXPECT_EQ(program.panic(frame, {16, text, 7}), "nothing");
    EXPECT_EQ(program.panic(frame, {std::uint64_t{1} << 63, 0, 0, stack}), "nothing");
  }
}

TEST_F(LanguagesRust, SizesOfTexts) {
  EXPECT_EQ(program.panic(frame, {text, 1}), "m, at src/main.rs:42:7");
  EXPECT_EQ(program.panic(frame, {text, 0}), "nothing");
  EXPECT_EQ(program.panic(frame, {text, 8}), "nothing"); // a zero byte
  EXPECT_EQ(program.panic(frame, {text, 9}), "nothing"); // cannot be read
  EXPECT_EQ(program.panic(frame, {text}), "nothing");
  program.put(text, std::vector<std::byte>(5000, std::byte{'a'}));
  const auto longest = [](std::string_view end) { return std::string(4096, 'a').append(end); };
  EXPECT_EQ(program.panic(frame, {text, 4096}), longest(", at src/main.rs:42:7"));
  EXPECT_EQ(program.panic(frame, {text, 4097}), longest("..., at src/main.rs:42:7"));
  EXPECT_EQ(program.panic(frame, {text, 1 << 30}), longest("..., at src/main.rs:42:7"));
  EXPECT_EQ(program.panic(frame, {text, (1 << 30) + 1}), "nothing");
}

/// How to destroy the object, its size and alignment, then its functions, of which three are looked at.
TEST_F(LanguagesRust, TablesOfFunctions) {
  for (const std::uint64_t size : {16, 17, 64}) {
    program.payload(static_text, size);
    EXPECT_EQ(program.panic(frame), found) << size;
  }
  for (const std::uint64_t size : {0, 15, 65}) {
    program.payload(static_text, size);
    EXPECT_EQ(program.panic(frame), "nothing") << size;
  }
  program.payload(static_text, 16, 4);
  EXPECT_EQ(program.panic(frame), "nothing");
  const std::uint64_t drop = program.functions["drop"], get = program.functions[static_text];
  program.words(table, {drop, 16, 8, drop, get});
  EXPECT_EQ(program.panic(frame), found);
  program.words(table, {drop, 16, 8, drop, drop, get});
  EXPECT_EQ(program.panic(frame), found);
  program.words(table, {drop, 16, 8, drop, drop, drop, get});
  EXPECT_EQ(program.panic(frame), "nothing");
  program.words(table, {get, 16, 8, drop});
  EXPECT_EQ(program.panic(frame), "nothing");
  program.words(table, {drop, 16});
  EXPECT_EQ(program.panic(frame), "nothing");
  // Not aligned, and not in the program.
  program.words(table + 4, {drop, 16, 8, get});
  EXPECT_EQ(program.panic({Program::object(), table + 4, place}), "nothing");
  program.words(text + 0x100, {drop, 16, 8, get});
  EXPECT_EQ(program.panic({Program::object(), text + 0x100, place}), "nothing");
}

TEST_F(LanguagesRust, FramesThatShowIt) {
  for (const std::string_view function : {handler, old_handler, v0_handler})
    EXPECT_EQ(program.panic({{function, frame}, {"main", {text, 7}}}), found) << function;
  EXPECT_EQ(program.panic({{"main", frame}, {"main", {text, 7}}}), "nothing");
  EXPECT_EQ(program.panic({{"drop", {0, 0}},
                           {handler, {Program::object(5), table, place}, {}, unwind::Trust::heuristic},
                           {"main", {text, 7}}}),
            "nothing");
  // The innermost 16 frames are looked at; after a panic 128, for the one that it has followed.
  const At between{"main", {0, 0}};
  for (const std::size_t before : {15, 16}) {
    std::vector<At> frames(before, between);
    frames.push_back({handler, {Program::object(2 * before + 3), table, place}});
    frames.push_back({"main", {text, 7}});
    EXPECT_EQ(program.panic(frames), before == 15 ? found : "nothing") << before;
  }
  for (const std::size_t before : {127, 128}) {
    std::vector<At> frames(before, between);
    frames[0] = {handler, {Program::object(4), table, place, 0}};
    frames[1] = {"main", {text, 4}};
    frames.push_back({handler, {Program::object(2 * before + 5), table, 0}});
    frames.push_back({"main", {text, 7}});
    EXPECT_EQ(program.panic(frames),
              before == 127 ? "message; panic: mess, at src/main.rs:42:7" : "mess, at src/main.rs:42:7")
        << before;
  }
}

/// The object is in the frame of a caller, near.
TEST_F(LanguagesRust, WhereTheObjectIs) {
  const auto with_object = [&](std::uint64_t offset) {
    std::vector<std::uint64_t> callers(600);
    if (offset / 8 + 1 < callers.size()) callers[offset / 8] = text, callers[offset / 8 + 1] = 7;
    return program.panic({Program::object() + offset, table, place}, callers);
  };
  EXPECT_EQ(with_object(0), found);
  EXPECT_EQ(with_object(8), found);
  EXPECT_EQ(with_object(4088), found);
  EXPECT_EQ(with_object(4096), "nothing");
  EXPECT_EQ(program.panic({stack + 24, table, place, text, 7}, {}),
            "nothing"); // in its own frame
  EXPECT_EQ(program.panic({Program::object() + 4, table, place}, {text << 32, std::uint64_t{7} << 32, 0}),
            "nothing");
  // The table is next to the object's address.
  EXPECT_EQ(program.panic({Program::object(4), 0, table, place}), "nothing");
  EXPECT_EQ(program.panic({0, Program::object(4), table, place}), found);
  // Frames of up to 4096 bytes are read.
  for (const std::size_t words : {512, 513}) {
    std::vector<std::uint64_t> large(words);
    large[words - 3] = Program::object(words), large[words - 2] = table, large[words - 1] = place;
    EXPECT_EQ(program.panic(large), words == 512 ? found : "nothing") << words;
  }
}

TEST_F(LanguagesRust, Registers) {
  using Registers = std::vector<std::pair<std::uint16_t, std::uint64_t>>;
  constexpr std::uint16_t r12 = 12, r13 = 13, r14 = 14;
  const auto panic = [&](const Registers& registers, const std::vector<std::uint64_t>& words) {
    return program.panic({{handler, words, registers}, {"main", {text, 7, text, 4}}});
  };
  const std::uint64_t object = Program::object(1);
  EXPECT_EQ(panic({{rbx, object}, {r12, table}}, {place}), found);
  EXPECT_EQ(panic({{rbx, table}, {r12, object}}, {place}), found);
  EXPECT_EQ(panic({{rbx, object}, {r12, table}, {r13, object}}, {place}), found);
  // Nothing tells which of two it is. Places are those of a caller, perhaps.
  EXPECT_EQ(panic({{rbx, object}, {r12, table}, {r13, object + 16}}, {place}), "nothing");
  EXPECT_EQ(panic({{r12, table}, {r13, 0x99000}}, {place}), "nothing");
  EXPECT_EQ(panic({{rbx, object}, {r12, table}, {r14, place}}, {0}), "message, at ");
  // One is in memory.
  EXPECT_EQ(panic({{rbx, object}}, {table}), "nothing");
  EXPECT_EQ(panic({{r12, table}}, {object}), "nothing");
}

TEST_F(LanguagesRust, Places) {
  constexpr std::uint64_t second = place + 0x40;
  program.words(second, {file, 11, std::uint64_t{1} << 32 | 2});
  const auto panic = [&](std::vector<std::uint64_t> words) {
    words.insert(words.begin(), {Program::object(words.size() + 2), table});
    return program.panic(words).substr(9);
  };
  EXPECT_EQ(panic({place}), "at src/main.rs:42:7");
  EXPECT_EQ(panic({place, second}),
            "at src/main.rs:42:7"); // the one next to the payload
  EXPECT_EQ(panic({second, place}), "at src/main.rs:2:1");
  EXPECT_EQ(panic({0, second}), "at src/main.rs:2:1");
  EXPECT_EQ(panic({0, second, 0, second}), "at src/main.rs:2:1");
  EXPECT_EQ(panic({0, second, place}), "at ");
  EXPECT_EQ(panic({}), "at ");
  EXPECT_EQ(program.panic({second, Program::object(3), table}), "message, at src/main.rs:2:1");
  // Damaged ones.
  const auto damaged = [&](std::uint64_t name, std::uint64_t size, std::uint64_t line, std::uint64_t column) {
    program.words(place, {name, size, column << 32 | line});
    return panic({place});
  };
  EXPECT_EQ(damaged(file, 11, 1, 1), "at src/main.rs:1:1");
  EXPECT_EQ(damaged(file, 11, 0, 1), "at ");
  EXPECT_EQ(damaged(file, 11, 1, 0), "at ");
  EXPECT_EQ(damaged(file, 10, 1, 1), "at "); // src/main.r
  EXPECT_EQ(damaged(file, 0, 1, 1), "at ");
  program.put(text + 0x100, program.bytes().text("src/main.rs"));
  EXPECT_EQ(damaged(text + 0x100, 11, 1, 1), "at "); // not in the program
  for (const std::uint64_t size : {4096, 4097}) {
    program.put(file, program.bytes().text(std::string(size - 3, 'd') + ".rs"));
    EXPECT_EQ(damaged(file, size, 1, 1).size(), size == 4096 ? 4096u + 7 : 3u) << size;
  }
  program.put(file, program.bytes().text("src/main.rs"));
  program.words(place, {file, 11});
  EXPECT_EQ(panic({place}), "at ");
  program.words(place + 4, {file, 11, std::uint64_t{1} << 32 | 2});
  EXPECT_EQ(panic({place + 4}), "at "); // not aligned
}

} // namespace languages_rust_test
