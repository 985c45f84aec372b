// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of sframe/c/walk.h common to all processes.

#include "guard.h"
#include "process.h"

#include "sframe/elf/symbols.h"
#include "sframe/names/demangle.h"
#include "sframe/remote/accessors.h"
#include "sframe/unwind/abi.h"

namespace sframe::c {

sframe_frame make_frame(std::uint32_t number, const unwind::FrameState& state, unwind::Trust trust,
                        std::string_view found_by) {
  sframe_frame frame{.size = sizeof frame,
                     .number = number,
                     .pc_exact = state.pc_exact,
                     .heuristic = trust == unwind::Trust::heuristic,
                     .pc = state.registers.pc,
                     .lookup_pc = state.lookup_pc(),
                     .found_by = found_by.data(), // a literal
                     .known_registers = state.registers.known};
  for (std::uint16_t reg = 0; reg < unwind::Registers::count; ++reg)
    frame.registers[reg] = state.registers.get(reg).value_or(0);
  return frame;
}

sframe_end make_end(const unwind::WalkEnd& end) {
  sframe_end made{.complete = end.complete, .why = static_cast<sframe_reason>(end.reason)};
  remote::copy_name(unwind::describe(end), made.reason);
  return made;
}

} // namespace sframe::c

using namespace sframe;

sframe_status sframe_process::stop(sframe_error*) {
  return SFRAME_OK;
}
std::optional<modules::SourceLocation> sframe_process::source(std::uint64_t) {
  return std::nullopt;
}
modules::Module* sframe_process::find_module(std::uint64_t) {
  return nullptr;
}
sframe_status sframe_process::set_caching(sframe_caching) {
  return SFRAME_INVALID;
}
sframe_status sframe_process::flush(std::uint64_t, std::uint64_t) {
  return SFRAME_INVALID;
}

sframe_status sframe_stop(sframe_process* process, sframe_error* error) {
  if (!process) return c::report_null(error);
  return c::guarded(error, [&] { return process->stop(error); });
}

void sframe_resume(sframe_process* process) {
  if (process)
    c::guarded(nullptr, [&] {
      process->resume();
      return SFRAME_OK;
    });
}

void sframe_close(sframe_process* process) {
  delete process;
}

const char* sframe_abi(const sframe_process* process) {
  return process ? process->abi().name.data() : nullptr; // a literal
}

sframe_status sframe_get_process_info(const sframe_process* process, sframe_process_info* info) {
  if (!process || !info) return SFRAME_INVALID;
  return c::fill(info, process->info());
}

size_t sframe_num_threads(const sframe_process* process) {
  return process ? process->num_threads() : 0;
}

sframe_status sframe_get_thread(const sframe_process* process, size_t number, sframe_thread* thread) {
  if (!thread || number >= sframe_num_threads(process)) return SFRAME_INVALID;
  return c::fill(thread, process->thread(number));
}

namespace {

sframe_status walk_thread(sframe_process* process, std::size_t thread,
                          const sframe_process::Receiver& receiver, sframe_end* end, sframe_error* error) {
  if (end && !c::is_sized(end)) return c::report_size(error);
  if (thread >= process->num_threads())
    return c::report(error, SFRAME_INVALID, "no such thread, or the process is not stopped");
  sframe_end why{};
  const auto status = process->walk(thread, receiver, why, error);
  if (status == SFRAME_OK && end) c::fill(end, why);
  return status;
}

/// What a lookup of a frame's `lookup_pc` does; not for invalid frames.
template <class Body> sframe_status with_frame(const sframe_frame* frame, Body&& body) {
  return c::guarded(nullptr, [&] {
    const auto taken = c::take(frame);
    return taken ? body(*taken) : SFRAME_INVALID;
  });
}

sframe_status describe(modules::Module* found, sframe_module* module) {
  if (!found) return SFRAME_NO_INFO;
  const modules::ModuleInfo& info = found->info();
  sframe_module made{.start = info.start,
                     .end = info.end,
                     .bias = found->bias(),
                     .path = info.path.c_str(),
                     .is_main = info.main,
                     .is_generated = found->generated()};
  if (const auto id = found->build_id(); !id.empty()) {
    made.build_id = reinterpret_cast<const std::uint8_t*>(id.data());
    made.build_id_size = id.size();
  }
  if (const std::string& problem = found->file().problem_so_far(); !problem.empty())
    made.problem = problem.c_str();
  return c::fill(module, made);
}

/// The data of an ABI's registers, or nullptr.
const unwind::UnwindAbi* find_registers(const char* abi) {
  const AbiTraits* const traits = abi ? find_abi(std::string_view(abi)) : nullptr;
  return traits ? unwind::find_unwind_abi(traits->id) : nullptr;
}

constexpr const char* pc_name = "pc";

} // namespace

sframe_status sframe_walk(sframe_process* process, size_t thread, sframe_frame_callback callback, void* data,
                          sframe_end* end, sframe_error* error) {
  if (!process || !callback) return c::report_null(error);
  return c::guarded(error, [&] {
    return walk_thread(
        process, thread, [&](const sframe_frame& frame) { return callback(&frame, data) == 0; }, end, error);
  });
}

sframe_status sframe_walk_into(sframe_process* process, size_t thread, sframe_frame* frames, size_t capacity,
                               size_t* count, sframe_end* end, sframe_error* error) {
  if (count) *count = 0;
  if (!process || !count || (!frames && capacity)) return c::report_null(error);
  if (!c::is_array(frames, capacity)) return c::report_size(error);
  const auto keep = [&](const sframe_frame& frame) {
    if (*count == capacity) return false;
    c::fill_sized(c::element(frames, (*count)++), frame, frames->size);
    return true;
  };
  return c::guarded(error, [&] { return walk_thread(process, thread, keep, end, error); });
}

sframe_status sframe_function_name(sframe_process* process, const sframe_frame* frame, char* buffer,
                                   size_t size, uint64_t* offset) {
  if (!process || !frame || (!buffer && size)) return SFRAME_INVALID;
  return with_frame(frame, [&](const sframe_frame& taken) {
    std::string name;
    std::uint64_t into = 0;
    const auto status = process->name(taken.lookup_pc, taken.pc, name, into);
    if (status != SFRAME_OK) return status;
    if (offset) *offset = into;
    return c::copy_text(names::demangle(name), buffer, size);
  });
}

sframe_status sframe_frame_at(uint64_t address, int is_return_address, sframe_frame* frame) {
  if (!frame) return SFRAME_INVALID;
  unwind::FrameState state;
  state.registers.pc = address;
  state.pc_exact = !is_return_address;
  return c::fill(frame, c::make_frame(0, state, unwind::Trust::exact, "context"));
}

sframe_status sframe_source_lines(sframe_process* process, const sframe_frame* frame,
                                  sframe_source_callback callback, void* data) {
  if (!process || !frame || !callback) return SFRAME_INVALID;
  return with_frame(frame, [&](const sframe_frame& taken) {
    const auto source = process->source(taken.lookup_pc);
    if (!source) return SFRAME_NO_INFO;
    const auto give = [&](const char* function, const modules::SourceLine& at) {
      const sframe_source_line line{sizeof line, function, at.file.c_str(), at.line, 0};
      return callback(&line, data) == 0;
    };
    for (const modules::InlinedCall& call : source->inlined)
      if (!give(call.function.c_str(), call.at)) return SFRAME_STOP;
    return give(nullptr, source->at) ? SFRAME_OK : SFRAME_STOP;
  });
}

sframe_status sframe_frame_register(const sframe_frame* frame, uint16_t reg, uint64_t* value) {
  if (!frame || !value) return SFRAME_INVALID;
  return with_frame(frame, [&](const sframe_frame& taken) {
    if (reg == SFRAME_PC) {
      *value = taken.pc;
      return SFRAME_OK;
    }
    if (reg >= SFRAME_NUM_REGISTERS || !(taken.known_registers >> reg & 1)) return SFRAME_BAD_REGISTER;
    *value = taken.registers[reg];
    return SFRAME_OK;
  });
}

sframe_status sframe_register_number(const char* abi, const char* name, uint16_t* reg) {
  const unwind::UnwindAbi* const registers = find_registers(abi);
  if (!registers || !name || !reg) return SFRAME_INVALID;
  if (std::string_view(name) == pc_name) {
    *reg = SFRAME_PC;
    return SFRAME_OK;
  }
  const auto found = std::ranges::find(registers->register_names, std::string_view(name));
  if (found == registers->register_names.end() || found->empty()) return SFRAME_BAD_REGISTER;
  *reg = static_cast<std::uint16_t>(found - registers->register_names.begin());
  return SFRAME_OK;
}

const char* sframe_register_name(const char* abi, uint16_t reg) {
  const unwind::UnwindAbi* const registers = find_registers(abi);
  if (!registers) return nullptr;
  if (reg == SFRAME_PC) return pc_name;
  if (reg >= registers->register_names.size() || registers->register_names[reg].empty()) return nullptr;
  return registers->register_names[reg].data(); // a literal
}

size_t sframe_num_modules(sframe_process* process) {
  std::size_t count = 0;
  if (process)
    c::guarded(nullptr, [&] {
      count = process->modules().size();
      return SFRAME_OK;
    });
  return count;
}

sframe_status sframe_get_module(sframe_process* process, size_t number, sframe_module* module) {
  if (!process || !module) return SFRAME_INVALID;
  return c::guarded(nullptr, [&] {
    const auto modules = process->modules();
    return number < modules.size() ? describe(modules[number], module) : SFRAME_INVALID;
  });
}

sframe_status sframe_find_module(sframe_process* process, uint64_t address, sframe_module* module) {
  if (!process || !module) return SFRAME_INVALID;
  return c::guarded(nullptr, [&] { return describe(process->find_module(address), module); });
}

sframe_status sframe_read_memory(sframe_process* process, uint64_t address, void* buffer, size_t size,
                                 size_t* count) {
  if (count) *count = 0;
  if (!process || !count || (!buffer && size)) return SFRAME_INVALID;
  if (!process->is_readable()) return SFRAME_INVALID;
  return c::guarded(nullptr, [&] {
    *count = process->read(address, std::span(static_cast<std::byte*>(buffer), size));
    return *count == size ? SFRAME_OK : SFRAME_UNREADABLE;
  });
}

sframe_status sframe_set_caching(sframe_process* process, sframe_caching policy) {
  if (!process) return SFRAME_INVALID;
  return c::guarded(nullptr, [&] { return process->set_caching(policy); });
}

sframe_status sframe_flush(sframe_process* process, uint64_t first, uint64_t last) {
  if (!process) return SFRAME_INVALID;
  return c::guarded(nullptr, [&] { return process->flush(first, last); });
}
