// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python frames in made-up interpreters. The places of the data are offsetof() of the headers of CPython
// 3.11.7 and 3.12.1; 3.13 states them itself, so that any will do.

#include "made_up_process.h"

#include "sframe/languages/python.h"

#include <gtest/gtest.h>

#include <string>

namespace languages_python_test {

using namespace sframe;
using namespace sframe::languages;
using test::Bytes;

struct Layout {
  std::uint32_t version; ///< PY_VERSION_HEX
  std::uint64_t interpreters, interpreter_next, interpreter_threads;
  bool gil_in_runtime;
  std::uint64_t gil_pointer, gil_locked, gil_holder; ///< the first: of the interpreter
  std::uint64_t thread_next, thread_id, thread_frame;
  bool has_cframe;
  std::uint64_t in_cframe, frame_previous, frame_code, frame_instruction, frame_owner;
  std::uint64_t code_file, code_name, code_lines, code_first_line, code_instructions;
  std::uint64_t text_length, text_state, ascii_size, compact_size;
  std::uint64_t object_type = 8, type_name = 24, bytes_size = 16, bytes_data = 32;
};

constexpr Layout python_3_11{0x030b07f0, 40, 0,  16, true, 0,   376, 368, 8,   160, 56, true, 8,
                             48,         32, 56, 69, 112,  128, 136, 72,  184, 16,  32, 48,   72};
constexpr Layout python_3_12{0x030c01f0, 40, 0,  72, false, 384, 16,  8,  8,   144, 56, true, 0,
                             8,          0,  56, 70, 112,   128, 136, 68, 192, 16,  32, 40,   56};
constexpr Layout python_3_13{.version = 0x030d00f0,
                             .interpreters = 0x300,
                             .interpreter_next = 0x18,
                             .interpreter_threads = 0x40,
                             .gil_in_runtime = false,
                             .gil_pointer = 0x58,
                             .gil_locked = 0x20,
                             .gil_holder = 0x30,
                             .thread_next = 0x28,
                             .thread_id = 0x38,
                             .thread_frame = 0x50,
                             .has_cframe = false,
                             .in_cframe = 0,
                             .frame_previous = 0x10,
                             .frame_code = 0x28,
                             .frame_instruction = 0x40,
                             .frame_owner = 0x4b,
                             .code_file = 0x20,
                             .code_name = 0x38,
                             .code_lines = 0x50,
                             .code_first_line = 0x64,
                             .code_instructions = 0x90,
                             .text_length = 0x18,
                             .text_state = 0x28,
                             .ascii_size = 0x40,
                             .compact_size = 0x50,
                             .object_type = 0x10,
                             .type_name = 0x30,
                             .bytes_size = 0x20,
                             .bytes_data = 0x38};

/// Where the objects are; those of which there are several are `apart` from each other.
constexpr std::uint64_t image = 0x10000, runtime = 0x100000, version_at = 0x110000, interpreters = 0x120000,
                        threads = 0x130000, cframes = 0x138000, gil = 0x13f000, frames = 0x140000,
                        codes = 0x150000, types = 0x160000, texts = 0x170000, tables = 0x180000,
                        apart = 0x400;

/// A process with one interpreter, which has no threads yet.
class Python {
public:
  Python(const Layout& the_layout, Abi abi) : process(abi), layout(the_layout) {
    block(runtime);
    process.words(version_at, {layout.version});
    process.set(runtime + layout.interpreters, interpreters);
    block(interpreters);
    if (!layout.gil_in_runtime) {
      block(gil);
      process.set(interpreters + layout.gil_pointer, gil);
    }
    for (std::uint64_t i = 0; i < 3; ++i) {
      block(types + i * apart);
      const char* const names[] = {"str", "code", "strange"};
      process.put(types + 0x8000 + i * apart, process.bytes().text(names[i]));
      process.set(types + i * apart + layout.type_name, types + 0x8000 + i * apart);
    }
    if (layout.version >> 16 == 0x030d) state_offsets();
    process.add_library("/usr/bin/python3", {{"_PyRuntime", runtime}, {"Py_Version", version_at}}, image);
  }

  /// The places as a _Py_DebugOffsets has them (Include/internal/pycore_runtime.h of 3.13).
  void state_offsets() {
    const char cookie[] = "xdebugpy";
    for (unsigned i = 0; i < 8; ++i) process.set(runtime + i, static_cast<unsigned char>(cookie[i]), 1);
    const std::pair<unsigned, std::uint64_t> fields[] = {{5, layout.interpreters},
                                                         {8, layout.interpreter_next},
                                                         {9, layout.interpreter_threads},
                                                         {14, layout.gil_pointer},
                                                         {15, 0x1000},
                                                         {17, 0x1000 + layout.gil_locked},
                                                         {18, 0x1000 + layout.gil_holder},
                                                         {21, layout.thread_next},
                                                         {23, layout.thread_frame},
                                                         {25, layout.thread_id},
                                                         {29, layout.frame_previous},
                                                         {30, layout.frame_code},
                                                         {31, layout.frame_instruction},
                                                         {33, layout.frame_owner},
                                                         {35, layout.code_file},
                                                         {37, layout.code_name},
                                                         {38, layout.code_lines},
                                                         {39, layout.code_first_line},
                                                         {43, layout.code_instructions},
                                                         {45, layout.object_type},
                                                         {47, layout.type_name},
                                                         {65, layout.bytes_size},
                                                         {66, layout.bytes_data},
                                                         {68, layout.text_state},
                                                         {69, layout.text_length},
                                                         {70, layout.ascii_size}};
    for (const auto& [index, value] : fields) process.set(runtime + index * 8, value);
  }

  void block(std::uint64_t at, std::size_t size = apart) { process.put(at, std::vector<std::byte>(size)); }

  /// Thread `number`, after the one with the number below, or an interpreter's first; its innermost frame.
  void add_thread(std::uint64_t number, std::uint32_t id, std::uint64_t frame,
                  std::uint64_t interpreter = 0) {
    const std::uint64_t at = threads + number * apart;
    block(at);
    process.set(at + layout.thread_id, id);
    if (number == 0) interpreter = interpreters;
    const std::uint64_t link = interpreter ? interpreter + layout.interpreter_threads
                                           : threads + (number - 1) * apart + layout.thread_next;
    process.set(link, at);
    if (layout.has_cframe) {
      block(cframes + number * 0x40, 0x40);
      process.set(cframes + number * 0x40 + layout.in_cframe, frame);
      frame = cframes + number * 0x40;
    }
    process.set(at + layout.thread_frame, frame);
  }

  /// Frame `number`, called by the frame at `previous`, in code `code`, at `offset` bytes of it.
  std::uint64_t add_frame(std::uint64_t number, std::uint64_t previous, std::uint64_t code,
                          std::uint64_t offset, unsigned owner = 0) {
    const std::uint64_t at = frames + number * apart;
    block(at);
    process.set(at + layout.frame_previous, previous);
    process.set(at + layout.frame_code, codes + code * apart);
    process.set(at + layout.frame_instruction, codes + code * apart + layout.code_instructions + offset);
    process.set(at + layout.frame_owner, owner, 1);
    return at;
  }

  /// Code `number`, with texts that were added, and lines that count from 10.
  void add_code(std::uint64_t number, std::uint64_t name, std::uint64_t file,
                const std::vector<int>& lines = {}) {
    const std::uint64_t at = codes + number * apart, table = tables + number * apart;
    block(at);
    process.set(at + layout.object_type, types + apart);
    process.set(at + layout.code_name, texts + name * 0x2000);
    process.set(at + layout.code_file, texts + file * 0x2000);
    process.set(at + layout.code_first_line, 10, 4);
    process.set(at + layout.code_lines, table);
    block(table);
    process.set(table + layout.bytes_size, lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i)
      process.set(table + layout.bytes_data + i, static_cast<std::uint64_t>(lines[i]), 1);
  }

  /// Text `number`, of characters of 1, 2 or 4 bytes.
  void add_text(std::uint64_t number, const std::u32string& characters, unsigned kind = 1, bool ascii = true,
                bool compact = true) {
    const std::uint64_t at = texts + number * 0x2000;
    block(at, 0x2000);
    process.set(at + layout.object_type, types);
    process.set(at + layout.text_length, characters.size());
    // Bit fields are allocated from the lowest bit on, or from the highest one.
    const bool little = process.abi().byte_order == ByteOrder::little;
    const unsigned state = little ? 1 | kind << 2 | compact * 0x20u | ascii * 0x40u
                                  : 1u << 30 | kind << 27 | compact * (1u << 26) | ascii * (1u << 25);
    process.set(at + layout.text_state, state, 4);
    for (std::size_t i = 0; i < characters.size(); ++i)
      process.set(at + (ascii ? layout.ascii_size : layout.compact_size) + i * kind, characters[i], kind);
  }

  std::unique_ptr<PythonProgram> open() { return PythonProgram::open(process, process.modules()); }

  /// The thread's frames, "function file:line; ..." and the problem.
  std::string stack(std::uint32_t id = 1) {
    const auto program = open();
    const auto found = program ? program->stack_of(id) : std::nullopt;
    if (!found) return "none";
    std::string text;
    for (const PythonFrame& frame : found->frames)
      text += frame.function + " " + frame.file + ":" + std::to_string(frame.line) + "; ";
    return text + std::string(found->problem);
  }

  test::MadeUpProcess process;
  Layout layout;
};

class EachVersion : public testing::TestWithParam<std::pair<Layout, Abi>> {
protected:
  EachVersion() : python(GetParam().first, GetParam().second) {
    python.add_text(0, U"f");
    python.add_text(1, U"/a.py");
    python.add_text(2, U"<module>");
    python.add_code(0, 0, 1, {0x80 | 1, 0});
    python.add_code(1, 2, 1, {0x80 | 11 << 3 | 1, 0, 0});
  }
  Python python;
};
INSTANTIATE_TEST_SUITE_P(LanguagesPython, EachVersion,
                         testing::Values(std::pair{python_3_11, Abi::amd64},
                                         std::pair{python_3_12, Abi::aarch64_little},
                                         std::pair{python_3_13, Abi::amd64},
                                         std::pair{python_3_12, Abi::s390x},
                                         std::pair{python_3_13, Abi::aarch64_big}));

TEST_P(EachVersion, Stacks) {
  python.add_frame(0, 0, 1, 2);
  python.add_frame(1, frames, 0, 0);
  python.add_frame(2, 0, 0, 2);
  python.add_thread(0, 1, frames + apart);
  python.add_thread(1, 77, frames + 2 * apart);
  EXPECT_EQ(python.stack(1), "f /a.py:10; <module> /a.py:11; ");
  EXPECT_EQ(python.stack(77), "f /a.py:10; ");
  EXPECT_EQ(python.stack(2), "none");
  const auto program = python.open();
  ASSERT_TRUE(program);
  EXPECT_EQ(program->problem(), "");
  const char* const version = python.layout.version == 0x030b07f0   ? "3.11.7"
                              : python.layout.version == 0x030c01f0 ? "3.12.1"
                                                                    : "3.13.0";
  EXPECT_EQ(program->version(), version);
}

/// The lock counts as held only while it is locked: the thread that had it last remains written there.
TEST_P(EachVersion, Lock) {
  python.add_frame(0, 0, 0, 0);
  python.add_thread(0, 1, frames);
  python.add_thread(1, 2, frames);
  const std::uint64_t lock = python.layout.gil_in_runtime ? runtime : gil;
  const auto holders = [&] {
    const auto program = python.open();
    return std::pair(program->stack_of(1)->holds_gil, program->stack_of(2)->holds_gil);
  };
  python.process.set(lock + python.layout.gil_holder, threads + apart);
  EXPECT_EQ(holders(), std::pair(false, false));
  python.process.set(lock + python.layout.gil_locked, 1, 4);
  EXPECT_EQ(holders(), std::pair(false, true));
  if (!python.layout.gil_in_runtime) python.process.set(interpreters + python.layout.gil_pointer, 0);
  EXPECT_EQ(holders(), std::pair(false, python.layout.gil_in_runtime));
}

/// Frames of the interpreter's own C code have no Python code; CPython 3.11 has no such frames.
TEST_P(EachVersion, FramesOfC) {
  python.add_frame(0, 0, 0, 0);
  python.add_frame(1, frames, 9, 0, 3);
  python.add_frame(2, frames + apart, 1, 0);
  python.add_thread(0, 1, frames + 2 * apart);
  EXPECT_EQ(python.stack(), "<module> /a.py:11; f /a.py:10; ");
  python.add_frame(1, frames, 9, 0, 2);
  EXPECT_EQ(python.stack(), "<module> /a.py:11; not a Python frame");
}

TEST_P(EachVersion, Characters) {
  python.add_frame(0, 0, 0, 0);
  python.add_thread(0, 1, frames);
  const auto name = [&](const std::u32string& text, unsigned kind, bool ascii = false, bool compact = true) {
    python.add_text(0, text, kind, ascii, compact);
    const std::string stack = python.stack();
    return stack.substr(0, stack.find(" /a.py"));
  };
  EXPECT_EQ(name(U"", 1, true), "");
  EXPECT_EQ(name(U"caf\u00e9\u0080", 1), "caf\xc3\xa9\xc2\x80");
  EXPECT_EQ(name(U"\u007f\u07ff\u0800\uffff", 2), "\x7f\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf");
  EXPECT_EQ(name(U"\U00010000\U0010ffff\u20ac", 4), "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\xe2\x82\xac");
  // A byte that is not UTF-8, as Python keeps it (PEP 383), and surrogates beside these.
  EXPECT_EQ(name({0xdc80, 0xdcff}, 2), "\x80\xff");
  EXPECT_EQ(name({0xdc7f, 0xdd00}, 2), "\xed\xb1\xbf\xed\xb4\x80");
  EXPECT_EQ(name(U"a", 3), "not a Python frame");
  EXPECT_EQ(name(U"a", 0), "not a Python frame");
  EXPECT_EQ(name(U"a", 1, true, false), "not a Python frame");
  EXPECT_EQ(name(std::u32string(1000, U'x'), 1, true), std::string(1000, 'x'));
  EXPECT_EQ(name(std::u32string(1001, U'x'), 1, true), std::string(1000, 'x') + "...");
}

/// Objects/locations.md: a byte with the kind and the number of instructions of 2 bytes, less one; then the
/// line as a number of the kind.
TEST_P(EachVersion, Lines) {
  const auto entry = [](int kind, int instructions) { return 0x80 | kind << 3 | (instructions - 1); };
  python.add_code(0, 0, 1, {entry(0, 2),  0x12,                // the same line
                            entry(9, 1),  0x34,                //
                            entry(10, 1), 1,    2,             // the same line
                            entry(11, 1), 1,    2,             // 1 further
                            entry(12, 1), 1,    2,             // 2 further
                            entry(13, 3), 0x50, 0x01,          // 40 further
                            entry(15, 1),                      // no line
                            entry(14, 8), 0x29, 0,    3,    5, // 20 back
                            entry(13, 1), 0x40, 0x75, 0x30,    // 100,000 further
                            entry(1, 1)});
  python.add_thread(0, 1, frames);
  const auto line = [&](std::uint64_t offset) {
    python.add_frame(0, 0, 0, offset);
    const std::string stack = python.stack();
    return stack.substr(stack.find(':') + 1);
  };
  const std::pair<std::uint64_t, const char*> expected[] = {
      {0, "10; "},      {3, "10; "},      {4, "10; "},      {6, "10; "},  {8, "11; "},     {10, "13; "},
      {12, "53; "},     {17, "53; "},     {18, "0; "},      {20, "33; "}, {35, "33; "},    {36, "100033; "},
      {37, "100033; "}, {38, "100033; "}, {39, "100033; "}, {40, "0; "},  {0x10000, "0; "}};
  for (const auto& [offset, text] : expected) EXPECT_EQ(line(offset), text) << offset;
  EXPECT_EQ(line(static_cast<std::uint64_t>(-2)), "10; "); // not started
}

TEST_P(EachVersion, DamagedLines) {
  python.add_frame(0, 0, 0, 0);
  python.add_thread(0, 1, frames);
  const auto line = [&](const std::vector<int>& lines) {
    python.add_code(0, 0, 1, lines);
    const std::string stack = python.stack();
    return stack.substr(stack.find(':') + 1);
  };
  EXPECT_EQ(line({}), "0; ");
  EXPECT_EQ(line({0xff}), "0; ");            // without a line
  EXPECT_EQ(line({0x80 | 13 << 3}), "10; "); // cut
  // More bits than a line has, of which the upper ones are lost: 2^31 - 1 back, from 10.
  EXPECT_EQ(line({0x80 | 13 << 3, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f}), "2147483659; ");
  python.add_code(0, 0, 1, {0x80, 0});
  python.process.set(tables + python.layout.bytes_size, (1 << 20) + 1);
  EXPECT_EQ(python.stack(), "f /a.py:0; ");
  python.process.set(tables + python.layout.bytes_size, 1 << 19); // more than there is
  EXPECT_EQ(python.stack(), "f /a.py:0; ");
}

TEST_P(EachVersion, DamagedFrames) {
  python.add_frame(0, frames, 0, 0); // a circle
  python.add_thread(0, 1, frames);
  const auto program = python.open();
  const auto stack = program->stack_of(1);
  ASSERT_TRUE(stack);
  EXPECT_EQ(stack->frames.size(), 10000u);
  EXPECT_EQ(stack->problem, "too many frames");
  python.add_frame(0, 0x666000, 0, 0);
  EXPECT_EQ(python.stack(), "f /a.py:10; memory cannot be read");
  python.add_frame(0, 0, 0, 0);
  python.process.set(codes + python.layout.object_type, types + 2 * apart); // another type
  EXPECT_EQ(python.stack(), "not a Python frame");
  python.add_code(0, 7, 1);
  EXPECT_EQ(python.stack(), "not a Python frame");
  python.add_code(0, 0, 7);
  EXPECT_EQ(python.stack(), "not a Python frame");
  python.add_code(0, 0, 1, {0x80, 0});
  python.process.set(texts + python.layout.object_type, types + apart);
  EXPECT_EQ(python.stack(), "not a Python frame");
}

/// A thread that has a state in two interpreters: the one with frames counts, whichever comes first.
TEST_P(EachVersion, SeveralInterpreters) {
  const std::uint64_t other = interpreters + apart;
  python.block(other);
  python.process.set(interpreters + python.layout.interpreter_next, other);
  python.add_frame(0, 0, 0, 0);
  for (const bool first : {true, false}) {
    python.add_thread(0, 1, first ? frames : 0);
    python.add_thread(1, 1, first ? 0 : frames, other);
    EXPECT_EQ(python.stack(), "f /a.py:10; ") << first;
  }
}

/// Circles of threads and of interpreters end.
TEST_P(EachVersion, Circles) {
  python.add_frame(0, 0, 0, 0);
  for (const std::uint64_t frame : {frames, std::uint64_t{0}}) {
    python.add_thread(0, 1, frame);
    python.add_thread(1, 2, frame);
    python.process.set(threads + apart + python.layout.thread_next, threads);
    python.process.set(interpreters + python.layout.interpreter_next, interpreters);
    EXPECT_EQ(python.stack(2), frame ? "f /a.py:10; " : "");
  }
}

std::string problem(std::uint32_t version, const std::string& path = "/usr/lib/libpython3.so.1") {
  Layout layout = python_3_13;
  layout.version = version;
  Python python(layout, Abi::amd64);
  python.process.modules().clear();
  python.process.add_library(path, {{"_PyRuntime", runtime}, {"Py_Version", version_at}}, image);
  const auto program = python.open();
  return program ? program->version() + (program->problem().empty() ? "" : ": " + program->problem())
                 : "none";
}

TEST(LanguagesPython, Versions) {
  const std::string unsupported = ": only CPython 3.11 to 3.13 is supported";
  EXPECT_EQ(problem(0x030d00f0), "3.13.0");
  EXPECT_EQ(problem(0x030d01c1), "3.13.1"); // a release candidate
  EXPECT_EQ(problem(0x030d00b4), "3.13.0" + unsupported);
  EXPECT_EQ(problem(0x030c07f0), "3.12.7");
  EXPECT_EQ(problem(0x030c00b1), "3.12.0" + unsupported);
  EXPECT_EQ(problem(0x030b00f0), "3.11.0");
  EXPECT_EQ(problem(0x030a0cf0), "3.10.12" + unsupported);
  EXPECT_EQ(problem(0x030e00f0), "3.14.0" + unsupported);
  EXPECT_EQ(problem(0x020d00f0), "2.13.0" + unsupported);
  EXPECT_EQ(problem(0x030d00f0, "/usr/bin/python3.13"), "3.13.0");
  EXPECT_EQ(problem(0x030d00f0, "/usr/bin/perl"), "none");
}

TEST(LanguagesPython, WithoutTheData) {
  const std::string unreadable = "the interpreter's offsets for debuggers cannot be read";
  Python python(python_3_13, Abi::amd64);
  python.process.set(runtime + 3, 'x', 1);
  EXPECT_EQ(python.open()->problem(), unreadable);
  python.state_offsets();
  EXPECT_EQ(python.open()->problem(), "");
  python.process.set(version_at, 0x030d00f0);
  python.block(runtime, 8 * 71);
  python.state_offsets();
  EXPECT_EQ(python.open()->problem(), "");
  python.block(runtime, 8 * 71 - 8);
  EXPECT_EQ(python.open()->problem(), unreadable);
  Python older(python_3_13, Abi::amd64);
  older.process.modules().clear();
  older.process.add_library("python2.7", {{"_PyRuntime", runtime}}, image);
  EXPECT_EQ(older.open()->problem(), "only CPython 3.11 to 3.13 is supported");
  EXPECT_EQ(older.open()->version(), "");
  older.process.modules().clear();
  older.process.add_library("python2.6", {{"main", runtime}}, image);
  EXPECT_FALSE(older.open());
}

/// What is read is charged, and where nothing is left, there are no frames.
TEST(LanguagesPython, ReadingCosts) {
  Python python(python_3_12, Abi::amd64);
  python.process.files().add_budget(0);
  python.add_text(0, U"f");
  python.add_code(0, 0, 0, {0x80, 0});
  python.add_frame(0, 0, 0, 0);
  python.add_thread(0, 1, frames);
  Budget& budget = *python.process.files().budget;
  const std::uint64_t before = budget.left(Resource::guesses);
  const auto program = python.open();
  const std::uint64_t opened = budget.left(Resource::guesses);
  EXPECT_LT(opened, before);
  EXPECT_EQ(program->stack_of(1)->frames.size(), 1u);
  EXPECT_LT(budget.left(Resource::guesses), opened);
  EXPECT_TRUE(budget.take(Resource::guesses, budget.left(Resource::guesses)));
  EXPECT_TRUE(program->stack_of(1)->frames.empty());
}

} // namespace languages_python_test
