// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// own_process: a user-defined address space and process. Profilers often record only registers and a copy of
// the stack (as perf(1) does) and walk these samples later, when the thread has moved on. This program
// samples itself in two places, continues, and walks the samples. (AMD64 Linux.)
//
// A ModuleSpace needs only bytes at addresses, which addresses are code, and which files are mapped where.
// Tables, symbols and debug files are found through the files.

#include "print_frames.h"

#include "sframe/process/process_state.h"
#include "sframe/steppers/steppers.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <link.h>
#include <pthread.h>
#include <span>
#include <string>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace sframe;

/// A sample: registers and the stack starting at SP.
struct Sample {
  unwind::Registers registers;
  std::uint64_t stack_start = 0;
  std::vector<std::byte> stack;
};

/// A file and where it is mapped.
modules::ModuleInfo describe(const dl_phdr_info& loaded, const std::string& path) {
  modules::ModuleInfo info;
  info.path = info.file = path;
  info.bias = loaded.dlpi_addr;
  for (const auto& segment : std::span(loaded.dlpi_phdr, loaded.dlpi_phnum)) {
    if (segment.p_type != PT_LOAD) continue;
    const std::uint64_t start = loaded.dlpi_addr + segment.p_vaddr;
    info.mappings.push_back({start, start + segment.p_filesz, segment.p_offset});
  }
  if (!info.mappings.empty()) info.start = info.mappings.front().start, info.end = info.mappings.back().end;
  return info;
}

class SampledSpace final : public modules::ModuleSpace, public modules::ByteSource {
public:
  /// Modules of this process: the program comes first; those without a file (the vdso) are omitted.
  SampledSpace() {
    dl_iterate_phdr(
        [](dl_phdr_info* loaded, std::size_t, void* self) {
          auto& space = *static_cast<SampledSpace*>(self);
          const bool program = space.modules_.empty();
          const std::string path =
              program ? std::filesystem::read_symlink("/proc/self/exe").string() : loaded->dlpi_name;
          modules::ModuleInfo info = describe(*loaded, path);
          info.main = program;
          if (path.starts_with('/'))
            space.modules_.emplace_back(std::move(info), space.abi(), space.files_, space);
          return 0;
        },
        this);
  }

  const AbiTraits& abi() const override { return traits(Abi::amd64); }
  /// The stack comes from the sample, all else from the files.
  std::span<const std::byte> view(std::uint64_t address) override {
    if (const std::uint64_t into = address - sample_->stack_start; into < sample_->stack.size())
      return std::span(sample_->stack).subspan(into);
    modules::Module* module = module_at(address);
    return module ? module->file_bytes_at(address) : std::span<const std::byte>{};
  }
  bool is_code(std::uint64_t address) override {
    modules::Module* module = module_at(address);
    return module && module->is_code(address);
  }
  modules::Module* module_at(std::uint64_t address) override {
    for (modules::Module& module : modules_)
      if (address >= module.info().start && address < module.info().end) return &module;
    return nullptr;
  }
  /// For modules without a file; there are none here.
  std::span<const std::byte> memory_at(std::uint64_t) override { return {}; }

  std::deque<modules::Module>& modules() { return modules_; }
  /// A walk uses one sample: several samples may have the same addresses.
  void set_sample(const Sample& sample) { sample_ = &sample; }

private:
  modules::FileOptions files_ = modules::FileOptions().for_space();
  std::deque<modules::Module> modules_;
  const Sample* sample_ = nullptr;
};

/// A process with one sample: its only thread is the sampled one.
class SampledProcess final : public process::ProcessState {
public:
  SampledProcess(SampledSpace& space, const Sample& sample) : space_(space) {
    space.set_sample(sample);
    thread_.tid = pid();
    thread_.registers = sample.registers;
  }

  std::uint32_t pid() const override { return static_cast<std::uint32_t>(::getpid()); }
  std::int32_t signal() const override { return 0; }
  std::span<const process::Thread> threads() const override { return std::span(&thread_, 1); }
  modules::ModuleSpace& space() override { return space_; }
  std::string_view name() const override { return "own_process"; }
  std::deque<modules::Module>& modules() override { return space_.modules(); }

private:
  SampledSpace& space_;
  process::Thread thread_;
};

/// Registers by DWARF number.
unwind::Registers registers_of(const ucontext_t& context) {
  static constexpr std::array order = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                       REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                       REG_R12, REG_R13, REG_R14, REG_R15};
  unwind::Registers registers;
  for (std::uint16_t reg = 0; const auto name : order)
    registers.set(reg++, static_cast<std::uint64_t>(context.uc_mcontext.gregs[name]));
  registers.pc = static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  return registers;
}

std::uint64_t end_of_stack() {
  pthread_attr_t attributes;
  void* start = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  pthread_attr_getstack(&attributes, &start, &size);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uintptr_t>(start) + size;
}

/// Only this function needs to be fast.
__attribute__((noinline)) Sample take_sample() {
  constexpr std::uint64_t most = 64 << 10;
  ucontext_t context;
  getcontext(&context);
  Sample sample;
  sample.registers = registers_of(context);
  sample.stack_start = static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
  sample.stack.resize(std::min(most, end_of_stack() - sample.stack_start));
  // Copied by the kernel: in this program the stack is many objects, whose bounds sanitizers check.
  const iovec to = {sample.stack.data(), sample.stack.size()};
  const iovec from = {reinterpret_cast<void*>(sample.stack_start), sample.stack.size()};
  const ssize_t copied = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
  sample.stack.resize(copied < 0 ? 0 : static_cast<std::size_t>(copied));
  return sample;
}

} // namespace

// The sampled program: parse() calls read_record(), solve() calls itself three times.

__attribute__((noinline)) Sample read_record() {
  Sample sample = take_sample();
  asm volatile(""); // no tail call
  return sample;
}
__attribute__((noinline)) Sample parse() {
  Sample sample = read_record();
  asm volatile("");
  return sample;
}
__attribute__((noinline)) Sample solve(int depth) {
  Sample sample = depth ? solve(depth - 1) : take_sample();
  asm volatile("");
  return sample;
}

int main() {
  const Sample samples[] = {parse(), solve(2)};
  SampledSpace space;
  modules::ElfSymbols symbols;
  bool complete = true;
  for (const Sample& sample : samples) {
    SampledProcess process(space, sample);
    unwind::Walker walker(process.space(), steppers::default_steppers(space.abi(), &space.modules().front()));
    complete &= example::print_stacks(walker, process, symbols);
  }
  return complete ? 0 : 1;
}
