// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors whose blocks are large pages.

#include <gtest/gtest.h>

#include <sframe/builder.h>
#include <sframe/large_vector.h>
#include <sframe/section.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <vector>

namespace sframe_large_vector_test {

using namespace sframe;

constexpr std::size_t large_page = std::size_t{2} << 20;

template <class T> bool starts_a_large_page(const LargeVector<T>& elements) {
  return reinterpret_cast<std::uintptr_t>(elements.data()) % large_page == 0;
}

/// The address space that the process uses.
std::uint64_t mapped_bytes() {
  std::uint64_t pages = 0;
  EXPECT_TRUE(std::ifstream("/proc/self/statm") >> pages);
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

TEST(LargeVector, KeepsElementsAsItGrows) {
  LargeVector<std::uint32_t> numbers;
  constexpr std::uint32_t count = 3 * least_large_block / sizeof(std::uint32_t);
  for (std::uint32_t i = 0; i < count; ++i) {
    make_room(numbers);
    const std::uint32_t* const before = numbers.data();
    numbers.push_back(i);
    ASSERT_EQ(numbers.data(), before) << "no room for " << i;
  }
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(numbers[i], i);
  EXPECT_TRUE(starts_a_large_page(numbers));
  const LargeVector<std::uint32_t> copy = numbers;
  EXPECT_EQ(copy, numbers);
}

TEST(LargeVector, LargeFromOneMiBOn) {
  LargeVector<std::byte> bytes;
  bytes.reserve(least_large_block);
  EXPECT_TRUE(starts_a_large_page(bytes));
  bytes.resize(least_large_block);
  bytes.back() = std::byte{1};
  EXPECT_EQ(bytes.capacity(), least_large_block);
}

// Also where the kernel does not align a block of this size by itself, since another one is in the way.
TEST(LargeVector, EachBlockStartsALargePage) {
  std::vector<LargeVector<std::byte>> blocks;
  std::vector<std::unique_ptr<void, void (*)(void*)>> between;
  for (std::size_t i = 0; i < 8; ++i) {
    blocks.emplace_back().reserve((1 + i % 3) * least_large_block + i % 2);
    EXPECT_TRUE(starts_a_large_page(blocks.back())) << i;
    void* const memory =
        ::mmap(nullptr, least_large_block / 2, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    between.emplace_back(memory, [](void* mapped) { ::munmap(mapped, least_large_block / 2); });
  }
}

// What is mapped for the alignment is given back.
TEST(LargeVector, TakesTheAddressSpaceOfItsLargePages) {
  constexpr std::uint64_t least = 8 * large_page, other = large_page; // the process may map something else
  const std::uint64_t before = mapped_bytes();
  std::vector<LargeVector<std::byte>> blocks(8);
  for (LargeVector<std::byte>& block : blocks) block.reserve(least_large_block);
  EXPECT_GE(mapped_bytes() - before, least);
  EXPECT_LT(mapped_bytes() - before, least + other);
  blocks.clear();
  EXPECT_LT(mapped_bytes(), before + other);
}

TEST(LargeVector, LargeOnesGrowEightfold) {
  LargeVector<std::byte> bytes;
  make_room(bytes);
  EXPECT_EQ(bytes.capacity(), 8u);
  make_room(bytes, 100);
  EXPECT_EQ(bytes.capacity(), 100u);
  bytes.resize(100);
  make_room(bytes);
  EXPECT_EQ(bytes.capacity(), 200u);
  bytes.resize(least_large_block / 2);
  bytes.shrink_to_fit();
  make_room(bytes);
  EXPECT_EQ(bytes.capacity(), least_large_block * 4);
}

/// AddressSanitizer ends the process where it gets no memory.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool may_run_out = false;
#else
constexpr bool may_run_out = true;
#endif

/// While it exists, the process may map so many more bytes.
class AddressSpaceLimit {
public:
  explicit AddressSpaceLimit(std::uint64_t more) {
    EXPECT_EQ(::getrlimit(RLIMIT_AS, &before_), 0);
    rlimit limit = before_;
    limit.rlim_cur = mapped_bytes() + more;
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  }
  ~AddressSpaceLimit() { EXPECT_EQ(::setrlimit(RLIMIT_AS, &before_), 0); }

private:
  rlimit before_{};
};

/// Sanitizers need room of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool may_fill_memory = false;
#elif defined(__has_feature)
constexpr bool may_fill_memory =
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) && !__has_feature(memory_sanitizer);
#else
constexpr bool may_fill_memory = true;
#endif

bool is_mapped(std::byte* page) {
  return ::msync(page, 1, MS_ASYNC) == 0;
}

/// Leaves the process a hole in its address space that no large page starts at, and maps a block there. Exits
/// with 0 if the block takes nothing but one large page of the hole.
[[noreturn]] void allocate_in_a_hole_and_exit() {
  const auto map = [](std::size_t size) {
    return ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  };
  constexpr std::size_t most = std::size_t{1} << 46;
  std::byte* taken = nullptr; // of at least 3 large pages
  for (std::size_t size = most; size >= large_page;)
    if (void* const memory = map(size); memory == MAP_FAILED)
      size /= 2;
    else if (!taken)
      taken = static_cast<std::byte*>(memory);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t before = reinterpret_cast<std::uintptr_t>(taken) % large_page;
  std::byte* const hole = taken + large_page - before + page;
  std::byte* const end = hole + 2 * large_page;
  ::munmap(hole, 2 * large_page);
  LargeVector<std::byte> bytes;
  bytes.reserve(least_large_block);
  std::byte* const first = bytes.data();
  bool right = first == hole - page + large_page;
  right &= is_mapped(first) && is_mapped(first + large_page - page);
  right &= !is_mapped(hole) && !is_mapped(first - page);
  right &= !is_mapped(first + large_page) && !is_mapped(end - page);
  right &= is_mapped(hole - page) && is_mapped(end);
  std::exit(right ? 0 : 1);
}

// Newer kernels align large blocks by themselves, unless there is no room for that.
TEST(LargeVectorDeathTest, ABlockTakesNothingOfItsNeighbours) {
  if (!may_fill_memory) GTEST_SKIP() << "sanitizers";
  EXPECT_EXIT(allocate_in_a_hole_and_exit(), testing::ExitedWithCode(0), "");
}

// A process may have less address space than growing eightfold takes.
TEST(LargeVector, GrowsByWhatThereIs) {
  if (!may_run_out) GTEST_SKIP() << "AddressSanitizer";
  LargeVector<std::byte> bytes(4 * least_large_block);
  const AddressSpaceLimit limit(20 * least_large_block);
  make_room(bytes, least_large_block);
  EXPECT_EQ(bytes.capacity(), 16 * least_large_block);
  EXPECT_THROW(make_room(bytes, 64 * least_large_block), std::bad_alloc);
  EXPECT_EQ(bytes.size(), 4 * least_large_block);
}

// Growing by each single element would copy all of them each time.
TEST(LargeVector, GrowsByAnEighthAtLeast) {
  if (!may_run_out) GTEST_SKIP() << "AddressSanitizer";
  LargeVector<std::byte> bytes(16 * least_large_block);
  const AddressSpaceLimit limit(28 * least_large_block);
  make_room(bytes);
  EXPECT_EQ(bytes.capacity(), 18 * least_large_block);
  bytes.resize(bytes.capacity());
  make_room(bytes, 4 * least_large_block);
  EXPECT_EQ(bytes.capacity(), 22 * least_large_block);
}

// The first attempt, for rows with nothing unusual, has room here; the second, which needs more, has none.
TEST(LargeVector, ABuilderAddsNothingWhereMemoryRunsOut) {
  if (!may_run_out) GTEST_SKIP() << "AddressSanitizer";
  Builder builder({});
  constexpr std::uint32_t count = 60000;
  std::vector<FrameRow> rows(count);
  for (std::uint32_t i = 0; i < count; ++i) rows[i] = {i, Rule::value(7, 8), Rule::fixed(), {}, false};
  rows.back().cfa = Rule::stored(6, -8);
  constexpr std::size_t most_bytes = 13; // of such a row
  builder.reserve(1, count * most_bytes + 64);
  {
    const AddressSpaceLimit limit(least_large_block);
    EXPECT_THROW((void)builder.add({.start = 0x1000, .size = count}, rows), std::bad_alloc);
  }
  const auto bytes = builder.finish(0x100000);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->size(), builder.size());
  const auto section = Section::parse(*bytes, 0x100000);
  ASSERT_TRUE(section);
  EXPECT_EQ(section->header().fre_size, 0u);
}

// The runs that were copied before belong to no function.
TEST(LargeVector, ABuilderAppendsNothingWhereMemoryRunsOut) {
  if (!may_run_out) GTEST_SKIP() << "AddressSanitizer";
  Builder builder({}), other({});
  constexpr std::uint32_t count = 60000; // 660 kB of rows
  std::vector<FrameRow> rows(count);
  for (std::uint32_t function = 0; function < 2; ++function) {
    for (std::uint32_t i = 0; i < count; ++i)
      rows[i] = {i, Rule::value(7, static_cast<std::int32_t>(100000 + i % 2 + function)), Rule::fixed(),
                 Rule::at_cfa(-100000), false};
    ASSERT_TRUE(other.add({.start = 0x100000 * (1 + function), .size = count}, rows));
  }
  {
    const AddressSpaceLimit limit(least_large_block); // enough for one function
    EXPECT_THROW(builder.append(other), std::bad_alloc);
  }
  EXPECT_EQ(builder.num_fdes(), 0u);
  const auto none = builder.finish(0x1000000);
  ASSERT_TRUE(none);
  ASSERT_TRUE(Section::parse(*none, 0x1000000));
  EXPECT_EQ(Section::parse(*none, 0x1000000)->header().fre_size, 0u);
  builder.append(other);
  EXPECT_EQ(builder.num_fdes(), 2u);
  const auto bytes = builder.finish(0x1000000);
  EXPECT_EQ(Section::parse(bytes.value(), 0x1000000)->num_fdes(), 2u);
}

// A new element without a value is not written to; others are.
TEST(LargeVector, Values) {
  LargeVector<std::uint32_t> numbers(5, 7u);
  numbers.resize(3);
  numbers.resize(5);
  EXPECT_EQ(numbers, (LargeVector<std::uint32_t>{7, 7, 7, 7, 7}));
  numbers.resize(6, 0u);
  EXPECT_EQ(numbers.back(), 0u);
}

// Any memory, also less than a large page.
TEST(LargeVector, AdviceChangesNothing) {
  std::vector<std::byte> bytes(3 * large_page, std::byte{5});
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, large_page, bytes.size()})
    advise_large_pages(bytes.data() + 1, std::min(size, bytes.size() - 1));
  EXPECT_EQ(std::ranges::count(bytes, std::byte{5}), static_cast<std::ptrdiff_t>(bytes.size()));
}

} // namespace sframe_large_vector_test
