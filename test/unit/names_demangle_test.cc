// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Demangled names, and what they cost.

#include "sframe/base/budget.h"
#include "sframe/names/demangle.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <pthread.h>
#include <string>
#include <tuple>
#include <utility>

namespace sframe::names {
namespace names_demangle_test {

TEST(NamesDemangle, Demangles) {
  EXPECT_EQ(demangle("_ZN3foo3barEi"), "foo::bar(int)");
  EXPECT_EQ(demangle("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
  EXPECT_EQ(demangle("main"), "main");
  EXPECT_EQ(demangle("_Z"), "_Z");
}

/// Expected: what c++filt of GNU binutils 2.40 prints, without the hash.
TEST(NamesDemangle, DemanglesLegacyRust) {
  EXPECT_EQ(demangle("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"), "core::fmt::Formatter::pad");
  EXPECT_EQ(demangle("_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$"
                     "4drop17hf5a04b9dd36b2c4eE"),
            "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop");
  EXPECT_EQ(demangle("_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h5f3ae7b2c1d90e48E"),
            "std::rt::lang_start::{{closure}}");
  EXPECT_EQ(demangle("_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h5f3ae7b2c1d90e48E.llvm.123456"),
            "std::rt::lang_start::{{closure}}");
  EXPECT_EQ(demangle("_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$.."
                     "$u7b$$u7b$closure$u7d$$u7d$$GT$17h5f3ae7b2c1d90e48E"),
            "core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>");
  EXPECT_EQ(demangle("_ZN15$SP$$BP$$RF$$C$17h5f3ae7b2c1d90e48E"), "@*&,");
  EXPECT_EQ(demangle("_ZN6$u7e$x17h5f3ae7b2c1d90e48E"), "~x");
  // As LLVM writes it for C++: the suffix stays.
  EXPECT_EQ(demangle("_ZN1a1b17h5f3ae7b2c1d90e48E.cold"), "a::b (.cold)");
  // No hash: C++. Cut off, or escapes of nothing: no crash, and nothing made up.
  EXPECT_EQ(demangle("_ZN1a1b17h5f3ae7b2c1d90e4gE"), "a::b::h5f3ae7b2c1d90e4g");
  EXPECT_EQ(demangle("_ZN1a17h5f3ae7b2c1d90e48"), "_ZN1a17h5f3ae7b2c1d90e48");
  EXPECT_EQ(demangle("_ZN99999999999999999999a17h5f3ae7b2c1d90e48E"),
            "_ZN99999999999999999999a17h5f3ae7b2c1d90e48E");
  EXPECT_EQ(demangle("_ZN5$uzz$17h5f3ae7b2c1d90e48E"), "$uzz$");
  EXPECT_EQ(demangle("_ZN4$u7$17h5f3ae7b2c1d90e48E"), "$u7$"); // a control character
}

/// Names of D (https://dlang.org/spec/abi.html), with at most 24 back-references ("Q").
TEST(NamesDemangle, DemanglesD) {
  EXPECT_EQ(demangle("_D4main3fooi"), "main.foo");
  EXPECT_EQ(demangle("_D4main3foo6__initZ"), "initializer for main.foo");
  const std::string most = "_D4main25" + std::string(24, 'Q') + "ai";
  EXPECT_EQ(demangle(most), "main." + std::string(24, 'Q') + "a");
  const std::string more = "_D4main26" + std::string(25, 'Q') + "ai";
  EXPECT_EQ(demangle(more), more);
}

/// Each production of Rust's v0 mangling (RFC 2603). Expected: what c++filt of GNU binutils 2.40 prints,
/// without the crates' hashes and the types of constants.
TEST(NamesDemangle, DemanglesRust) {
  const std::pair<const char*, const char*> names[] = {
      {"_RNvC7mycrate3foo", "mycrate::foo"},
      {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
      {"_RNvNtC7mycrate3bar3foo", "mycrate::bar::foo"},
      {"_RNCNvC7mycrate4main0", "mycrate::main::{closure#0}"},
      {"_RNCNvC7mycrate4mains_0", "mycrate::main::{closure#1}"},
      {"_RNCNvC7mycrate4mains0_0", "mycrate::main::{closure#2}"},
      {"_RNSNvC7mycrate4main4shim", "mycrate::main::{shim:shim#0}"},
      {"_RNvMC7mycrateNtC7mycrate3Foo3bar", "<mycrate::Foo>::bar"},
      {"_RNvMs_C7mycrateNtB4_3Foo3bar", "<mycrate::Foo>::bar"},
      {"_RNvXs_C7mycrateNtB4_3FooNtB4_5Trait3bar", "<mycrate::Foo as mycrate::Trait>::bar"},
      {"_RNvYNtC7mycrate3FooNtB4_5Trait3bar", "<mycrate::Foo as mycrate::Trait>::bar"},
      {"_RINvC7mycrate3fooNtB2_3BarE", "mycrate::foo::<mycrate::Bar>"},
      {"_RINvC1c1fabcdefhijlmnostuxyE", "c::f::<i8, bool, char, f64, str, f32, u8, isize, usize, i32, u32, "
                                        "i128, u128, i16, u16, (), i64, u64>"},
      {"_RINvC1c1fzE", "c::f::<!>"},
      {"_RINvC1c1fpE", "c::f::<_>"},
      {"_RINvC1c1fAlj5_E", "c::f::<[i32; 5]>"},
      {"_RINvC1c1fAhj1f_E", "c::f::<[u8; 31]>"},
      {"_RINvC1c1fSeE", "c::f::<[str]>"},
      {"_RINvC1c1fTlmEE", "c::f::<(i32, u32)>"},
      {"_RINvC1c1fTlEE", "c::f::<(i32,)>"},
      {"_RINvC1c1fTEE", "c::f::<()>"},
      {"_RINvC1c1fReE", "c::f::<&str>"},
      {"_RINvC1c1fQeE", "c::f::<&mut str>"},
      {"_RINvC1c1fRL_eE", "c::f::<&str>"},
      {"_RINvC1c1fQL_eE", "c::f::<&mut str>"},
      {"_RINvC1c1fPlE", "c::f::<*const i32>"},
      {"_RINvC1c1fOlE", "c::f::<*mut i32>"},
      {"_RINvC1c1fFEuE", "c::f::<fn()>"},
      {"_RINvC1c1fFlmEbE", "c::f::<fn(i32, u32) -> bool>"},
      {"_RINvC1c1fFUEuE", "c::f::<unsafe fn()>"},
      {"_RINvC1c1fFKCEuE", "c::f::<extern \"C\" fn()>"},
      {"_RINvC1c1fFUKCEuE", "c::f::<unsafe extern \"C\" fn()>"},
      {"_RINvC1c1fFK6systemEuE", "c::f::<extern \"system\" fn()>"},
      {"_RINvC1c1fFG_RL0_eEuE", "c::f::<for<'a> fn(&'a str)>"},
      {"_RINvC1c1fFG0_RL1_eRL0_eEuE", "c::f::<for<'a, 'b> fn(&'a str, &'b str)>"},
      {"_RINvC1c1fDNtB2_1TEL_E", "c::f::<dyn c::T>"},
      {"_RINvC1c1fDNtB2_1TNtB2_1UEL_E", "c::f::<dyn c::T + c::U>"},
      {"_RINvC1c1fDNtB2_1Tp4ItemlEL_E", "c::f::<dyn c::T<Item = i32>>"},
      {"_RINvC1c1fDG_INtB2_1TRL0_eEEL_E", "c::f::<dyn for<'a> c::T<&'a str>>"},
      {"_RINvC1c1fKj0_E", "c::f::<0>"},
      {"_RINvC1c1fKjff_E", "c::f::<255>"},
      {"_RINvC1c1fKan1_E", "c::f::<-1>"},
      {"_RINvC1c1fKb0_E", "c::f::<false>"},
      {"_RINvC1c1fKb1_E", "c::f::<true>"},
      {"_RINvC1c1fKc61_E", "c::f::<'a'>"},
      {"_RINvC1c1fKpE", "c::f::<_>"},
      {"_RINvC1c1fKj12345678_E", "c::f::<305419896>"},
      {"_RINvC1c1fL_E", "c::f::<'_>"},
      {"_RINvC1c1flB7_E", "c::f::<i32, i32>"},
      {"_RINvC1c1fTlmEB7_E", "c::f::<(i32, u32), (i32, u32)>"},
      {"_RINvC1c1fKj5_KB8_E", "c::f::<5, 5>"},
      {"_RINvC1c1fNtB2_1SB7_E", "c::f::<c::S, c::S>"},
      {"_RNvC1cu8gdel_5qa", "c::gödel"},
      {"_RNvC7mycrate3fooC5other", "mycrate::foo"},
      {"_RNvC1c0", "c"},
      {"_RNvC1c1_x", "c::x"},
      {"_RNvC1c3_123", "c::123"},
      {"_RC7mycrate", "mycrate"},
  };
  for (const auto& [name, text] : names) EXPECT_EQ(demangle(name), text);
  EXPECT_EQ(demangle("_RNvC7mycrate3foo.llvm.1234"), "mycrate::foo (.llvm.1234)"); // as LLVM writes it
  // A number beyond 64 bits, and what is damaged, stay.
  EXPECT_EQ(demangle("_RNvCsZZZZZZZZZZZZZZZZ_1c1f"), "_RNvCsZZZZZZZZZZZZZZZZ_1c1f");
  for (const char* const name :
       {"_RNvCu4_9ca3foo", "_RNvNtC1cu3_123x", "_R", "_RNvC7mycrate3fo", "_RNvC7mycrate3foox", "_RNvB_3foo",
        "_RINvC1c1fBz_E", "_RINvC1c1flE_", "_RNvC1c", "_RINvC1c1fAljE", "_RINvC1c1fgE",
        "_RINvC1c1fDNtB2_1TEE", "_RINvC1c1fK", "_RNvC1c1fs_"})
    EXPECT_EQ(demangle(name), name);
}

/// Names and their meaning: swift/test/Demangle/Inputs/manglings.txt and docs/ABI/Mangling.rst; without
/// types.
TEST(NamesDemangle, DemanglesContextsAndNamesOfSwift) {
  EXPECT_EQ(demangle("$s4main3addyS2i_SitF"), "main.add");
  EXPECT_EQ(demangle("$S8mangling14varargsVsArray3arr1nySid_SStF"), "mangling.varargsVsArray");
  EXPECT_EQ(demangle("$S3foo6testityyyc_yyctF1a1bTf3pfpf_n"), "specialized foo.testit");
  EXPECT_EQ(demangle("$Ss10DictionaryV3t17E6Index2V1loiySbAEyxq__G_AGtFZ"),
            "static Swift.Dictionary.Index2.<");
  EXPECT_EQ(demangle("$sSi1poiyS2i_SitFZ"), "static Swift.Int.+");
  EXPECT_EQ(demangle("$ss5print_9separator10terminatoryypd_S2StF"), "Swift.print");
  EXPECT_EQ(demangle("$s4main5PointV1x1yACSi_SitcfC"), "main.Point.init");
  EXPECT_EQ(demangle("$s4main3FooCACycfC"), "main.Foo.__allocating_init");
  EXPECT_EQ(demangle("$s4main3FooCfD"), "main.Foo.__deallocating_deinit");
  EXPECT_EQ(demangle("$s4main3FooV3barSivg"), "main.Foo.bar.getter");
  EXPECT_EQ(demangle("$s4main3fooyyFyycfU0_TA"), "partial apply for closure #2 in main.foo");
  EXPECT_EQ(demangle("$s4main6deeper33_0123456789ABCDEF0123456789ABCDEFLLyyF"), "main.deeper");
  EXPECT_EQ(demangle("$s9MyLibrary0A5ClassC0A6MethodyyF"), "MyLibrary.MyClass.MyMethod"); // words
  // What is not understood, and what is damaged, stays as it is.
  for (const char* name :
       {"$s", "$sF", "$s4main", "$s4mainF", "$s99999999999999999999F", "$s5main3fooF", "$s4main0B3fooyyF",
        "$s4main00yyF", "$s4main1\nyyF",
        "$S10Foundation11MeasurementV12SimulatorKitSo9UnitAngleCRszlE11OrientationO2eeoiySbAcDEAGOyAF_"
        "G_AKtFZ",
        "$s4main3fooyyFyycfU_yycfU_", "$s4main3FooVxycig"})
    EXPECT_EQ(demangle(name), name);
}

/// "Entities", "Known types" and "Operators" of docs/ABI/Mangling.rst.
TEST(NamesDemangle, DemanglesEachKindOfEntityOfSwift) {
  using Pairs = std::initializer_list<std::pair<const char*, const char*>>;
  for (const auto& [operators, text] : Pairs{{"F", "main.Foo.bar"},
                                             {"FZ", "static main.Foo.bar"},
                                             {"vg", "main.Foo.bar.getter"},
                                             {"vgZ", "static main.Foo.bar.getter"},
                                             {"vs", "main.Foo.bar.setter"},
                                             {"vsZ", "static main.Foo.bar.setter"},
                                             {"vM", "main.Foo.bar.modify"},
                                             {"vr", "main.Foo.bar.read"},
                                             {"vw", "main.Foo.bar.willset"},
                                             {"vW", "main.Foo.bar.didset"}})
    EXPECT_EQ(demangle(std::string("$s4main3FooC3barSi") + operators), text);
  for (const auto& [operators, text] : Pairs{{"C", "main.Foo.__allocating_init"},
                                             {"c", "main.Foo.init"},
                                             {"D", "main.Foo.__deallocating_deinit"},
                                             {"d", "main.Foo.deinit"}})
    EXPECT_EQ(demangle(std::string("$s4main3FooCACycf") + operators), text);
  EXPECT_EQ(demangle("$s4main3FooOACycfC"), "main.Foo.init"); // not a class
  EXPECT_EQ(demangle("$s4mainACycfC"), "$s4mainACycfC");      // a module has none
  for (const auto& [letter, type] : Pairs{{"a", "Array"},
                                          {"b", "Bool"},
                                          {"D", "Dictionary"},
                                          {"d", "Double"},
                                          {"f", "Float"},
                                          {"h", "Set"},
                                          {"i", "Int"},
                                          {"J", "Character"},
                                          {"N", "ClosedRange"},
                                          {"n", "Range"},
                                          {"O", "ObjectIdentifier"},
                                          {"P", "UnsafePointer"},
                                          {"p", "UnsafeMutablePointer"},
                                          {"q", "Optional"},
                                          {"R", "UnsafeBufferPointer"},
                                          {"r", "UnsafeMutableBufferPointer"},
                                          {"S", "String"},
                                          {"s", "Substring"},
                                          {"u", "UInt"},
                                          {"V", "UnsafeRawPointer"},
                                          {"v", "UnsafeMutableRawPointer"},
                                          {"W", "UnsafeRawBufferPointer"},
                                          {"w", "UnsafeMutableRawBufferPointer"}})
    EXPECT_EQ(demangle(std::string("$sS") + letter + "3fooyyF"), std::string("Swift.") + type + ".foo");
  EXPECT_EQ(demangle("$sSo3FooC3baryyF"), "__C.Foo.bar");
  EXPECT_EQ(demangle("$sS"), "$sS");
  // Extensions: of the standard library, of a module that was named before, of another one.
  EXPECT_EQ(demangle("$sSisE3fooyyF"), "Swift.Int.foo");
  EXPECT_EQ(demangle("$s4main3FooCAAE3baryyF"), "main.Foo.bar");
  EXPECT_EQ(demangle("$sSi4mainE3fooyyF"), "Swift.Int.foo");
  EXPECT_EQ(demangle("$s4main3FooC5otherE3BarV3bazyyF"), "main.Foo.Bar.baz");
  EXPECT_EQ(demangle("$s4main6acdegloiyyF"), "main.&@/=><");
  EXPECT_EQ(demangle("$s4main6mnopqropyyF"), "main.*!|+?%");
  EXPECT_EQ(demangle("$s4main4stxzoPyyF"), "main.-~^.");
}

/// What the compiler has made around a function.
TEST(NamesDemangle, DemanglesPartsOfFunctionsOfSwift) {
  EXPECT_EQ(demangle("$s4main3fooyyFTA"), "partial apply for main.foo");
  EXPECT_EQ(demangle("$s4main3fooyyFTm"), "merged main.foo");
  EXPECT_EQ(demangle("$s4main3fooyyxlFSi_Tg5"), "specialized main.foo");
  EXPECT_EQ(demangle("$s4main3fooyyxlFSi_TG5"), "specialized main.foo");
  EXPECT_EQ(demangle("$s4main3fooyySiFTf4d_n"), "specialized main.foo");
  EXPECT_EQ(demangle("$s4main3fooyyYaFTY0_"), "async part of main.foo");
  EXPECT_EQ(demangle("$s4main3fooyyYaFTQ12_"), "async part of main.foo");
  EXPECT_EQ(demangle("$s4main3fooyyFTmTA"), "partial apply for merged main.foo");
  EXPECT_EQ(demangle("$s4main3fooyyFTATATATA"),
            "partial apply for partial apply for partial apply for partial apply for main.foo");
  for (const char* const name : {"$s4main3fooyyFTATATATATA", "$s4main3fooyySiFTf_n", "$s4main3fooyySiFTf4",
                                 "$s4main3fooyySiFTf4dX", "$s4main3fooyyYaFTY", "$s4main3fooyyYaFTZ0_"})
    EXPECT_EQ(demangle(name), name);
  const std::pair<const char*, const char*> closures[] = {{"fU_", "closure #1 in main.foo"},
                                                          {"fU0_", "closure #2 in main.foo"},
                                                          {"fU10_", "closure #12 in main.foo"},
                                                          {"fU999999_", "closure #1000001 in main.foo"},
                                                          {"fu_", "implicit closure #1 in main.foo"}};
  for (const auto& [operators, text] : closures)
    EXPECT_EQ(demangle(std::string("$s4main3fooyyFyyc") + operators), text);
  for (const char* const name : {"$s4main3fooyyFyycfU1000000_", "$s4main3fooyyFyycfX_"})
    EXPECT_EQ(demangle(name), name);
}

/// Words of identifiers, and how many of what there may be.
TEST(NamesDemangle, DemanglesWordsOfSwift) {
  // "MyLibrary": My, Library; "HTTPServer" is one word; "snake_case9": snake, case9.
  EXPECT_EQ(demangle("$s9MyLibrary0B3FooyyF"), "MyLibrary.LibraryFoo");
  EXPECT_EQ(demangle("$s9MyLibrary0aB0yyF"), "MyLibrary.MyLibrary");
  EXPECT_EQ(demangle("$s9MyLibrary0bA0yyF"), "MyLibrary.LibraryMy");
  EXPECT_EQ(demangle("$s10HTTPServer0A3FooyyF"), "HTTPServer.HTTPServerFoo");
  EXPECT_EQ(demangle("$s11snake_case90B3FooyyF"), "snake_case9.case9Foo");
  EXPECT_EQ(demangle("$s9MyLibrary0C3FooyyF"), "$s9MyLibrary0C3FooyyF"); // there is no third one
  EXPECT_EQ(demangle("$s5A_Bcd0A3FooyyF"), "A_Bcd.BcdFoo");              // one letter is no word
  const auto nested = [](int types) {
    std::string name = "$s1m";
    for (int i = 0; i < types; ++i) name += "1tV";
    return name + "1fyyF";
  };
  EXPECT_NE(demangle(nested(62)), nested(62));
  EXPECT_EQ(demangle(nested(63)), nested(63));
}

TEST(NamesDemangle, DemanglesWithoutVersion) {
  EXPECT_EQ(demangle("__libc_start_main@@GLIBC_2.34"), "__libc_start_main");
  EXPECT_EQ(demangle("memcpy@GLIBC_2.2.5"), "memcpy");
  EXPECT_EQ(demangle("_ZN3foo3barEi@@V_1.0"), "foo::bar(int)");
  EXPECT_EQ(demangle("foo@plt"), "foo@plt");
  for (const char* version : {"a", "z", "A", "Z", "0", "9", "_", ".", "-", "+", ":"}) {
    EXPECT_EQ(demangle("foo@" + std::string(version)), "foo");
    EXPECT_EQ(demangle("foo@@V" + std::string(version) + "1"), "foo");
  }
  for (const char* other : {"`", "{", "@", "[", "/", ",", " ", "(", "\x80"})
    EXPECT_EQ(demangle("foo@V" + std::string(other) + "1"), "foo@V" + std::string(other) + "1");
  for (const char* name : {"@", "@@", "a@", "a@@", "@a", "a@b c"}) EXPECT_EQ(demangle(name), name);
}

TEST(NamesDemangle, DemanglesHostileNamesInBounds) {
  // Deep nesting: a pointer to a pointer to ...
  const std::string deep = "_Z1f" + std::string(60000, 'P') + "i";
  EXPECT_FALSE(demangle(deep).empty());
  // Doubling: each argument is a pair of the one before, so 60 short arguments would print 2^60 names.
  std::string doubling = "_Z1fI";
  doubling += "1aIiiE";
  for (int i = 0; i < 60; ++i) {
    std::string substitution = "S";
    for (int digits = i; digits > 0; digits = 0)
      substitution += static_cast<char>(digits < 10 ? '0' + digits : 'A' + digits - 10);
    substitution += "_";
    doubling += "1aI" + substitution + substitution + "E";
  }
  doubling += "Evv";
  EXPECT_LT(demangle(doubling).size(), 10'000'000u);
  // The same through template arguments of one name: each pair is made of the pair before, twice.
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string pairs = "_Z1fSt4pairIiiE";
  for (std::size_t i = 0; i < 34; ++i) {
    const std::string before = std::string("S") + digits[i] + "_";
    pairs += "S_I" + before + before + "E";
  }
  EXPECT_LT(demangle(pairs).size(), 10'000'000u);
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string result;
  for (std::size_t i = 0; i < count; ++i) result += text;
  return result;
}

/// Names of up to 8192 bytes.
TEST(NamesDemangle, DemanglesLongNames) {
  const std::string name(8181, 'x');
  EXPECT_EQ(demangle("_ZN1a8181" + name + "Ev"), "a::" + name + "()");
  EXPECT_EQ(demangle("_ZN1a8182" + name + "xEv"), "_ZN1a8182" + name + "xEv");
  EXPECT_EQ(demangle("_RNvC1a8181" + name), "a::" + name);
  EXPECT_EQ(demangle("_RNvC1a8182" + name + "x"), "_RNvC1a8182" + name + "x");
}

/// demangle() on a thread with little stack. Sanitizers' frames are several times as large.
std::string demangle_on_small_stack(const std::string& name) {
#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
  constexpr std::size_t stack_size = std::size_t(2) << 20;
#else
  constexpr std::size_t stack_size = std::size_t(192) << 10;
#endif
  std::pair<const std::string&, std::string> work(name, {});
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  EXPECT_EQ(pthread_attr_setstacksize(&attributes, stack_size), 0);
  const auto run = [](void* argument) -> void* {
    auto& [in, out] = *static_cast<decltype(work)*>(argument);
    out = demangle(in);
    return nullptr;
  };
  pthread_t thread;
  EXPECT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return work.second;
}

/// Each way in which the grammars nest, as often as a name has room for.
TEST(NamesDemangle, DemanglesOnASmallStack) {
  const auto nest = [](std::string_view before, std::string_view open, std::string_view core,
                       std::string_view close, std::string_view after) {
    const std::size_t count = 8000 / (open.size() + close.size());
    return std::string(before) + repeated(open, count) + std::string(core) + repeated(close, count) +
           std::string(after);
  };
  for (const std::string& name : {nest("_Z1f", "K", "i", "", ""),        // qualifiers
                                  nest("_Z1f", "P", "i", "", ""),        // pointers
                                  nest("_Z1f", "F", "i", "iE", ""),      // functions that return functions
                                  nest("_Z1f", "A1_", "i", "", ""),      // arrays
                                  nest("_Z1f", "Mi", "i", "", ""),       // pointers to members
                                  nest("_Z1f", "u1aI", "i", "E", ""),    // vendor's types
                                  nest("_Z1f", "U1a", "i", "", ""),      // vendor's qualifiers
                                  nest("_Z1f", "Dp", "i", "", ""),       // pack expansions
                                  nest("_Z1f1a", "I1a", "IiE", "E", ""), // template arguments
                                  nest("_Z1fI", "J", "i", "E", "Evv"),   // argument packs
                                  nest("_Z1fI", "LZ1fI", "i", "EvvE", "Evv"),   // functions as arguments
                                  nest("_Z1fIX", "ng", "Li1E", "", "EEvv"),     // prefix operators
                                  nest("_Z1fIX", "pl", "Li1E", "Li1E", "EEvv"), // binary operators
                                  nest("_Z1fIX", "il", "Li1E", "E", "EEvv"),    // initialiser lists
                                  nest("_Z1f", "DTng", "Li1E", "E", ""),        // decltype
                                  nest("_Z1f", "Ul", "v", "E_", ""),            // lambdas
                                  nest("_Z1fIUl", "Tp", "Ty", "", "vE_Evv"),  // packs of template parameters
                                  nest("_Z1fIUl", "Tt", "Ty", "E", "vE_Evv"), // template template parameters
                                  nest("_Z", "Z", "1fv", "E1av", ""),         // local names
                                  nest("_Z", "Th0_", "1fv", "", ""),          // thunks
                                  nest("_Z", "cv", "i", "", ""),              // conversion operators
                                  nest("_ZN", "1a", "", "", "E"),         // scopes: deep nodes from flat text
                                  nest("_Z1f", "B1a", "", "", "v"),       // ABI tags, the same
                                  nest("_RINvC1a1b", "R", "u", "", "E"),  // Rust: references
                                  nest("_RINvC1a1b", "T", "u", "E", "E"), // tuples
                                  nest("_RINvC1a1b", "F", "u", "Eu", "E"),       // functions
                                  nest("_RINvC1a1b", "DIC1a", "u", "EEL_", "E"), // dyn
                                  nest("_R", "Nv", "C1a", "1b", ""),             // paths
                                  nest("_R", "XC1a", "u", "C1a", ""),            // implementations
                                  nest("_R", "I", "C1a", "uE", ""),              // generic arguments
                                  nest("_D", "4__S1", "1a", "", "Z"), // D: parents that are left out
                                  nest("_D1a", "Qb", "", "", "Z")})   // back-references
    EXPECT_LE(demangle_on_small_stack(name).size(), 65536u) << name.substr(0, 20);

  // A chain of substitutions, each of the one before: deep nodes from flat text, over a pack that is not
  // expanded yet, so that nodes ask each other what they are.
  std::string chain = "_Z1fIJiiiEEvPT_";
  for (unsigned i = 1; i < 36; ++i)
    chain += std::string("PS") + "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i] + "_";
  EXPECT_NE(demangle_on_small_stack(chain), chain);

  // Depths that real names do not reach either.
  EXPECT_EQ(demangle_on_small_stack("_Z1f" + repeated("P", 200) + "i"), "f(int" + repeated("*", 200) + ")");
  EXPECT_EQ(demangle_on_small_stack("_Z1f1a" + repeated("I1a", 60) + repeated("E", 60)),
            "f(a" + repeated("<a", 60) + repeated(">", 60) + ")");
  EXPECT_EQ(demangle_on_small_stack("_RINvC1a1b" + repeated("R", 150) + "uE"),
            "a::b::<" + repeated("&", 150) + "()>");
}

/// Names that ask for far more text than there is memory stay as they are.
TEST(NamesDemangle, ExplodingNamesStayMangled) {
  // f(p<T, p<T, ...>...>...) for a pack T of ten: 10^depth of them. What c++filt prints for two:
  const auto packs = [](unsigned elements, unsigned depth) {
    std::string type = "T_";
    for (unsigned i = 0; i < depth; ++i) type = "1pIT_Dp" + type + "E";
    return "_Z1fIJ" + repeated("i", elements) + "EEvDp" + type;
  };
  EXPECT_EQ(demangle(packs(2, 1)), "void f<int, int>(p<int, int, int>, p<int, int, int>)");
  for (const std::string& name : {packs(10, 8), packs(10, 10), packs(3, 16), packs(2, 400)})
    EXPECT_EQ(demangle(name), name);
  // An empty pack: everything is printed, and erased again.
  EXPECT_EQ(demangle(packs(0, 2)), "void f<>()");

  // Rust: tuples of two references back to the tuple before.
  const auto base_62 = [](std::size_t n) {
    constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string text = "_";
    if (n == 0) return text;
    for (n -= 1; text.size() == 1 || n != 0; n /= 62) text.insert(0, 1, digits[n % 62]);
    return text;
  };
  const auto doubled = [&](unsigned times) {
    std::string text = "INvC1a1bTuuE";
    std::size_t before = 8;
    for (unsigned i = 0; i < times; ++i) {
      const std::size_t here = text.size();
      text += "TB" + base_62(before) + "B" + base_62(before) + "E";
      before = here;
    }
    return "_R" + text + "E";
  };
  EXPECT_EQ(demangle(doubled(1)), "a::b::<((), ()), (((), ()), ((), ()))>");
  for (const unsigned times : {12u, 24u, 300u}) EXPECT_EQ(demangle(doubled(times)), doubled(times));
  // Rust: signatures that bind 7,000 lifetimes each.
  const std::string bound = "_RINvC1a1b" + repeated("FG" + base_62(6999) + "Eu", 900) + "E";
  EXPECT_EQ(demangle(bound), bound);
  EXPECT_EQ(demangle("_RINvC1a1bFG_RL0_eEuE"), "a::b::<for<'a> fn(&'a str)>");
  // Many back-references are no fault.
  EXPECT_EQ(demangle("_RINvC1a1bNtC1c1d" + repeated("B7_", 40) + "E"),
            "a::b::<c::d" + repeated(", c::d", 40) + ">");
}

TEST(NamesDemangle, DemanglingIsBudgeted) {
  Budget budget(Limits::strict, 0); // 4 MiB of names
  const std::string name = "_Z1f" + repeated("P", 200) + "i";
  unsigned demangled = 0;
  for (unsigned i = 0; i < 20'000; ++i) demangled += demangle(name, &budget) != name;
  EXPECT_EQ(demangled, (4u << 20) / (name.size() + demangle(name).size()));
  EXPECT_TRUE(budget.is_used_up());
}

} // namespace names_demangle_test
} // namespace sframe::names
