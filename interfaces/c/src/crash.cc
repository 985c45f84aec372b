// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of sframe/c/crash.h, over lib/crash.

#include "sframe/c/crash.h"

#include "guard.h"
#include "process.h"

#include "sframe/crash/command_line.h"
#include "sframe/crash/crash.h"
#include "sframe/crash/signature.h"
#include "sframe/steppers/steppers.h"

#include <string>
#include <vector>

using namespace sframe;

namespace {

using Access = crash::Fault::Access;
static_assert(SFRAME_ACCESS_UNKNOWN == static_cast<int>(Access::unknown));
static_assert(SFRAME_ACCESS_READ == static_cast<int>(Access::read));
static_assert(SFRAME_ACCESS_WRITE == static_cast<int>(Access::write));
static_assert(SFRAME_ACCESS_READ_WRITE == static_cast<int>(Access::read_write));
static_assert(SFRAME_ACCESS_EXECUTE == static_cast<int>(Access::execute));

const char* text_or_null(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

} // namespace

struct sframe_crash {
  explicit sframe_crash(process::CoreProcess& process)
      : signal(process.signal()), command(crash::command_line(process.space().core())),
        command_line(crash::shell_line(command)), arguments(pointers_to(command.arguments)) {
    if (process.threads().empty()) return;
    modules::ElfFrameNames names(process.space());
    unwind::Walker walker(process.space(),
                          steppers::default_steppers(process.space().abi(), process.space().main_module()));
    const process::Thread& thread = process.threads().front();
    if (signal) what = crash::explain_crash(process, crash::signals_on_stack(thread, process, walker));
    const auto& first = what.first_fault;
    signature = crash::signature_of(first ? first->from.interrupted : thread.frame(), signal, walker, names,
                                    process.space().budget());
    signature_frames = pointers_to(signature.frames);
    signal_name = core::signal_name(signal);
    if (first) first_signal_name = core::signal_name(first->from.info.signal);
  }

  /// nullptr if there is none.
  const crash::Fault* fault(sframe_fault_kind kind) const {
    if (what.tid == 0) return nullptr;
    if (kind == SFRAME_FAULT_LAST) return &what;
    return kind == SFRAME_FAULT_FIRST && what.first_fault ? &*what.first_fault : nullptr;
  }

  std::int32_t signal;
  crash::Crash what;
  crash::Signature signature;
  crash::CommandLine command;
  std::string signal_name, first_signal_name, command_line;
  std::vector<const char*> signature_frames, arguments;
};

sframe_crash* sframe_crash_explain(sframe_process* process, sframe_error* error) {
  if (!process) {
    c::report_null(error);
    return nullptr;
  }
  return c::guarded_pointer(error, [&]() -> sframe_crash* {
    if (process::CoreProcess* const core = process->core()) return new sframe_crash(*core);
    c::report(error, SFRAME_INVALID, "only cores have a crash");
    return nullptr;
  });
}

void sframe_crash_close(sframe_crash* crash) {
  delete crash;
}

sframe_status sframe_crash_get_info(const sframe_crash* crash, sframe_crash_info* info) {
  if (!crash || !info) return SFRAME_INVALID;
  sframe_crash_info made{.tid = crash->what.tid,
                         .message = text_or_null(crash->what.message),
                         .signature = text_or_null(crash->signature.text),
                         .signature_frames = crash->signature_frames.data(),
                         .num_signature_frames = crash->signature_frames.size(),
                         .arguments = crash->arguments.data(),
                         .num_arguments = crash->arguments.size(),
                         .command_line = crash->command_line.c_str(),
                         .arguments_cut = !crash->command.complete};
  if (const auto& sender = crash->what.sender) {
    made.has_sender = 1;
    made.sender = sender->pid;
    made.sender_user = sender->user;
  }
  return c::fill(info, made);
}

sframe_status sframe_crash_get_fault(const sframe_crash* crash, sframe_fault_kind kind, sframe_fault* fault) {
  if (!crash || !fault) return SFRAME_INVALID;
  const crash::Fault* const found = crash->fault(kind);
  if (!found) return SFRAME_NO_INFO;
  sframe_fault made{.signal = crash->signal,
                    .signal_name = crash->signal_name.c_str(),
                    .has_code = found->code.has_value(),
                    .code = found->code.value_or(0),
                    .code_name = found->code_name.empty() ? nullptr : found->code_name.data(), // a literal
                    .meaning = text_or_null(found->meaning),
                    .guess = text_or_null(found->guess),
                    .access = static_cast<sframe_access>(found->access),
                    .has_address = found->address.has_value(),
                    .address = found->address.value_or(0)};
  if (kind == SFRAME_FAULT_FIRST) {
    const crash::SignalOnStack& from = crash->what.first_fault->from;
    made.signal = from.info.signal;
    made.frame = from.frame;
    made.signal_name = crash->first_signal_name.c_str();
  }
  if (const auto& instruction = found->instruction) {
    made.pc = instruction->pc;
    made.instruction = instruction->text.c_str();
    made.num_registers = instruction->registers.size();
  }
  return c::fill(fault, made);
}

sframe_status sframe_crash_get_register(const sframe_crash* crash, sframe_fault_kind kind, size_t number,
                                        const char** name, uint64_t* value) {
  if (!crash || !name || !value) return SFRAME_INVALID;
  const crash::Fault* const fault = crash->fault(kind);
  if (!fault || !fault->instruction || number >= fault->instruction->registers.size()) return SFRAME_INVALID;
  const crash::RegisterValue& found = fault->instruction->registers[number];
  *name = found.name.data(); // a literal
  *value = found.value;
  return SFRAME_OK;
}
