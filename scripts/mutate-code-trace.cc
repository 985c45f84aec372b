// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linked by scripts/mutate-code into copies of the programs and of the unit tests, together with files
// compiled by `-fsanitize-coverage=trace-pc`: records which of their code each test runs. SFRAME_TRACE names
// a folder. The unit tests write `unit` there: a line for each test, its name, its seconds and the places
// that ran. A program maps a file of its own there before main(), since its sandbox may allow no more later:
// the test's name, its own, and from byte 4096 on the number of places and the places. A place is an offset from the
// beginning of the image.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#ifdef UNIT_TESTS
#include <gtest/gtest.h>
#endif

extern "C" const char __executable_start, etext;

namespace {
constexpr std::size_t header = 4096, capacity = std::size_t{1} << 18;

std::uint32_t* places; // the first is their number
unsigned char* seen;   // those of this process, by offset

/// Shared with children, which run code for the test, too.
char* map(int file)
{
	void* at = mmap(nullptr, header + capacity * 4, PROT_READ | PROT_WRITE, MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
	if (at == MAP_FAILED) return nullptr;
	void* flags = mmap(nullptr, static_cast<std::size_t>(&etext - &__executable_start), PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (flags == MAP_FAILED) return nullptr;
	seen = static_cast<unsigned char*>(flags);
	places = reinterpret_cast<std::uint32_t*>(static_cast<char*>(at) + header);
	return static_cast<char*>(at);
}
} // namespace

extern "C" void __sanitizer_cov_trace_pc()
{
	if (!places) return;
	const auto offset =
		static_cast<std::size_t>(static_cast<const char*>(__builtin_return_address(0)) - &__executable_start);
	if (seen[offset]) return;
	seen[offset] = 1;
	const std::uint32_t index = __atomic_add_fetch(&places[0], 1, __ATOMIC_RELAXED);
	if (index < capacity) places[index] = static_cast<std::uint32_t>(offset);
}

namespace {
#ifdef UNIT_TESTS
class Trace : public testing::EmptyTestEventListener {
	void OnTestStart(const testing::TestInfo&) override
	{
		for (std::uint32_t i = 1; i <= places[0] && i < capacity; ++i) seen[places[i]] = 0;
		places[0] = 0;
	}

	void OnTestEnd(const testing::TestInfo& test) override
	{
		std::string text = std::string(test.test_suite_name()) + "." + test.name() + " " +
			(test.result()->Failed() ? "failed" : std::to_string(static_cast<double>(test.result()->elapsed_time()) / 1000));
		for (std::uint32_t i = 1; i <= places[0] && i < capacity; ++i) text += " " + std::to_string(places[i]);
		std::FILE* out = std::fopen((std::string(std::getenv("SFRAME_TRACE")) + "/unit").c_str(), "a");
		std::fprintf(out, "%s\n", text.c_str());
		std::fclose(out);
	}
};

[[gnu::constructor]] void begin()
{
	if (std::getenv("SFRAME_TRACE") && map(-1)) testing::UnitTest::GetInstance()->listeners().Append(new Trace);
}
#else
std::string contents(const std::string& path)
{
	std::string text(4096, '\0');
	const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
	const ssize_t size = file < 0 ? 0 : read(file, text.data(), text.size());
	close(file);
	text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
	return text;
}

/// The script of lit's that this process comes from.
std::string test_name()
{
	for (long process = getppid(); process > 1;) {
		const std::string folder = "/proc/" + std::to_string(process);
		const std::string command = contents(folder + "/cmdline"), stat = contents(folder + "/stat");
		if (const std::size_t end = command.find(".script"); end != std::string::npos) {
			const std::size_t begin = command.rfind('\0', end);
			return command.substr(begin + 1, end - begin - 1);
		}
		const std::size_t name_end = stat.rfind(')'); // pid (name) state parent
		process = name_end == std::string::npos ? 0 : std::atol(stat.c_str() + name_end + 4);
	}
	return "?";
}

[[gnu::constructor]] void begin()
{
	const char* folder = FOLDER; // lit's tests get few environment variables
	const std::string path = std::string(folder) + "/program." + std::to_string(getpid());
	const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (file < 0 || ftruncate(file, header + capacity * 4)) return;
	if (char* at = map(file)) std::snprintf(at, header, "%s\n%s\n", test_name().c_str(), PROGRAM);
	close(file);
}
#endif
} // namespace
