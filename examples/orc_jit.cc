// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's JIT with rows for all that it compiles: runs the function `start` of a file of LLVM's language,
// which may call host().
//
//   $ orc_jit recursive.ll 2 compare
//   compare: 15 frames, 9 generated: the same by libgcc
//   result: 34
//
// The number is the level of optimisation. What host() does:
//
//   compare      compares the stack by sframe::here with that by _Unwind_Backtrace()
//   throw        throws an exception through the generated frames
//   abort        ends the program, for a debugger
//   wait         waits, until it is killed, for a debugger
//   step         returns; all instructions of generated code are executed one by one, and at each of them the
//                stacks are compared
//   unload       returns; the code is freed, and compiled again

#include "sframe/here/here.h"
#include "sframe/jit/publishers.h"
#include "sframe/jit/registry.h"
#include "sframe/orc/plugin.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

namespace {

std::string_view mode;

struct Frames {
  std::array<std::uint64_t, 4000> pcs = {};
  std::size_t count = 0;

  std::span<const std::uint64_t> all() const { return std::span(pcs).first(count); }
  /// From the first of these on.
  std::span<const std::uint64_t> from(std::uint64_t pc) const {
    const auto at = std::ranges::find(all(), pc);
    return {at, all().end()};
  }
};
Frames ours, theirs, before; // not on a signal's stack

void walk_by_libgcc(Frames& frames) {
  frames.count = 0;
  const auto add = [](_Unwind_Context* context, void* to) {
    auto& all = *static_cast<Frames*>(to);
    const std::uint64_t pc = _Unwind_GetIP(context);
    if (pc && all.count < all.pcs.size()) all.pcs[all.count++] = pc;
    return _URC_NO_REASON;
  };
  _Unwind_Backtrace(add, &frames);
}

bool is_generated(std::uint64_t pc) {
  sframe::SourcedRow row;
  return sframe::jit::Registry::find(pc, row);
}

[[gnu::noinline]] void compare() {
  ours.count = sframe::here::callers(ours.pcs).count;
  walk_by_libgcc(theirs);
  // They differ in the first frames, which are this function's.
  const auto first = std::ranges::find_if(ours.all(), [](std::uint64_t pc) { return is_generated(pc - 1); });
  const std::span mine(first, ours.all().end());
  const auto generated = std::ranges::count_if(mine, [](std::uint64_t pc) { return is_generated(pc - 1); });
  const bool same = !mine.empty() && std::ranges::equal(mine, theirs.from(mine.front()));
  std::printf("compare: %zu frames, %td generated: %s by libgcc\n", mine.size(), generated,
              same ? "the same" : "NOT the same");
}

extern "C" [[gnu::noinline]] int host() {
  if (mode == "compare") compare();
  if (mode == "throw") throw std::runtime_error("from the host");
  if (mode == "abort") std::abort();
  if (mode == "wait") {
    std::puts("waiting");
    std::fflush(stdout);
    for (;;) pause();
  }
  return 1;
}

/// Single steps.
struct Steps {
  std::set<std::uint64_t>* places = nullptr; ///< instructions of generated code
  std::size_t count = 0, different = 0, stubs = 0;
} steps;

void step([[maybe_unused]] int number, [[maybe_unused]] siginfo_t* info, void* context) {
#if defined(__x86_64__)
  const auto& state = *static_cast<const ucontext_t*>(context);
  const auto pc = static_cast<std::uint64_t>(state.uc_mcontext.gregs[REG_RIP]);
  if (!is_generated(pc)) return;
  steps.places->insert(pc); // no code of the program is interrupted, only generated code
  ++steps.count;
  ours.count = sframe::here::callers_in_context(state, ours.pcs).count;
  walk_by_libgcc(theirs);
  const std::span others = theirs.from(pc);
  if (others.size() == 1 && ours.count > 2) { // a stub, for which LLVM has no frames: a call has led to it
    ++steps.stubs;
    steps.different += !std::ranges::equal(ours.all().subspan(2), before.all().subspan(1));
  } else {
    steps.different += !std::ranges::equal(ours.all(), others);
  }
  before = ours;
#else
  (void)context;
#endif
}

int run(int (*function)()) {
#if defined(__x86_64__)
  if (mode == "step") {
    std::set<std::uint64_t> places;
    steps.places = &places;
    struct sigaction action = {};
    action.sa_sigaction = step;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, nullptr);
    constexpr std::uint64_t trap_flag = 0x100;
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | trap_flag);
    const int result = function();
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~trap_flag);
    std::printf("step: %zu instructions, executed %zu times: %zu different stacks; %zu by us alone\n",
                places.size(), steps.count, steps.different, steps.stubs);
    return result;
  }
#endif
  return function();
}

class Compiler {
public:
  Compiler(sframe::jit::Registry& registry, unsigned level) : level_(level) {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto machine = check(llvm::orc::JITTargetMachineBuilder::detectHost());
    machine.setCodeGenOptLevel(level == 0 ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default);
    jit_ = check(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create());
    plugin_ = std::make_shared<sframe::orc::RegistryPlugin>(registry);
    auto* const layer = llvm::dyn_cast<llvm::orc::ObjectLinkingLayer>(&jit_->getObjLinkingLayer());
    if (!layer) throw std::runtime_error("not linked by JITLink");
    layer->addPlugin(plugin_);
    llvm::orc::SymbolMap symbols;
    symbols[jit_->mangleAndIntern("host")] = {llvm::orc::ExecutorAddr::fromPtr(&host),
                                              llvm::JITSymbolFlags::Callable |
                                                  llvm::JITSymbolFlags::Exported};
    check(jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(symbols)));
  }

  int (*compile(const std::string& path))() {
    auto context = std::make_unique<llvm::LLVMContext>();
    llvm::SMDiagnostic problem;
    auto module = llvm::parseIRFile(path, problem, *context);
    if (!module) throw std::runtime_error(path + ": " + problem.getMessage().str());
    module->setDataLayout(jit_->getDataLayout());
    if (level_ > 0) optimize(*module);
    tracker_ = jit_->getMainJITDylib().createResourceTracker();
    check(jit_->addIRModule(tracker_, llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
    return check(jit_->lookup("start")).toPtr<int (*)()>();
  }

  void unload() { check(tracker_->remove()); }

  std::size_t left_out() const { return plugin_->left_out(); }

private:
  static void optimize(llvm::Module& module) {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager calls;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder passes;
    passes.registerModuleAnalyses(modules);
    passes.registerCGSCCAnalyses(calls);
    passes.registerFunctionAnalyses(functions);
    passes.registerLoopAnalyses(loops);
    passes.crossRegisterProxies(loops, functions, calls, modules);
    passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
  }

  static void check(llvm::Error error) {
    if (error) throw std::runtime_error(llvm::toString(std::move(error)));
  }
  template <class T> static T check(llvm::Expected<T> value) {
    if (!value) throw std::runtime_error(llvm::toString(value.takeError()));
    return std::move(*value);
  }

  unsigned level_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::shared_ptr<sframe::orc::RegistryPlugin> plugin_;
  llvm::orc::ResourceTrackerSP tracker_;
};

} // namespace

int main(int argc, char** argv) try {
  if (argc != 4) return 2;
  mode = argv[3];
  sframe::jit::GdbInterface gdb;
  sframe::jit::Registry registry; // outlives the compiler
  registry.publish_to(gdb);
  Compiler compiler(registry, static_cast<unsigned>(std::stoul(argv[2])));
  auto* function = compiler.compile(argv[1]);
  if (mode == "unload") {
    function();
    std::printf("regions: %zu\n", registry.usage().regions);
    compiler.unload();
    std::printf("regions: %zu\n", registry.usage().regions + registry.usage().removed);
    function = compiler.compile(argv[1]);
    std::printf("regions: %zu\n", registry.usage().regions);
  }
  sframe::here::refresh();
  try {
    std::printf("result: %d\n", run(function));
  } catch (const std::runtime_error& error) {
    std::printf("caught: %s\n", error.what());
  }
  if (compiler.left_out()) std::printf("left out: %zu\n", compiler.left_out());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "orc_jit: %s\n", error.what());
  return 1;
}
