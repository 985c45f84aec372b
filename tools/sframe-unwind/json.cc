// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format json. Addresses are hexadecimal strings, offsets and counts are numbers. A frame of an unknown
// function has no keys "function" and "offset"; one outside all modules has no module keys.

#include "printer.h"

#include "module_list.h"

#include "sframe/core/core.h"
#include "sframe/elf/image.h"

#include <utility>

namespace sframe::unwind_tool {

namespace {

class JsonPrinter final : public Printer {
public:
  JsonPrinter(tool::Output& out, Symbolizer& symbolizer, const PrintSettings& settings)
      : out_(out), symbolizer_(symbolizer), settings_(settings) {}

  void begin(process::ProcessState& process, const CoreHeader* core) override {
    abi_ = unwind::find_unwind_abi(process.space().abi().id);
    out_ << "{\n \"pid\": ";
    out_.decimal(process.pid());
    out_ << ",\n \"signal\": ";
    out_.signed_decimal(process.signal());
    out_ << ",\n \"signal_name\": ";
    string_or_null(process.signal() ? core::signal_name(process.signal()) : "");
    if (core) print(*core);
    out_ << ",\n \"threads\": [";
  }

  void begin_thread(std::span<const process::Thread* const> threads) override {
    const process::Thread& thread = *threads.front();
    out_ << (std::exchange(first_thread_, false) ? "\n" : ",\n") << "  {\n   \"tid\": ";
    out_.decimal(thread.tid);
    if (threads.size() > 1) {
      out_ << ",\n   \"tids\": [";
      for (const process::Thread* one : threads) {
        if (one != &thread) out_ << ", ";
        out_.decimal(one->tid);
      }
      out_ << ']';
    }
    out_ << ",\n   \"name\": ";
    out_.json_string(thread.name);
    begin_frames();
  }

  void python(const languages::PythonStack& stack) override { python_ = stack; }

  void begin_goroutine(std::span<const languages::Goroutine* const> goroutines) override {
    print(goroutines);
    begin_frames();
  }

  void running_goroutine(const languages::Goroutine& goroutine) override {
    const languages::Goroutine* const one = &goroutine;
    print(std::span(&one, 1));
    out_ << "\n  }";
  }

  void frame(const unwind::Frame& frame, const unwind::Registers& registers) override {
    const SymbolizedFrame& symbols = symbolizer_.symbolize(frame);
    const std::vector<variables::Scope> scopes = symbolizer_.variables(frame, registers);
    out_ << (std::exchange(first_frame_, false) ? "\n" : ",\n") << "    {\"pc\": ";
    address(frame.pc);
    if (frame.has_cfa) key("cfa"), address(frame.cfa);
    if (symbols.function) {
      key("function"), out_.json_string(symbols.function->name);
      key("offset"), out_.decimal(symbols.function->offset);
    }
    if (symbols.fde) {
      key("fde"), out_ << "{\"start\": ";
      address(symbols.fde->start);
      key("offset"), out_.decimal(symbols.fde->offset) << '}';
    }
    if (symbols.module) {
      key("module"), out_.json_string(symbols.module->info().path);
      key("module_offset"), out_.decimal(frame.pc - symbols.module->info().start);
      if (!symbols.module->info().build_id.empty())
        key("build_id"), build_id(symbols.module->info().build_id);
    }
    key("stepper"), out_.json_string(frame.stepper());
    key("trust"), out_ << (frame.trust == unwind::Trust::exact ? "\"exact\"" : "\"heuristic\"");
    key("signal_frame"), out_ << (frame.signal_frame ? "true" : "false");
    if (symbols.source) print(*symbols.source, symbols.text, scopes);
    if (!scopes.empty()) print(scopes.back());
    if (settings_.registers) print(registers);
    out_ << '}';
  }

  void left_out(std::uint64_t frames) override {
    out_ << (std::exchange(first_frame_, false) ? "\n" : ",\n") << "    {\"left_out\": ";
    out_.decimal(frames) << '}';
  }

  void comparison(std::span<const unwind::StepperComparison> results) override {
    comparison_.assign(results.begin(), results.end());
  }

  void end_thread(const unwind::WalkEnd& end) override {
    out_ << (first_frame_ ? "]" : "\n   ]");
    if (!comparison_.empty()) print(comparison_);
    if (python_) print(*python_);
    python_.reset();
    if (end.overwritten) print(*end.overwritten);
    out_ << ",\n   \"end\": {\"complete\": " << (end.complete ? "true" : "false");
    key("reason"), out_.json_string(unwind::describe(end));
    out_ << "}\n  }";
  }

  void end(process::ProcessState& process) override {
    out_ << (first_thread_ && first_goroutine_ ? "]" : "\n ]") << ",\n \"modules\": [";
    bool first = true;
    for (modules::Module& module : process.modules()) {
      out_ << (std::exchange(first, false) ? "\n" : ",\n");
      print(module);
    }
    out_ << (first ? "]\n}\n" : "\n ]\n}\n");
  }

private:
  void begin_frames() {
    out_ << ",\n   \"frames\": [";
    first_frame_ = true;
    comparison_.clear();
  }

  /// All but the frames, and the end.
  void print(std::span<const languages::Goroutine* const> goroutines) {
    const languages::Goroutine& first = *goroutines.front();
    if (std::exchange(first_goroutine_, false))
      out_ << (first_thread_ ? "]" : "\n ]") << ",\n \"goroutines\": [\n";
    else
      out_ << ",\n";
    out_ << "  {\n   \"id\": ";
    out_.decimal(first.id);
    if (goroutines.size() > 1) {
      out_ << ",\n   \"ids\": [";
      std::string_view before;
      for (const languages::Goroutine* goroutine : goroutines)
        out_ << std::exchange(before, ", "), out_.decimal(goroutine->id);
      out_ << ']';
    }
    out_ << ",\n   \"status\": ";
    out_.json_string(first.status);
    if (!first.wait_reason.empty()) key("wait_reason"), out_.json_string(first.wait_reason);
    if (first.wait_since) key("wait_since"), out_.decimal(first.wait_since);
    if (first.tid) key("tid"), out_.decimal(first.tid);
    if (first.locked_tid) key("locked_tid"), out_.decimal(first.locked_tid);
    if (first.start_pc) key("start"), code_address(first.start_pc, true);
    if (first.creator_pc) key("created_by"), code_address(first.creator_pc, false);
  }

  /// An address in code with its function.
  void code_address(std::uint64_t pc, bool is_exact) {
    unwind::Frame frame;
    frame.pc = pc;
    frame.pc_exact = is_exact;
    const SymbolizedFrame& symbols = symbolizer_.symbolize(frame);
    out_ << "{\"pc\": ";
    address(pc);
    if (symbols.function) {
      key("function"), out_.json_string(symbols.function->name);
      key("offset"), out_.decimal(symbols.function->offset);
    }
    out_ << '}';
  }

  void print(const languages::PythonStack& stack) {
    out_ << ",\n   \"python\": {\"holds_gil\": " << (stack.holds_gil ? "true" : "false");
    key("problem"), string_or_null(stack.problem);
    key("frames"), out_ << '[';
    std::string_view before = "\n    {";
    for (const languages::PythonFrame& frame : stack.frames) {
      out_ << std::exchange(before, ",\n    {") << "\"function\": ";
      out_.json_string(frame.function);
      key("file"), out_.json_string(frame.file);
      if (frame.line) key("line"), out_.decimal(frame.line);
      out_ << '}';
    }
    out_ << "]}";
  }

  void print(const unwind::Overwritten& stack) {
    out_ << ",\n   \"overwritten\": {\"frame\": ";
    out_.decimal(stack.frame);
    key("return_address"), address(stack.found);
    key("shadow_stack"), address(stack.right);
    out_ << '}';
  }

  void print(const CoreHeader& core) {
    out_ << ",\n \"command\": [";
    std::string_view before;
    for (const std::string& argument : core.command.arguments)
      out_ << std::exchange(before, ", "), out_.json_string(argument);
    out_ << "],\n \"command_complete\": " << (core.command.complete ? "true" : "false");
    out_ << ",\n \"executable\": ";
    if (core.program)
      out_.json_string(core.program->info().path);
    else
      out_ << "null";
    out_ << ",\n \"package\": ", package(core.package);
    out_ << ",\n \"time\": ";
    string_or_null(core.origin.time ? crash::time_text(*core.origin.time) : "");
    out_ << ",\n \"host\": ";
    string_or_null(core.origin.host);
    out_ << ",\n \"truncated\": " << (core.truncated ? "true" : "false");
    out_ << ",\n \"runtimes\": [";
    std::string_view before_runtime = "{";
    for (const Languages::Runtime& runtime : core.runtimes) {
      out_ << std::exchange(before_runtime, ", {") << "\"name\": ";
      out_.json_string(runtime.name);
      key("version"), string_or_null(runtime.version);
      key("problem"), string_or_null(runtime.problem);
      out_ << '}';
    }
    out_ << "],\n \"crash\": ";
    if (core.crash.tid)
      print_crash(core);
    else
      out_ << "null";
    out_ << ",\n \"signature\": ";
    string_or_null(core.signature.text);
    out_ << ",\n \"signature_frames\": [";
    before = "";
    for (const std::string& frame : core.signature.frames)
      out_ << std::exchange(before, ", "), out_.json_string(frame);
    out_ << ']';
  }

  void package(const crash::Package& package) {
    if (package.name.empty()) {
      out_ << "null";
      return;
    }
    out_ << "{\"name\": ";
    out_.json_string(package.name);
    key("version"), string_or_null(package.version);
    out_ << '}';
  }

  void print(const languages::Thrown& thrown) {
    key("thrown"), out_ << "{\"language\": ";
    out_.json_string(thrown.language);
    key("type"), string_or_null(thrown.type);
    key("message"), string_or_null(thrown.message);
    if (!thrown.place.empty()) key("place"), out_.json_string(thrown.place);
    key("trust"), out_ << (thrown.trust == unwind::Trust::exact ? "\"exact\"" : "\"heuristic\"");
    out_ << '}';
  }

  void print_crash(const CoreHeader& core) {
    const crash::Crash& crash = core.crash;
    const crash::Package& of_module = core.crashed_package;
    out_ << "{\"tid\": ";
    out_.decimal(crash.tid);
    print(static_cast<const crash::Fault&>(crash));
    if (crash.sender) {
      key("sender"), out_ << "{\"pid\": ";
      out_.decimal(crash.sender->pid) << ", \"user\": ";
      out_.decimal(crash.sender->user) << '}';
    }
    if (!crash.message.empty()) key("message"), out_.json_string(crash.message);
    if (core.thrown) print(*core.thrown);
    if (!of_module.name.empty()) key("package"), package(of_module);
    for (const CrashPlace& place : core.places) {
      key(&place == &core.places.front() ? "where" : "called_by"), out_ << "{\"frame\": ";
      out_.decimal(place.frame);
      key("function"), out_.json_string(place.function);
      print(place.at);
      print("args", place.arguments);
      out_ << '}';
    }
    if (core.goroutine) key("goroutine"), out_.decimal(*core.goroutine);
    if (crash.instruction) print(*crash.instruction);
    if (crash.first_fault) print(*crash.first_fault);
    out_ << '}';
  }

  void print(const crash::Fault& fault) {
    key("code");
    if (fault.code)
      out_.signed_decimal(*fault.code);
    else
      out_ << "null";
    key("code_name"), string_or_null(fault.code_name);
    key("meaning"), string_or_null(fault.meaning);
    key("guess"), string_or_null(fault.guess);
    key("access");
    if (fault.access == crash::Fault::Access::unknown)
      out_ << "null";
    else
      out_.json_string(name(fault.access));
    if (fault.address) key("address"), address(*fault.address);
  }

  void print(const crash::HandledFault& fault) {
    key("first_fault"), out_ << "{\"frame\": ";
    out_.decimal(fault.from.frame);
    key("found_by"), out_ << (fault.from.from_instruction ? "\"instruction\"" : "\"signal_frame\"");
    key("signal"), out_.signed_decimal(fault.from.info.signal);
    key("signal_name"), out_.json_string(core::signal_name(fault.from.info.signal));
    print(static_cast<const crash::Fault&>(fault));
    if (fault.instruction) print(*fault.instruction);
    out_ << '}';
  }

  void print(const crash::FaultingInstruction& instruction) {
    key("instruction"), out_ << "{\"pc\": ";
    address(instruction.pc);
    key("text"), out_.json_string(instruction.text);
    key("registers"), out_ << '{';
    std::string_view before;
    for (const crash::RegisterValue& reg : instruction.registers) {
      out_ << std::exchange(before, ", "), out_.json_string(reg.name) << ": ";
      address(reg.value);
    }
    out_ << "}}";
  }

  void string_or_null(std::string_view text) {
    if (text.empty())
      out_ << "null";
    else
      out_.json_string(text);
  }

  /// Modules without frames are listed from the core alone: no file is opened for the list.
  void print(modules::Module& module) {
    const modules::ModuleInfo& info = module.info();
    out_ << "  {\"path\": ";
    out_.json_string(info.path);
    key("build_id"), build_id(module.file().is_used() ? module.build_id() : info.build_id);
    key("start"), address(info.start);
    key("end"), address(info.end);
    if (module.file().is_used()) {
      key("has_sframe"), out_ << (module.tables().has_sframe() ? "true" : "false");
      key("has_cfi"), out_ << (module.tables().has_cfi() ? "true" : "false");
    } else {
      out_ << ", \"has_sframe\": null, \"has_cfi\": null";
    }
    if (settings_.modules) {
      const ModuleFiles files = files_of(module);
      key("file_state"), out_.json_string(files.state);
      key("file"), string_or_null(files.file);
      key("debug_file"), string_or_null(files.debug_file);
      key("names"), out_.json_string(files.names);
    }
    key("problem"), string_or_null(module.file().problem_so_far());
    out_ << '}';
  }

  void print(const modules::SourceLocation& symbols, std::span<const SourceLines> text,
             std::span<const variables::Scope> scopes) {
    print(symbols.at);
    print(text.back());
    key("inlined"), out_ << '[';
    std::string_view before = "{";
    for (std::size_t i = 0; i < symbols.inlined.size(); ++i) {
      const modules::InlinedCall& call = symbols.inlined[i];
      out_ << std::exchange(before, ", {") << "\"function\": ";
      string_or_null(call.function);
      print(call.at);
      print(text[i]);
      if (i + 1 < scopes.size()) print(scopes[i]);
      out_ << '}';
    }
    out_ << ']';
  }

  void print(const SourceLines& lines) {
    if (lines.text.empty()) return;
    key("text"), out_ << "{\"first\": ";
    out_.decimal(lines.first);
    key("lines"), out_ << '[';
    std::string_view before;
    for (const std::string& line : lines.text) out_ << std::exchange(before, ", "), out_.json_string(line);
    out_ << "]}";
  }

  void print(const variables::Scope& scope) {
    if (settings_.arguments) print("args", scope.arguments);
    if (settings_.locals) print("locals", scope.locals);
  }

  void print(std::string_view name, std::span<const variables::Variable> list) {
    key(name), out_ << '[';
    std::string_view before = "{";
    for (const variables::Variable& variable : list) {
      out_ << std::exchange(before, ", {") << "\"name\": ";
      out_.json_string(variable.name);
      key("value");
      if (variable.missing == variables::Missing::none) {
        out_.json_string(variable.value);
      } else {
        out_ << "null";
        // The reason without its brackets.
        key("missing"),
            out_.json_string(std::string_view(variable.value).substr(1, variable.value.size() - 2));
      }
      out_ << '}';
    }
    out_ << ']';
  }

  void print(const modules::SourceLine& at) {
    key("file"), out_.json_string(at.file);
    key("line"), out_.decimal(at.line);
  }

  void print(std::span<const unwind::StepperComparison> results) {
    out_ << ",\n   \"comparison\": [";
    std::string_view before = "\n    {";
    for (const unwind::StepperComparison& result : results) {
      out_ << std::exchange(before, ",\n    {") << "\"stepper\": ";
      out_.json_string(result.stepper->name());
      key("answered"), out_.decimal(result.answered);
      key("differs"), out_.decimal(result.differs);
      if (result.first) {
        const unwind::Difference& first = *result.first;
        key("frame"), out_.decimal(first.frame);
        key("value"), out_ << '"' << unwind::name(first.what) << '"';
        key("found"), address(first.found);
        key("expected"), address(first.expected);
      }
      out_ << '}';
    }
    out_ << "\n   ]";
  }

  void print(const unwind::Registers& registers) {
    key("registers"), out_ << '{';
    bool first = true;
    each_register(registers, *abi_, [&](std::string_view name, std::uint64_t value) {
      if (!std::exchange(first, false)) out_ << ", ";
      out_.json_string(name) << ": ";
      address(value);
    });
    out_ << '}';
  }

  void key(std::string_view name) { out_ << ", \"" << name << "\": "; }
  void address(std::uint64_t value) {
    out_ << '"';
    out_.hex(value);
    out_ << '"';
  }
  void build_id(std::span<const std::byte> id) { out_.json_string(elf::to_hex(id)); }

  tool::Output& out_;
  Symbolizer& symbolizer_;
  PrintSettings settings_;
  const unwind::UnwindAbi* abi_ = nullptr;
  bool first_thread_ = true;
  bool first_goroutine_ = true;
  std::optional<languages::PythonStack> python_; ///< printed after the frames
  bool first_frame_ = true;
  std::vector<unwind::StepperComparison> comparison_; ///< printed after the frames
};

} // namespace

void print_json_failure(tool::Output& out, std::string_view file, const Problem& why) {
  out << "{\n \"pid\": null,\n \"signal\": null,\n \"signal_name\": null,\n \"threads\": [],\n \"modules\": "
         "[],\n "
         "\"error\": {\"file\": ";
  out.json_string(file) << ", \"message\": ";
  out.json_string(why.text()) << "}\n}\n";
}

std::unique_ptr<Printer> make_json_printer(tool::Output& out, Symbolizer& symbolizer,
                                           const PrintSettings& settings) {
  return std::make_unique<JsonPrinter>(out, symbolizer, settings);
}

} // namespace sframe::unwind_tool
