// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks of the thread's stack compared with libgcc's unwinder: equal frames from the same place, in all kinds
// of code. Interruption at any instruction is tested in here_signal_test.cc.

#include "here_peer.h"

#include <gtest/gtest.h>

#include <alloca.h>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace here_walk_test {

using namespace sframe;
using test::Frames;
using unwind::StopReason;

bool is_complete(StopReason end) {
  return end == StopReason::bottom || end == StopReason::zero_pc;
}

/// Both unwinders, called from one place: the first frame is the caller's own, where the two calls differ.
[[gnu::noinline]] void expect_equal_to_libgcc(bool complete = true) {
  Frames ours, theirs;
  ours.by_here();
  theirs.by_libgcc();
  EXPECT_GT(ours.pcs().size(), 1u);
  EXPECT_EQ(ours.callers(), theirs.callers());
  EXPECT_EQ(is_complete(ours.end()), complete) << message(ours.end());
}

TEST(Here, PlainCalls) {
  expect_equal_to_libgcc();
}

[[gnu::noinline]] std::pair<std::uint64_t, std::uint64_t> second_frame() {
  std::uint64_t frames[2] = {};
  const auto walk = here::callers(frames);
  EXPECT_EQ(walk.count, 2u);
  EXPECT_EQ(walk.end, StopReason::frame_limit);
  return {frames[1], reinterpret_cast<std::uint64_t>(__builtin_return_address(0))};
}

TEST(Here, FramesAreReturnAddresses) {
  const auto [found, expected] = second_frame();
  EXPECT_EQ(found, expected);
}

TEST(Here, SkipLeavesOutTheFirstFrames) {
  std::array<std::uint64_t, 100> all, skipped;
  std::size_t counts[2];
  // One call, so that both walks start at the same address.
  for (std::size_t skip : {0, 2}) counts[skip / 2] = here::callers(skip ? skipped : all, skip).count;
  ASSERT_EQ(counts[0], counts[1] + 2);
  EXPECT_TRUE(
      std::equal(all.begin() + 2, all.begin() + static_cast<std::ptrdiff_t>(counts[0]), skipped.begin()));
}

TEST(Here, SkipMoreFramesThanThereAre) {
  std::array<std::uint64_t, 100> frames = {};
  for (const std::size_t skip :
       {std::size_t{10'000}, ~std::size_t{0} / 2, ~std::size_t{0} - 50, ~std::size_t{0}}) {
    const here::Callers walk = here::callers(frames, skip);
    EXPECT_EQ(walk.count, 0u);
    EXPECT_TRUE(is_complete(walk.end));
  }
  EXPECT_EQ(frames, (std::array<std::uint64_t, 100>{}));
}

TEST(Here, EmptyBuffer) {
  EXPECT_EQ(here::callers({}).count, 0u);
  EXPECT_EQ(here::callers({}).end, StopReason::frame_limit);
}

TEST(Here, CallbackFromTheCLibrary) {
  int numbers[] = {3, 1, 2};
  std::qsort(numbers, std::size(numbers), sizeof *numbers, [](const void* a, const void* b) {
    expect_equal_to_libgcc();
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
  });
  EXPECT_EQ(numbers[0], 1);
}

/// GCC saves the caller's stack pointer (DRAP) for these: the CFA is an expression, or in another register.
[[gnu::noinline]] void with_realigned_stack(std::size_t depth) {
  alignas(256) volatile char aligned[512];
  aligned[depth] = static_cast<char>(depth);
  if (depth)
    with_realigned_stack(depth - 1);
  else
    expect_equal_to_libgcc();
  EXPECT_EQ(aligned[depth], static_cast<char>(depth));
}

[[gnu::noinline]] void with_alloca(std::size_t depth) {
  auto* room = static_cast<volatile char*>(alloca(depth * 16 + 16));
  room[depth] = static_cast<char>(depth);
  if (depth % 2) with_realigned_stack(1);
  if (depth)
    with_alloca(depth - 1);
  else
    expect_equal_to_libgcc();
  EXPECT_EQ(room[depth], static_cast<char>(depth));
}

TEST(Here, RealignedStacks) {
  with_realigned_stack(3);
}
TEST(Here, Alloca) {
  with_alloca(5);
}

struct WalksWhenDestroyed {
  ~WalksWhenDestroyed() { expect_equal_to_libgcc(); }
};

[[gnu::noinline]] void throw_through_destructors(int depth) {
  const WalksWhenDestroyed here;
  if (depth) throw_through_destructors(depth - 1);
  throw std::runtime_error("on purpose");
}

TEST(Here, DestructorsWhileAnExceptionIsThrown) {
  try {
    throw_through_destructors(3);
    FAIL();
  } catch (const std::runtime_error&) {
    expect_equal_to_libgcc();
  }
}

TEST(Here, TerminateHandler) {
  const auto die = [] {
    std::set_terminate([] {
      expect_equal_to_libgcc();
      std::_Exit(testing::Test::HasFailure() ? 1 : 0);
    });
    const auto thrower = []() noexcept { throw_through_destructors(0); };
    thrower();
  };
  EXPECT_EXIT(die(), testing::ExitedWithCode(0), "");
}

TEST(Here, Threads) {
  std::thread([] { expect_equal_to_libgcc(); }).join();
}

/// From now on, the calling thread cannot ask the kernel whether memory is readable. False if it still can.
bool refuse_questions() {
  std::array<sock_filter, 6> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 3),
      // The lower half of `how`, which has all bits set in a question.
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
               offsetof(seccomp_data, args) + (std::endian::native == std::endian::big ? 4 : 0)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xffffffff, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{program.size(), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// Whatever part of a page the innermost frame is in: the first word that is read can be in the next one.
TEST(Here, AThreadsStackIsCheckedOnce) {
  bool refused = true;
  for (std::size_t shift = 0; refused && shift < 4096; shift += 64)
    std::thread([&refused, shift] {
      auto* const room = static_cast<volatile char*>(alloca(shift + 1));
      room[0] = 1;
      Frames before, after;
      before.by_here();
      refused = refuse_questions();
      if (!refused) return;
      after.by_here();
      EXPECT_EQ(after.callers(), before.callers());
      EXPECT_TRUE(is_complete(after.end())) << message(after.end()) << ", shift " << shift;
    }).join();
  if (!refused) GTEST_SKIP() << "no system calls can be filtered here";
}

TEST(Here, DeepRecursion) {
  std::function<void(int)> deeper = [&](int depth) {
    if (depth)
      deeper(depth - 1);
    else
      expect_equal_to_libgcc();
  };
  deeper(300);
}

// A stack of its own. The outermost function seems to have been called by the instruction before the C
// library's __start_context(): no table knows it, and libgcc ends there too.
TEST(Here, StackOfMakecontext) {
  static ucontext_t back, other;
  std::vector<char> stack(256 << 10);
  ASSERT_EQ(getcontext(&other), 0);
  other.uc_stack = {.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  other.uc_link = &back;
  makecontext(
      &other, [] { expect_equal_to_libgcc(false); }, 0);
  ASSERT_EQ(swapcontext(&back, &other), 0);
}

TEST(Here, RefreshKeepsTables) {
  ASSERT_TRUE(here::refresh());
  const here::Tables before = here::tables();
  ASSERT_TRUE(here::refresh());
  const here::Tables after = here::tables();
  EXPECT_GE(before.modules, 3u); // the program, the C library, the vdso at least
  EXPECT_GT(before.functions, 1000u);
  EXPECT_EQ(before.modules, after.modules);
  EXPECT_EQ(before.functions, after.functions);
  EXPECT_EQ(after.retired, 0u);
}

/// Copies of libgcc, whose _Unwind_Backtrace() calls back. The loader takes each for a library of its own.
class HereLibraries : public testing::Test {
protected:
  void SetUp() override {
    if (!dlsym(RTLD_DEFAULT, "_dl_find_object")) GTEST_SKIP() << "no _dl_find_object()";
    void* const library = dlopen("libgcc_s.so.1", RTLD_NOW);
    Dl_info info{};
    if (!library || !dladdr(dlsym(library, "_Unwind_Backtrace"), &info)) GTEST_SKIP() << "no libgcc_s.so.1";
    std::ifstream file(info.dli_fname, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    dlclose(library);
    std::string name = testing::TempDir() + "sframe-here-XXXXXX";
    ASSERT_TRUE(mkdtemp(name.data()));
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  /// A handle of a new file with the bytes, loaded; the name is that of the file.
  void* load(const std::string& name, const std::string& bytes) {
    const auto path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_TRUE(library) << dlerror();
    return library;
  }

  /// The library without rows: its .eh_frame ends at its start, and it has no other table.
  std::string without_rows() const {
    std::string bytes = bytes_;
    ElfW(Ehdr) header;
    std::memcpy(&header, bytes.data(), sizeof header);
    std::vector<ElfW(Shdr)> sections(header.e_shnum);
    std::memcpy(sections.data(), bytes.data() + header.e_shoff, sections.size() * sizeof(ElfW(Shdr)));
    for (const ElfW(Shdr) & section : sections) {
      const char* const name = bytes_.data() + sections[header.e_shstrndx].sh_offset + section.sh_name;
      if (name == std::string_view(".eh_frame") || name == std::string_view(".sframe"))
        std::memset(bytes.data() + section.sh_offset, 0, 4);
    }
    return bytes;
  }

  std::filesystem::path folder_;
  std::string bytes_;
};

/// From a callback of the library, with the tables that are there.
[[gnu::noinline]] StopReason end_through(void* library) {
  const auto backtrace = reinterpret_cast<decltype(&_Unwind_Backtrace)>(dlsym(library, "_Unwind_Backtrace"));
  StopReason end = StopReason::none;
  backtrace(
      [](_Unwind_Context*, void* result) {
        Frames frames;
        frames.by_here_in_handler();
        *static_cast<StopReason*>(result) = frames.end();
        return _URC_END_OF_STACK;
      },
      &end);
  return end;
}

TEST_F(HereLibraries, TablesOfOneThatIsGoneAreNotUsed) {
  void* const first = load("first.so", bytes_);
  ASSERT_TRUE(first);
  const void* const place = dlsym(first, "_Unwind_Backtrace");
  EXPECT_EQ(end_through(first), StopReason::no_rule);
  ASSERT_TRUE(here::refresh());
  EXPECT_TRUE(is_complete(end_through(first)));
  ASSERT_EQ(dlclose(first), 0);
  // The loader's record of another size is elsewhere.
  void* const second = load(std::string(200, 's'), bytes_);
  ASSERT_TRUE(second);
  if (dlsym(second, "_Unwind_Backtrace") != place || second == first) {
    dlclose(second);
    GTEST_SKIP() << "the second library is at another place, or its record at that of the first";
  }
  const std::uint64_t left_out = here::left_out();
  EXPECT_EQ(end_through(second), StopReason::no_rule);
  EXPECT_EQ(here::left_out(), left_out + 1);
  ASSERT_TRUE(here::refresh());
  EXPECT_TRUE(is_complete(end_through(second)));
  ASSERT_EQ(dlclose(second), 0);
  ASSERT_TRUE(here::refresh());
}

TEST_F(HereLibraries, ChangedOneAtTheSamePlace) {
  void* const first = load("first.so", bytes_);
  ASSERT_TRUE(first);
  ASSERT_TRUE(here::refresh());
  EXPECT_TRUE(is_complete(end_through(first)));
  ASSERT_EQ(dlclose(first), 0);
  void* const other = load("other.so", without_rows());
  ASSERT_TRUE(other);
  ASSERT_TRUE(here::refresh());
  const std::uint64_t left_out = here::left_out();
  EXPECT_EQ(end_through(other), StopReason::no_rule);
  EXPECT_EQ(here::left_out(), left_out) << "there are tables: without rules";
  ASSERT_EQ(dlclose(other), 0);
}

TEST(Here, DamagedReturnAddressEndsTheWalk) {
  ASSERT_TRUE(here::refresh());
  // A context whose stack holds nothing but rubbish, in the middle of a known function.
  ucontext_t context;
  ASSERT_EQ(getcontext(&context), 0);
  for (const std::uint64_t rubbish : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{0x1234567890},
                                      ~std::uint64_t{0}, ~std::uint64_t{7}, std::uint64_t{1} << 63}) {
    ucontext_t damaged = context;
    test::sp_of(damaged) = test::fp_of(damaged) = static_cast<std::int64_t>(rubbish);
    std::array<std::uint64_t, 10> frames;
    const auto walk = here::callers_in_context(damaged, frames);
    EXPECT_EQ(walk.count, 1u);
    EXPECT_EQ(walk.end, StopReason::unreadable_memory) << std::hex << rubbish << ": " << message(walk.end);
  }
}

/// Red zones and all.
[[gnu::no_sanitize_address]] void copy_stack(std::uint64_t from, std::span<std::uint64_t> to) {
  for (std::uint64_t& word : to) {
    word = *reinterpret_cast<const volatile std::uint64_t*>(from);
    from += sizeof word;
  }
}

// Copies of a real stack in which some words are others: numbers that are no addresses, addresses of code, of
// the stack and of memory that is not there. Any end will do that comes without a crash.
TEST(Here, DamagedStacks) {
  ASSERT_TRUE(here::refresh());
  static ucontext_t context; // static: this function's frame is to be small
  ASSERT_EQ(getcontext(&context), 0);
  const auto sp = static_cast<std::uint64_t>(test::sp_of(context));
  const std::uint64_t fp_from_sp = static_cast<std::uint64_t>(test::fp_of(context)) - sp;
  static std::mt19937_64 random(1);
  std::vector<std::uint64_t> stack(400);
  std::set<StopReason> ends;
  for (int round = 0; round < 2000; ++round) {
    copy_stack(sp, stack);
    const auto here = reinterpret_cast<std::uint64_t>(stack.data());
    const std::uint64_t values[] = {random(),
                                    random() % 4096,
                                    here + random() % 4096,
                                    here + (1 << 30),
                                    reinterpret_cast<std::uint64_t>(&std::qsort) + random() % 64,
                                    static_cast<std::uint64_t>(test::pc_of(context))};
    for (int i = 0; i < 20; ++i) stack[random() % stack.size()] = values[random() % std::size(values)];
    test::sp_of(context) = static_cast<std::int64_t>(here);
    if (fp_from_sp < 4096) test::fp_of(context) = static_cast<std::int64_t>(here + fp_from_sp);
    std::array<std::uint64_t, 50> frames;
    const auto walk = here::callers_in_context(context, frames);
    EXPECT_GE(walk.count, 1u);
    ends.insert(walk.end);
  }
  EXPECT_FALSE(ends.contains(StopReason::none));
  EXPECT_TRUE(ends.contains(StopReason::no_rule));
  EXPECT_GE(ends.size(), 2u);
}

} // namespace here_walk_test
