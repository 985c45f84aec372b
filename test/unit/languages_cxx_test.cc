// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exceptions of C++ in made-up memory: __cxa_exception and _Unwind_Exception as libstdc++ has them
// (unwind-cxx.h), types and objects by the Itanium C++ ABI, sections 2.2.1 and 2.9.

#include "made_up_process.h"
#include "made_up_space.h"

#include "sframe/languages/cxx.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

namespace languages_cxx_test {

using namespace sframe;
using namespace sframe::languages;
using test::rbx;
using test::rsp;

constexpr std::uint64_t image = 0x10000, object = 0x50000, primary = 0x54000, type = 0x58000, table = 0x59000,
                        text = 0x60000, stack = 0x70000;
constexpr std::uint64_t gnu = 0x474e5543432b2b00; // "GNUCC++\0"
/// From the object back to the header of the unwinder and to the first word of __cxa_exception.
constexpr std::uint64_t to_header = 32, to_exception = 112;

/// A frame: its function, and what it has in RBX.
struct At {
  std::string_view function;
  std::uint64_t rbx = 0;
  unwind::Trust trust = unwind::Trust::exact;
};

class Program final : public test::MadeUpProcess {
public:
  Program() : MadeUpProcess(Abi::amd64) {
    std::vector<std::pair<std::string_view, std::uint64_t>> symbols;
    for (const char* const name :
         {"abort", "_ZSt9terminatev", "_ZN10__cxxabiv111__terminateEPFvvE", "__gxx_personality_v0",
          "__cxa_throw", "__cxa_throw@@CXXABI_1.3", "__cxa_rethrow",
          "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE", "main",
          "_ZNKSt13runtime_error4whatEv", "_ZNKSt11logic_error4whatEv", "_ZNK4Mine4whatEv"}) {
      functions[name] = image + 0x800 + 0x20 * functions.size();
      symbols.emplace_back(name, functions[name]);
    }
    add_library("program", symbols, image, function_symbol);
    throw_type("i");
  }

  bool is_code(std::uint64_t) override { return true; }

  /// Makes the thrown object one of this type, and its words.
  void throw_type(std::string_view name, std::vector<std::uint64_t> words = {0}) {
    words_at(type, {0, text});
    put(text, bytes().text(name));
    exception(object, gnu, type, words);
  }

  void exception(std::uint64_t at, std::uint64_t kind, std::uint64_t first,
                 const std::vector<std::uint64_t>& words) {
    std::vector<std::uint64_t> all(to_exception / 8);
    all.front() = first;
    all[(to_exception - to_header) / 8] = kind;
    all.insert(all.end(), words.begin(), words.end());
    words_at(at - to_exception, all);
  }

  void words_at(std::uint64_t at, const std::vector<std::uint64_t>& values) {
    test::Bytes block = bytes();
    for (const std::uint64_t value : values) block.u64(value);
    put(at, block);
  }

  /// What the thread died of, as "type: message"; "nothing".
  std::string thrown(const std::vector<At>& frames) {
    const auto pc = [&](std::size_t i) { return functions.at(frames[i].function) + 8; };
    std::size_t at = 0;
    unwind::Walker walker(*this, test::list(std::make_unique<test::Scripted>(
                                     [&](const unwind::FrameState&, unwind::Memory&,
                                         unwind::FrameState& caller) -> unwind::StepResult {
                                       if (++at == frames.size()) return unwind::StepResult::not_applicable();
                                       auto result = test::to_caller(caller, pc(at), stack + 16 * at);
                                       caller.registers.set(rbx, frames[at].rbx);
                                       result.trust = frames[at].trust;
                                       return result;
                                     },
                                     true)));
    unwind::FrameState thread;
    thread.registers = test::start(pc(0), stack);
    thread.registers.set(rbx, frames[0].rbx);
    const auto found = cxx_exception(*this, walker, thread);
    if (!found) return "nothing";
    EXPECT_EQ(found->language, "C++");
    return found->type + ": " + found->message;
  }
  std::string thrown() {
    return thrown({{"abort"}, {"_ZSt9terminatev"}, {"__cxa_throw", object - to_header}, {"main"}});
  }

  std::map<std::string_view, std::uint64_t> functions;
};

class LanguagesCxx : public testing::Test {
protected:
  Program program;
};

TEST_F(LanguagesCxx, Numbers) {
  const auto number = [&](std::string_view name, std::uint64_t value) {
    program.throw_type(name, {value});
    return program.thrown();
  };
  constexpr std::uint64_t other = 0x5555000000000000;
  EXPECT_EQ(number("i", other | 42), "int: 42");
  EXPECT_EQ(number("i", other | 0xfffffffb), "int: -5");
  EXPECT_EQ(number("j", other | 0xfffffffb), "unsigned int: 4294967291");
  EXPECT_EQ(number("l", ~std::uint64_t{0}), "long: -1");
  EXPECT_EQ(number("m", ~std::uint64_t{0}), "unsigned long: 18446744073709551615");
  EXPECT_EQ(number("x", other), "long long: 6148820866244280320");
  EXPECT_EQ(number("y", ~std::uint64_t{0}), "unsigned long long: 18446744073709551615");
  EXPECT_EQ(number("s", other | 0xfffe), "short: -2");
  EXPECT_EQ(number("t", other | 0xfffe), "unsigned short: 65534");
  EXPECT_EQ(number("b", 1), "bool: ");
}

TEST_F(LanguagesCxx, Texts) {
  program.put(text + 0x1000, program.bytes().text("why it failed"));
  program.throw_type("PKc", {text + 0x1000});
  EXPECT_EQ(program.thrown(), "char const*: why it failed");
  program.throw_type("Pc", {text + 0x1000});
  EXPECT_EQ(program.thrown(), "char*: why it failed");
  const char* const string = "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
  program.throw_type(string, {text + 0x1000, 6});
  EXPECT_TRUE(
      program.thrown().ends_with(
          "basic_string<char, std::char_traits<char>, std::allocator<char>>: why it") ||
      program.thrown().ends_with("basic_string<char, std::char_traits<char>, std::allocator<char> >: why it"))
      << program.thrown();
  // Longer ones are cut, unreadable ones empty.
  program.put(text + 0x1000, std::vector<std::byte>(5000, std::byte{'a'}));
  for (const char* const name : {"PKc", string}) {
    program.throw_type(name, {text + 0x1000, 4097});
    EXPECT_TRUE(program.thrown().ends_with(": " + std::string(4096, 'a') + "...")) << name;
    program.throw_type(name, {0x99000, 6});
    EXPECT_TRUE(program.thrown().ends_with(": ")) << name;
  }
  program.throw_type(string, {text + 0x1000, 4096});
  EXPECT_TRUE(program.thrown().ends_with(": " + std::string(4096, 'a')));
}

/// Classes whose what() is that of the standard library, by the third word of their functions.
TEST_F(LanguagesCxx, StandardClasses) {
  program.put(text + 0x1000, program.bytes().text("message"));
  const auto message = [&](std::string_view name, std::string_view what) {
    program.words_at(table, {program.functions["main"], program.functions["main"], program.functions[what],
                             program.functions["main"]});
    program.throw_type(name, {table, text + 0x1000});
    return program.thrown();
  };
  EXPECT_EQ(message("St13runtime_error", "_ZNKSt13runtime_error4whatEv"), "std::runtime_error: message");
  EXPECT_EQ(message("4Mine", "_ZNKSt11logic_error4whatEv"), "Mine: message");
  EXPECT_EQ(message("*4Mine", "_ZNKSt11logic_error4whatEv"), "Mine: message");
  EXPECT_EQ(message("4Mine", "_ZNK4Mine4whatEv"), "Mine: ");
  program.words_at(table, {0});
  EXPECT_EQ(program.thrown(), "Mine: ");
}

/// std::rethrow_exception() makes a header that refers to the object.
TEST_F(LanguagesCxx, ThrownAgain) {
  program.exception(primary, gnu, type, {7});
  program.exception(object, gnu | 1, primary, {99});
  EXPECT_EQ(program.thrown(), "int: 7");
  program.exception(object, gnu, type, {5});
  EXPECT_EQ(program.thrown(), "int: 5");
}

TEST_F(LanguagesCxx, FramesThatShowIt) {
  constexpr std::uint64_t header = object - to_header;
  for (const char* const terminate :
       {"_ZSt9terminatev", "_ZN10__cxxabiv111__terminateEPFvvE", "__gxx_personality_v0"})
    for (const char* const thrower : {"__cxa_throw", "__cxa_throw@@CXXABI_1.3", "__cxa_rethrow",
                                      "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE"})
      EXPECT_EQ(program.thrown({{"abort"}, {terminate}, {thrower, header}}), "int: 0")
          << terminate << thrower;
  // Not terminated, nothing thrown, the header in another frame, or another language's.
  EXPECT_EQ(program.thrown({{"abort"}, {"__cxa_throw", header}}), "nothing");
  EXPECT_EQ(
      program.thrown({{"abort"}, {"__cxa_throw", header}, {"_ZSt9terminatev"}, {"__cxa_throw", header}}),
      "nothing");
  EXPECT_EQ(program.thrown({{"abort"}, {"_ZSt9terminatev", header}, {"main", header}}), "nothing");
  EXPECT_EQ(program.thrown({{"abort"}, {"_ZSt9terminatev"}, {"__cxa_throw"}, {"main", header}}), "nothing");
  EXPECT_EQ(program.thrown({{"_ZSt9terminatev"}, {"__cxa_throw", header, unwind::Trust::heuristic}}),
            "nothing");
  program.exception(object, gnu + 2, type, {0});
  EXPECT_EQ(program.thrown(), "nothing");
  program.exception(object, 0x434c4e47432b2b00, type, {0}); // Clang's
  EXPECT_EQ(program.thrown(), "nothing");
}

// Where no header is found, memory at the lowest addresses is none, whatever a core has there.
TEST_F(LanguagesCxx, NothingThrownIsNotAtZero) {
  program.words_at(0, {gnu});
  program.words_at(to_header - to_exception, {type});
  EXPECT_EQ(program.thrown({{"abort"}, {"_ZSt9terminatev"}, {"main"}}), "nothing");
}

TEST_F(LanguagesCxx, OuterFramesAreNotLookedAt) {
  for (const std::size_t before : {127, 128}) {
    std::vector<At> frames(before, At{"main"});
    frames[0] = {"_ZSt9terminatev"};
    frames.push_back({"__cxa_throw", object - to_header});
    EXPECT_EQ(program.thrown(frames), before == 127 ? "int: 0" : "nothing");
  }
}

TEST_F(LanguagesCxx, DamagedTypes) {
  program.exception(object, gnu, 0x99000, {0});
  EXPECT_EQ(program.thrown(), "nothing");
  program.throw_type("i");
  program.words_at(type, {0, 0x99000});
  EXPECT_EQ(program.thrown(), "nothing");
  program.throw_type("i", {});
  EXPECT_EQ(program.thrown(), "int: ");
  program.throw_type("PKc", {});
  EXPECT_EQ(program.thrown(), "char const*: ");
}

} // namespace languages_cxx_test
