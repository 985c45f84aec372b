// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format text: a header, then a block per thread, a line per frame, innermost first.
//
//   PID 4711: server, SIGABRT
//     command:     ./server --port 80
//     program:     /srv/server
//     signal:      SIGABRT, SI_TKILL: raised by the process itself
//
//   TID 4711:
//   #0  0x00007f31c4a8d1f2  raise + 0x12  (libc.so.6)  [context]
//   #1  0x000055d0e1c0118a  work + 0x2a  (server)  [sframe]
//   #2  0x00007f31c4a771f5  <FDE 0x891c0> + 0x35  (libc.so.6 + 0x891f5)  [cfi]

#include "printer.h"
#include "repeats.h"

#include "sframe/base/line.h"
#include "sframe/base/printable.h"
#include "sframe/base/text.h"
#include "sframe/core/core.h"
#include "sframe/crash/signature.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sframe::unwind_tool {

namespace {

/// The lines of frames, without their numbers. Threads share most of their frames, and recursion repeats
/// them.
class FrameLines {
public:
  FrameLines() : lines_(count) {}

  /// The place of the frame's line, which is empty if it is not known. Another frame may take it later.
  std::string* find(const unwind::Frame& frame) {
    Line& line = lines_[frame.pc * 0x9e3779b97f4a7c15 >> (64 - bits)];
    if (!is_same(line.frame, frame)) line.text.clear(), line.frame = frame;
    return &line.text;
  }

private:
  static constexpr unsigned bits = 9;
  static constexpr std::size_t count = std::size_t{1} << bits;

  struct Line {
    unwind::Frame frame;
    std::string text;
  };

  /// True if all is equal that a line shows.
  static bool is_same(const unwind::Frame& a, const unwind::Frame& b) {
    return a.pc == b.pc && a.found_by == b.found_by && a.lookup_pc() == b.lookup_pc() &&
           a.signal_frame == b.signal_frame && a.trust == b.trust;
  }

  std::vector<Line> lines_;
};

constexpr int in_memory = -1; ///< for tool::Output

class TextPrinter final : public Printer {
public:
  TextPrinter(tool::Output& out, Symbolizer& symbolizer, const PrintSettings& settings)
      : out_(out), symbolizer_(symbolizer), settings_(settings) {}

  void begin(process::ProcessState& process, const CoreHeader* core) override {
    has_several_ = process.threads().size() > 1;
    abi_ = unwind::find_unwind_abi(process.space().abi().id);
    out_ << "PID ";
    out_.decimal(process.pid());
    const auto name = process.name();
    // In a core of the kernel, all threads have the name of the process.
    has_names_ = std::ranges::any_of(process.threads(),
                                     [&](const process::Thread& thread) { return thread.name != name; });
    if (!name.empty()) out_ << ": ", out_.safe(name);
    if (process.signal()) out_ << ", " << core::signal_name(process.signal());
    out_ << '\n';
    if (core) print(*core, process.signal());
  }

  void begin_thread(std::span<const process::Thread* const> threads) override {
    out_ << '\n' << bold();
    if (threads.size() > 1) out_.decimal(threads.size()) << " threads: ";
    std::string_view before = "TID ";
    for (const process::Thread* thread : threads) {
      out_ << std::exchange(before, ", ");
      out_.decimal(thread->tid);
    }
    out_ << ':' << plain();
    if (has_several_ || goroutine_) print_role(threads);
    out_ << '\n';
  }

  void frame(const unwind::Frame& frame, const unwind::Registers& registers) override {
    if (settings_.fold && repeats_.add(frame.number, {frame.pc, frame.found_by})) return;
    print_repeats(repeats_.take());
    Line number;
    out_ << number.put('#').number(frame.number).text(frame.number < 10 ? "  " : " ").view();
    const bool may_keep = !settings_.registers && !symbolizer_.has_variables();
    std::string* const kept = may_keep ? lines_.find(frame) : nullptr;
    if (kept && !kept->empty()) {
      out_ << *kept;
      return;
    }
    const SymbolizedFrame& symbols = symbolizer_.symbolize(frame);
    const std::vector<variables::Scope> scopes = symbolizer_.variables(frame, registers);
    if (kept && !symbols.source) {
      tool::Output line(in_memory);
      print(frame, symbols, scopes, line);
      *kept = line.take_text();
      out_ << *kept;
      return;
    }
    print(frame, symbols, scopes, out_);
    if (symbols.source)
      print(*symbols.source, symbols.text, scopes);
    else if (!scopes.empty())
      print_locals(scopes.back());
    if (settings_.registers) print(registers);
  }

  void python(const languages::PythonStack& stack) override {
    out_ << "  Python" << (stack.holds_gil ? ", holds the global interpreter lock:\n" : ":\n");
    RepeatedFrames<PythonPlace> repeats;
    std::uint32_t number = 0;
    for (const languages::PythonFrame& frame : stack.frames) {
      if (settings_.fold && repeats.add(number++, {frame.function, frame.file, frame.line})) continue;
      print_repeats(repeats.take());
      out_ << "    ", out_.safe(frame.function) << "  ", out_.safe(frame.file);
      if (frame.line) out_ << ':', out_.decimal(frame.line);
      out_ << '\n';
    }
    print_repeats(repeats.take());
    if (!stack.problem.empty()) out_ << red() << "    ended early: " << stack.problem << plain() << '\n';
  }

  void begin_goroutine(std::span<const languages::Goroutine* const> goroutines) override {
    print_goroutines(goroutines);
    out_ << ":\n";
    creator_ = goroutines.front()->creator_pc;
  }

  void running_goroutine(const languages::Goroutine& goroutine) override {
    const languages::Goroutine* const one = &goroutine;
    print_goroutines(std::span(&one, 1));
    out_ << '\n';
    print_creator(goroutine.creator_pc);
  }

  void comparison(std::span<const unwind::StepperComparison> results) override {
    for (const unwind::StepperComparison& result : results) {
      out_ << "  ";
      out_.padded(result.stepper->name(), 14);
      out_.decimal(result.answered, 6) << " frames";
      if (result.first) {
        const unwind::Difference& first = *result.first;
        out_ << ", ";
        out_.decimal(result.differs) << " differ; first #";
        out_.decimal(first.frame) << ": " << unwind::name(first.what) << ' ';
        out_.hex(first.found) << " instead of ";
        out_.hex(first.expected);
      }
      if (result.trust == unwind::Trust::heuristic) out_ << "  [heuristic]";
      out_ << '\n';
    }
  }

  void end_thread(const unwind::WalkEnd& end) override {
    print_repeats(repeats_.take());
    if (end.overwritten) print(*end.overwritten);
    if (!end.complete)
      out_ << red() << "    ended early: ", out_.safe(unwind::describe(end)) << plain() << '\n';
    print_creator(std::exchange(creator_, 0));
  }

  void end(process::ProcessState&) override {}

private:
  /// A frame's line after its number.
  void print(const unwind::Frame& frame, const SymbolizedFrame& symbols,
             std::span<const variables::Scope> scopes, tool::Output& out) {
    const bool has_name = symbols.function || symbols.fde;
    out.hex(frame.pc, 16) << "  ";
    if (symbols.function) {
      out << (is_own(symbols) ? bold() : ""), out.safe(symbols.function->name)
                                                  << (is_own(symbols) ? plain() : "");
      out << " + ", out.hex(symbols.function->offset);
    } else if (symbols.fde) {
      out << "<FDE ", out.hex(symbols.fde->start) << "> + ";
      out.hex(symbols.fde->offset);
    }
    if (settings_.arguments && !scopes.empty())
      print_arguments(scopes.back().arguments, has_name ? " (" : "(", out);
    if (has_name || (settings_.arguments && !scopes.empty())) out << "  ";
    if (symbols.module) {
      out << '(', out.safe(symbols.module->shown_name());
      // Without a name, a symbolizer needs this.
      if (!symbols.function) out << " + ", out.hex(frame.pc - symbols.module->info().start);
      out << ")  ";
    }
    const bool is_heuristic = frame.trust == unwind::Trust::heuristic;
    const bool is_marked = frame.signal_frame || is_heuristic;
    if (is_marked) out << (frame.signal_frame ? magenta() : yellow());
    out << '[' << frame.stepper();
    if (frame.signal_frame) out << ", signal frame";
    if (is_heuristic) out << ", heuristic";
    out << ']' << (is_marked ? plain() : "") << '\n';
  }

  /// The program's own code, as far as its file tells.
  static bool is_own(const SymbolizedFrame& symbols) {
    return symbols.module && !symbols.module->info().vdso && !crash::is_system_library(*symbols.module);
  }

  void print(const CoreHeader& core, std::int32_t signal) {
    crashed_ = core.crash.tid;
    goroutine_ = core.goroutine;
    if (const std::string line = crash::shell_line(core.command); !line.empty())
      field("command"), out_.safe(line);
    if (core.program && !core.program->info().path.empty()) {
      field("program"), out_.safe(core.program->info().path);
      if (core.program->info().deleted) out_ << " (deleted)";
    }
    if (!core.package.name.empty()) field("package"), out_.safe(core.package.text());
    if (core.crashed_in) {
      field("in package"), out_.safe(core.crashed_package.text()) << ": ";
      out_.safe(core.crashed_in->name());
    }
    if (core.origin.time) field("time") << crash::time_text(*core.origin.time);
    if (!core.origin.host.empty()) field("host"), out_.safe(core.origin.host);
    if (core.truncated) field("core") << "truncated: some of the memory is missing";
    for (const Languages::Runtime& runtime : core.runtimes) {
      field("runtime"), out_.safe(runtime.name);
      if (!runtime.version.empty()) out_ << ' ', out_.safe(runtime.version);
      if (!runtime.problem.empty()) out_ << ": nothing is shown of it: ", out_.safe(runtime.problem);
    }
    print(core.crash, signal);
    if (core.thrown) print(*core.thrown);
    for (const CrashPlace& place : core.places)
      print(place, &place == &core.places.front() ? "where" : "called by");
    if (core.crash.tid && !core.signature.text.empty()) field("signature") << core.signature.text;
    if (in_header_) out_ << '\n';
  }

  void print(const languages::Thrown& thrown) {
    field(thrown.language == "C++" ? "exception" : "panic"), out_.safe(thrown.type);
    if (!thrown.type.empty() && !thrown.message.empty()) out_ << ": ";
    out_.safe(thrown.message);
    if (!thrown.place.empty()) out_ << ", at ", out_.safe(thrown.place);
  }

  /// "Goroutine 18 [chan receive]", in a line that is not ended.
  void print_goroutines(std::span<const languages::Goroutine* const> goroutines) {
    out_ << '\n' << bold();
    if (goroutines.size() > 1) out_.decimal(goroutines.size()) << " goroutines: ";
    std::string_view before = goroutines.size() > 1 ? "" : "Goroutine ";
    for (const languages::Goroutine* goroutine : goroutines) {
      out_ << std::exchange(before, ", ");
      out_.decimal(goroutine->id);
    }
    out_ << " [", out_.safe(state_text(*goroutines.front())) << ']' << plain();
  }

  void print_creator(std::uint64_t pc) {
    if (pc == 0) return;
    unwind::Frame call;
    call.pc = pc;
    call.pc_exact = false;
    out_ << "    created by ";
    if (const SymbolizedFrame& symbols = symbolizer_.symbolize(call); symbols.function)
      out_.safe(symbols.function->name) << " + ", out_.hex(symbols.function->offset);
    else
      out_.hex(pc);
    out_ << '\n';
  }

  void print(const crash::Crash& crash, std::int32_t signal) {
    if (crash.code) field("signal"), print_fault(crash, signal);
    if (!crash.message.empty()) field("message"), out_.safe(crash.message);
    if (crash.instruction) print(*crash.instruction);
    if (!crash.first_fault) return;
    const crash::HandledFault& first = *crash.first_fault;
    field("first fault"), print_fault(first, first.from.info.signal);
    out_ << (first.from.from_instruction ? "; by the instruction: frame #" : "; on the stack: frame #"),
        out_.decimal(first.from.frame);
    if (first.instruction) print(*first.instruction);
  }

  void print_fault(const crash::Fault& fault, std::int32_t signal) {
    out_ << core::signal_name(signal);
    if (fault.code_name.empty())
      out_ << ", code ", out_.signed_decimal(fault.code.value_or(0));
    else
      out_ << ", " << fault.code_name;
    if (!fault.meaning.empty()) out_ << ": ", out_.safe(fault.meaning);
    if (!fault.guess.empty()) out_ << "; looks like ", out_.safe(fault.guess);
  }

  void print(const crash::FaultingInstruction& instruction) {
    field("instruction"), out_.safe(instruction.text);
    std::string_view before = "  with ";
    for (const crash::RegisterValue& reg : instruction.registers) {
      out_ << std::exchange(before, ", ") << reg.name << " = ";
      out_.hex(reg.value);
    }
  }

  void print(const CrashPlace& place, std::string_view name) {
    constexpr std::size_t longest_function = 160, longest_arguments = 240, longest_path = 240;
    field(name) << '#';
    out_.decimal(place.frame) << ' ', print_start(place.function, longest_function), out_ << ' ';
    std::string arguments;
    for (const variables::Variable& argument : place.arguments) {
      if (argument.missing != variables::Missing::none) continue; // only what is known helps here
      if (arguments.size() > longest_arguments) break;
      arguments += (arguments.empty() ? "" : ", ") + argument.name + '=' + argument.value;
    }
    if (!arguments.empty()) out_ << '(', print_start(arguments, longest_arguments), out_ << ") ";
    modules::SourceLine at = place.at;
    if (at.file.size() > longest_path) {
      std::size_t start = at.file.size() - longest_path; // the file's name is at the end
      while (start < at.file.size() && (static_cast<unsigned char>(at.file[start]) & 0xc0) == 0x80) ++start;
      at.file.replace(0, start, "...");
    }
    print(at);
  }

  /// At most `longest` bytes of a text, in whole characters.
  void print_start(std::string_view text, std::size_t longest) {
    if (text.size() <= longest) {
      out_.safe(text);
      return;
    }
    std::size_t size = 0;
    for (TextPiece piece; (piece = first_piece(text.substr(size))).size <= longest - size;)
      size += piece.size;
    out_.safe(text.substr(0, size)) << "...";
  }

  /// A line of the header: its name, after which its text is to be written.
  tool::Output& field(std::string_view name) {
    if (in_header_) out_ << '\n';
    in_header_ = true;
    out_ << "  ";
    return out_.padded(std::string(name) + ':', 13);
  }

  /// What distinguishes a thread from the others. In a core, all have the process's name.
  void print_role(std::span<const process::Thread* const> threads) {
    const process::Thread& first = *threads.front();
    const bool is_named = (has_names_ || crashed_ == 0) && threads.size() == 1 && !first.name.empty();
    if (is_named) out_ << ' ', out_.safe(first.name);
    if (crashed_ != 0 && first.tid == crashed_) {
      out_ << (is_named ? ", crashed" : " crashed");
      if (goroutine_) out_ << ", goroutine ", out_.decimal(*goroutine_);
      if (threads.size() > 1) out_ << ": ", out_.decimal(first.tid);
    }
  }

  using NativePlace = std::pair<std::uint64_t, const unwind::FrameStepper*>; ///< pc, what found it
  using PythonPlace = std::tuple<std::string_view, std::string_view, std::uint32_t>;

  void print_repeats(const RepeatedFrames<NativePlace>::LeftOut& repeated) {
    if (repeated.count == 0) return;
    out_ << ' ';
    print_repeats(repeated.count) << '#';
    out_.decimal(repeated.first);
    if (repeated.last != repeated.first) out_ << " to #", out_.decimal(repeated.last);
    out_ << '\n';
  }

  /// Frames of Python are printed without numbers.
  void print_repeats(const RepeatedFrames<PythonPlace>::LeftOut& repeated) {
    if (repeated.count == 0) return;
    const std::uint32_t cycle = repeated.last - repeated.first + 1;
    print_repeats(repeated.count) << "the ";
    if (cycle == 1)
      out_ << "one";
    else
      out_.decimal(cycle);
    out_ << " above\n";
  }

  /// The start of such a line: "... 3 frames that repeat ".
  tool::Output& print_repeats(std::uint32_t count) {
    return out_ << "    ... " << counted(count, "frame") << (count == 1 ? " that repeats " : " that repeat ");
  }

  void print(const unwind::Overwritten& stack) {
    out_ << red() << "    the stack was overwritten from frame #";
    out_.decimal(stack.frame) << " on: its return address is ";
    out_.hex(stack.found) << ", on the shadow stack ";
    out_.hex(stack.right) << plain() << '\n';
  }

  void print(const modules::SourceLocation& symbols, std::span<const SourceLines> text,
             std::span<const variables::Scope> scopes) {
    for (std::size_t i = 0; i < symbols.inlined.size(); ++i) {
      const modules::InlinedCall& call = symbols.inlined[i];
      const variables::Scope* const scope = i + 1 < scopes.size() ? &scopes[i] : nullptr;
      out_ << "      inlined ", out_.safe(call.function.empty() ? "call" : call.function) << ' ';
      if (scope && settings_.arguments) print_arguments(scope->arguments, "(", out_), out_ << ' ';
      print(call.at), out_ << '\n';
      print(text[i], call.at.line);
      if (scope) print_locals(*scope);
    }
    if (!symbols.at.file.empty() || symbols.inlined.empty()) {
      out_ << "      ";
      print(symbols.at), out_ << '\n';
      print(text.back(), symbols.at.line);
    }
    if (!scopes.empty()) print_locals(scopes.back());
  }
  /// The text around a line, which is marked.
  void print(const SourceLines& lines, std::uint32_t marked) {
    std::uint32_t number = lines.first;
    for (const std::string& line : lines.text) {
      out_ << (number == marked ? "      > " : "        ");
      out_.decimal(number++, 5);
      if (!line.empty()) out_ << "  ", print_code(line);
      out_ << '\n';
    }
  }
  /// Tabs are widened, all other controls escaped.
  void print_code(std::string_view line) {
    std::size_t column = 0;
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find('\t', at), line.size());
      out_.safe(line.substr(at, end - at));
      column += end - at;
      if (end < line.size()) {
        const std::size_t blanks = 8 - column % 8;
        out_.fill(' ', blanks);
        column += blanks;
      }
      at = end + 1;
    }
  }
  static void print_arguments(std::span<const variables::Variable> arguments, std::string_view before,
                              tool::Output& out) {
    if (arguments.empty()) out << before;
    for (const variables::Variable& argument : arguments) {
      out << std::exchange(before, ", ");
      out.safe(argument.name) << '=';
      out.safe(argument.value);
    }
    out << ')';
  }
  void print_locals(const variables::Scope& scope) {
    for (const variables::Variable& local : scope.locals) {
      out_ << "        ", out_.safe(local.name) << " = ";
      out_.safe(local.value) << '\n';
    }
  }
  void print(const modules::SourceLine& at) {
    out_ << "at ", out_.safe(at.file.empty() ? "??" : at.file) << ':';
    out_.decimal(at.line);
  }
  void print(const unwind::Registers& registers) {
    unsigned column = 0;
    each_register(registers, *abi_, [&](std::string_view name, std::uint64_t value) {
      out_ << (column % 4 ? "  " : column ? "\n      " : "      ");
      out_.padded(name, 3) << ' ';
      out_.hex(value, 16);
      ++column;
    });
    out_ << '\n';
  }

  std::string_view bold() const { return settings_.color ? "\033[1m" : ""; }
  std::string_view magenta() const { return settings_.color ? "\033[35m" : ""; }
  std::string_view yellow() const { return settings_.color ? "\033[33m" : ""; }
  std::string_view red() const { return settings_.color ? "\033[31m" : ""; }
  std::string_view plain() const { return settings_.color ? "\033[0m" : ""; }

  tool::Output& out_;
  Symbolizer& symbolizer_;
  PrintSettings settings_;
  const unwind::UnwindAbi* abi_ = nullptr;
  RepeatedFrames<NativePlace> repeats_;
  FrameLines lines_;
  bool in_header_ = false;
  bool has_several_ = false;               ///< threads
  bool has_names_ = false;                 ///< threads, other than that of the process
  std::uint32_t crashed_ = 0;              ///< the thread that died; 0: none
  std::optional<std::uint64_t> goroutine_; ///< of that thread
  std::uint64_t creator_ = 0;              ///< of the goroutine that is being printed; 0: none
};

} // namespace

std::unique_ptr<Printer> make_text_printer(tool::Output& out, Symbolizer& symbolizer,
                                           const PrintSettings& settings) {
  return std::make_unique<TextPrinter>(out, symbolizer, settings);
}

} // namespace sframe::unwind_tool
