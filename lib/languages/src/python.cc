// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads are found from _PyRuntime: interpreters, each with its list of thread states, each with its
// innermost frame. A frame has its code object and an instruction, from which the code's line table gives the
// line. An entry of that table (Objects/locations.md in CPython's sources) begins with a byte that has bit 7
// set:
//
//   e9 06    0x80 | kind 13 << 3 | 2 - 1: of two instructions (4 bytes), without columns; line += 3
//            the number: six bits in a byte, lowest first, bit 6 if more follow; its lowest bit is the sign

#include "sframe/languages/python.h"

#include "python_layout.h"

#include "sframe/number_hash.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sframe::languages {

namespace {

/// A thread that an interpreter knows.
struct KnownThread {
  std::uint64_t state = 0; ///< its PyThreadState
  bool holds_gil = false;
};

void append_utf8(std::string& out, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code >= 0xdc80 && code <= 0xdcff) return add(code & 0xff); // a byte of a name that is not UTF-8
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
    return add(0x80 | (code & 0x3f));
  }
  if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
    return add(0x80 | (code & 0x3f));
  }
  add(0xf0 | (code >> 18 & 7)), add(0x80 | (code >> 12 & 0x3f));
  add(0x80 | (code >> 6 & 0x3f)), add(0x80 | (code & 0x3f));
}

/// Reads a line table (Objects/locations.md).
class LineTable {
public:
  explicit LineTable(std::string_view bytes) : bytes_(bytes) {}

  /// The line of the instruction at `offset` bytes, 0 if there is none.
  std::uint32_t find(std::uint64_t offset, std::uint32_t first_line) {
    constexpr std::uint64_t unit = 2; // bytes
    std::uint64_t end = 0;
    std::uint32_t line = first_line;
    while (at_ < bytes_.size()) {
      const unsigned first = next(), kind = first >> 3 & 0xf;
      end += (first % 8 + 1) * unit;
      if (kind == with_columns || kind == without_columns)
        line += signed_number();
      else if (kind >= same_line && kind < without_columns)
        line += kind - same_line;
      if (offset < end) return kind == without_line ? 0 : line;
      while (at_ < bytes_.size() && (static_cast<unsigned char>(bytes_[at_]) & 0x80) == 0) ++at_;
    }
    return 0;
  }

private:
  enum Kind : std::uint8_t { same_line = 10, without_columns = 13, with_columns = 14, without_line = 15 };

  unsigned next() { return at_ < bytes_.size() ? static_cast<unsigned char>(bytes_[at_++]) : 0; }

  /// Six bits per byte, the lowest first; the sign is the lowest bit. Lines wrap, as damage may demand.
  std::uint32_t signed_number() {
    std::uint32_t value = 0;
    for (unsigned shift = 0; shift < 32; shift += 6) {
      const unsigned byte = next();
      value |= (byte & 0x3f) << shift;
      if ((byte & 0x40) == 0) break;
    }
    return value & 1 ? 0 - (value >> 1) : value >> 1;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

} // namespace

struct PythonProgram::State {
  explicit State(modules::ModuleSpace& space) : order(space.abi().byte_order), memory(space) {}

  ByteOrder order;
  RuntimeMemory memory;
  std::string version, problem;
  PythonLayout layout{};
  std::unordered_map<std::uint32_t, KnownThread, NumberHash> threads;

  void open(modules::Module& module, std::uint64_t runtime) {
    const auto where = module.symbols().find_definition("Py_Version");
    const auto number = where ? memory.number(*where, 8) : std::nullopt;
    if (!number) {
      problem = "only CPython 3.11 to 3.13 is supported"; // it came with 3.11
      return;
    }
    const auto value = static_cast<std::uint32_t>(*number);
    version = std::to_string(value >> 24) + '.' + std::to_string(value >> 16 & 0xff) + '.' +
              std::to_string(value >> 8 & 0xff);
    const auto found = python_layout(value, runtime, memory, problem);
    if (!found) return;
    layout = *found;
    find_threads(runtime);
  }

  void find_threads(std::uint64_t runtime) {
    constexpr unsigned most_interpreters = 1000, most_threads = 1 << 16;
    unsigned seen = 0; // a circle of threads without frames has no other end
    auto interpreter = memory.word(runtime + layout.interpreters);
    for (unsigned i = 0; interpreter && *interpreter && i < most_interpreters; ++i) {
      const std::uint64_t holder = gil_holder(runtime, *interpreter);
      auto thread = memory.word(*interpreter + layout.interpreter.threads);
      for (; thread && *thread && seen < most_threads;
           ++seen, thread = memory.word(*thread + layout.thread.next)) {
        const auto id = memory.word(*thread + layout.thread.native_id);
        if (!id) break;
        // A thread may have a state in several interpreters; the one that runs has frames.
        const auto [at, added] = threads.try_emplace(static_cast<std::uint32_t>(*id));
        if (!added && innermost(at->second.state)) break; // or a circle
        at->second = {*thread, *thread == holder};
      }
      interpreter = memory.word(*interpreter + layout.interpreter.next);
    }
  }

  /// The thread state that holds the interpreter's lock; 0 if none does.
  std::uint64_t gil_holder(std::uint64_t runtime, std::uint64_t interpreter) {
    const auto gil = layout.gil.pointer == PythonLayout::none ? std::optional(runtime)
                                                              : memory.word(interpreter + layout.gil.pointer);
    if (!gil || *gil == 0) return 0;
    const auto locked = memory.number(*gil + layout.gil.locked, 4);
    return locked == 1 ? memory.word(*gil + layout.gil.holder).value_or(0) : 0;
  }

  /// The innermost frame of a thread; 0 if there is none.
  std::uint64_t innermost(std::uint64_t thread) {
    auto frame = memory.word(thread + layout.thread.frame);
    if (frame && *frame && layout.thread.in_cframe != PythonLayout::none)
      frame = memory.word(*frame + layout.thread.in_cframe);
    return frame.value_or(0);
  }

  bool is_a(std::uint64_t object, std::string_view type) {
    const auto of_type = memory.word(object + layout.object_type);
    const auto name = of_type ? memory.word(*of_type + layout.type_name) : std::nullopt;
    return name && memory.c_string(*name, type.size() + 1) == type;
  }

  /// A str, cut if it is long.
  std::optional<std::string> text(std::uint64_t object) {
    constexpr std::uint64_t most = 1000;
    const auto length = memory.word(object + layout.text.length);
    const auto bits = memory.number(object + layout.text.state, 4);
    if (!length || !bits || !is_a(object, "str")) return std::nullopt;
    // Bit fields: two bits, three of the kind, compact, ascii.
    const bool little = order == ByteOrder::little;
    const std::uint64_t kind = *bits >> (little ? 2 : 27) & 7;
    const bool compact = *bits >> (little ? 5 : 26) & 1, ascii = *bits >> (little ? 6 : 25) & 1;
    if (!compact || (kind != 1 && kind != 2 && kind != 4)) return std::nullopt;
    const std::uint64_t start = object + (ascii ? layout.text.ascii_size : layout.text.compact_size);
    std::string out;
    for (std::uint64_t i = 0; i < std::min(*length, most); ++i) {
      const auto code = memory.number(start + i * kind, static_cast<std::uint32_t>(kind));
      if (!code) return std::nullopt;
      append_utf8(out, static_cast<std::uint32_t>(*code));
    }
    return *length > most ? out + "..." : out;
  }

  /// Nothing if the frame cannot be read.
  std::optional<PythonFrame> read_frame(std::uint64_t frame, std::uint64_t code) {
    const auto word = [&](std::uint64_t at) { return memory.word(at).value_or(0); };
    if (!is_a(code, "code")) return std::nullopt;
    auto name = text(word(code + layout.code.name)), file = text(word(code + layout.code.file));
    if (!name || !file) return std::nullopt;
    const auto instruction = memory.word(frame + layout.frame.instruction);
    return PythonFrame{std::move(*name), std::move(*file), line_of(code, instruction.value_or(0))};
  }

  std::uint32_t line_of(std::uint64_t code, std::uint64_t instruction) {
    constexpr std::size_t largest = 1 << 20;
    const auto first = memory.number(code + layout.code.first_line, 4);
    if (!first) return 0;
    const std::uint64_t start = code + layout.code.instructions;
    if (instruction < start) return static_cast<std::uint32_t>(*first); // not started
    const auto table = memory.word(code + layout.code.line_table);
    const auto size = table ? memory.word(*table + layout.bytes_size) : std::nullopt;
    if (!size || *size > largest) return 0;
    const auto bytes = memory.text(*table + layout.bytes_data, *size, largest);
    return bytes ? LineTable(*bytes).find(instruction - start, static_cast<std::uint32_t>(*first)) : 0;
  }
};

PythonProgram::PythonProgram(std::unique_ptr<State> state) : state_(std::move(state)) {}
PythonProgram::~PythonProgram() = default;

std::unique_ptr<PythonProgram> PythonProgram::open(modules::ModuleSpace& space,
                                                   std::deque<modules::Module>& modules) {
  for (modules::Module& module : modules) {
    if (!module.name().starts_with("python") && !module.name().starts_with("libpython")) continue;
    const auto runtime = module.symbols().find_definition("_PyRuntime");
    if (!runtime) continue;
    auto state = std::make_unique<State>(space);
    state->open(module, *runtime);
    return std::unique_ptr<PythonProgram>(new PythonProgram(std::move(state)));
  }
  return nullptr;
}

const std::string& PythonProgram::version() const {
  return state_->version;
}

const std::string& PythonProgram::problem() const {
  return state_->problem;
}

std::optional<PythonStack> PythonProgram::stack_of(std::uint32_t tid) {
  constexpr unsigned most = 10'000;
  constexpr std::uint64_t owned_by_c = 3; // enum _frameowner, since 3.12: no Python code
  const auto known = state_->threads.find(tid);
  if (known == state_->threads.end()) return std::nullopt;
  const PythonLayout& layout = state_->layout;
  RuntimeMemory& memory = state_->memory;
  PythonStack stack{.frames = {}, .holds_gil = known->second.holds_gil, .problem = {}};
  std::uint64_t frame = state_->innermost(known->second.state);
  for (unsigned i = 0; frame && stack.problem.empty(); ++i) {
    const auto owner = memory.number(frame + layout.frame.owner, 1);
    const auto code = memory.word(frame + layout.frame.code),
               previous = memory.word(frame + layout.frame.previous);
    std::optional<PythonFrame> read;
    if (i == most)
      stack.problem = "too many frames";
    else if (!owner || !code || !previous)
      stack.problem = "memory cannot be read";
    else if (*owner != owned_by_c && !(read = state_->read_frame(frame, *code)))
      stack.problem = "not a Python frame";
    if (read) stack.frames.push_back(std::move(*read));
    frame = previous.value_or(0);
  }
  return stack;
}

} // namespace sframe::languages
