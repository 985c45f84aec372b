// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of functions for people, and as they are in signatures. The symbols are written by
// hand after the Itanium C++ ABI (5.1), Rust's RFC 2603, and what GCC, Clang and ocamlopt append.

#include "sframe/names/function_names.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace names_function_names_test {

using sframe::names::function_name;
using sframe::names::NameStyle;

std::string signature_name(std::string_view symbol) {
  return sframe::names::signature_name(symbol, nullptr);
}
std::string full(std::string_view symbol) {
  return function_name(symbol, NameStyle::full, nullptr);
}
std::string shortened(std::string_view symbol) {
  return function_name(symbol, NameStyle::shortened, nullptr);
}

TEST(FunctionNames, SignaturesHaveNoSuffixes) {
  for (const char* symbol :
       {"work", "work.cold", "work.part.0", "work.isra.0", "work.constprop.0", "work.lto_priv.0",
        "work.part.0.isra.1.cold", "work.llvm.4711", "work.__uniq.123.llvm.5", "work@@V_1.0", "work@V_1.0",
        "work.cold@@V_1.0", "__GI_work", "work.localalias"})
    EXPECT_EQ(signature_name(symbol), "work") << symbol;
  // Go's closures and versions for other processors are other functions.
  EXPECT_EQ(signature_name("main.main.func1.2"), "main.main.func1.2");
  EXPECT_EQ(signature_name("work.avx2"), "work.avx2");
  EXPECT_EQ(signature_name(".cold"), ".cold");
  EXPECT_EQ(signature_name(""), "");
}

// GCC's frame of a coroutine is a parameter of its parts, and is named after the coroutine.
TEST(FunctionNames, PartsOfCoroutinesHaveTheNameOfTheCoroutine) {
  EXPECT_EQ(signature_name("_Z3genPZ3genPiE14_Z3genPi.Frame.actor"), "gen");
  EXPECT_EQ(signature_name("_Z3genPZ3genPiE14_Z3genPi.Frame.destroy.cold"), "gen");
  EXPECT_EQ(shortened("_Z3genPZ3genPiE14_Z3genPi.Frame.actor"), "gen (.actor)");
  EXPECT_EQ(shortened("_Z3genPZ3genPiE14_Z3genPi.Frame.destroy"), "gen (.destroy)");
  EXPECT_EQ(signature_name("work.actor"), "work.actor"); // not C++
  EXPECT_EQ(shortened("work.destroy"), "work.destroy");
}

TEST(FunctionNames, SignaturesHaveNoArguments) {
  EXPECT_EQ(signature_name("_Z4workiPc"), "work");
  EXPECT_EQ(signature_name("_ZNK5Class4workEi.cold"), "Class::work");
  EXPECT_EQ(signature_name("_ZNSt6vectorIiSaIiEE9push_backERKi"), "std::vector<>::push_back");
  // With its return type: "void work<int>(int)", "std::vector<int, std::allocator<int>> work<int>()".
  EXPECT_EQ(signature_name("_Z4workIiEvT_"), "work<>");
  EXPECT_EQ(signature_name("_Z4workIiESt6vectorIT_SaIS1_EEv"), "work<>");
  EXPECT_EQ(signature_name("_ZN12_GLOBAL__N_14workEv"), "(anonymous namespace)::work");
  EXPECT_EQ(signature_name("_ZN5ClassclEi"), "Class::operator()");
  EXPECT_EQ(signature_name("_ZN5ClasslsEi"), "Class::operator<<");
  EXPECT_EQ(signature_name("_ZlsIcERSoS0_T_"), "operator<<<>"); // operator<< <char>
  EXPECT_EQ(signature_name("_ZltRK1AS1_"), "operator<");
  EXPECT_EQ(signature_name("_ZNK5ClassptEv"), "Class::operator->");
  EXPECT_EQ(signature_name("_ZNK5ClasscvjEv"), "Class::operator unsigned int");
  EXPECT_EQ(signature_name("_Znwm"), "operator new");
  EXPECT_EQ(signature_name("_Z4workB5cxx11i"), "work");
  EXPECT_EQ(signature_name("_ZZ4workiENKUlcE_clEc"), "work::{lambda}::operator()");
  EXPECT_EQ(signature_name("_ZZNK5Class4workEvENKUlcE_clEc"), "Class::work::{lambda}::operator()");
  EXPECT_EQ(signature_name("_ZThn16_N5Class4workEv"), "non-virtual thunk to Class::work");
}

TEST(FunctionNames, RustHasItsTypesAndNoHashes) {
  EXPECT_EQ(signature_name("_ZN4core9panicking5panic17h0123456789abcdefE"), "core::panicking::panic");
  EXPECT_EQ(signature_name("_ZN4core9panicking5panic17h0123456789abcdefE.llvm.123"),
            "core::panicking::panic");
  // RFC 2603: crate mycrate (with a hash), function work; and work::<i32>.
  EXPECT_EQ(signature_name("_RNvCs15kBYyAo9fc_7mycrate4work"), "mycrate::work");
  EXPECT_EQ(signature_name("_RINvCs15kBYyAo9fc_7mycrate4worklE"), "mycrate::work::<>");
  EXPECT_EQ(full("_RINvCs15kBYyAo9fc_7mycrate4worklE"), "mycrate::work::<i32>");
  EXPECT_EQ(shortened("_ZN4core9panicking5panic17h0123456789abcdefE"), "core::panicking::panic");
}

TEST(FunctionNames, ShortOnesFoldWhatIsLong) {
  EXPECT_EQ(shortened("_Z4workiPc"), "work(…)");
  EXPECT_EQ(shortened("_Z4workv"), "work()");
  EXPECT_EQ(shortened("_Z4workv.part.0"), "work().part.0");
  EXPECT_EQ(shortened("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int>>::push_back(…)");
  // std::map<int, int>: its arguments have more than 24 characters.
  EXPECT_EQ(shortened("_ZNSt3mapIiiSt4lessIiESaISt4pairIKiiEEE5clearEv"), "std::map<…>::clear()");
  EXPECT_EQ(shortened("_ZThn16_N5Class4workEv"), "non-virtual thunk to Class::work()");
  EXPECT_EQ(shortened("_Z4workB5cxx11i"), "work(…)");
  EXPECT_EQ(shortened("memcpy@@GLIBC_2.14"), "memcpy");
  // Not mangled: nothing is known of the characters.
  EXPECT_EQ(shortened("main.(*Server).Serve"), "main.(*Server).Serve");
  EXPECT_EQ(signature_name("main.(*Server).Serve"), "main.(*Server).Serve");
  EXPECT_EQ(shortened("_Z"), "_Z");
}

TEST(FunctionNames, OnlyRawOnesHaveVersions) {
  EXPECT_EQ(full("memcpy@@GLIBC_2.14"), "memcpy");
  EXPECT_EQ(full("_Z4workv@@V_1"), "work()");
  EXPECT_EQ(shortened("_Z4workv@@V_1"), "work()");
  EXPECT_EQ(function_name("_Z4workv@@V_1", NameStyle::raw, nullptr), "_Z4workv@@V_1");
}

TEST(FunctionNames, OCaml) {
  EXPECT_EQ(full("camlStdlib__List__iter_507"), "Stdlib.List.iter_507");
  EXPECT_EQ(shortened("camlStdlib__List__iter_507"), "Stdlib.List.iter");
  EXPECT_EQ(shortened("camlDune__exe__Main.fun_123"), "Dune.exe.Main.fun");
  EXPECT_EQ(signature_name("camlServer__$2b$3d_12"), "Server.+=");
  // The runtime's functions in C.
  EXPECT_EQ(full("caml_main"), "caml_main");
  EXPECT_EQ(full("camlCase"), "camlCase");
}

TEST(FunctionNames, OddBracketsStay) {
  using sframe::names::shortened_name;
  EXPECT_EQ(shortened_name("work(int"), "work(int");
  EXPECT_EQ(shortened_name("work<)>"), "work<)>");
  EXPECT_EQ(shortened_name("work)"), "work)");
  EXPECT_EQ(shortened_name("operator"), "operator");
  EXPECT_EQ(shortened_name(""), "");
}

} // namespace names_function_names_test
