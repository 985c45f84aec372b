// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Targets accessed through the user's callbacks.

#include "guard.h"
#include "process.h"

#include "sframe/remote/remote_cursor.h"

#include <array>

namespace {

using namespace sframe;
using remote::RemoteStatus;

static_assert(SFRAME_PC == unwind::pc_register);
static_assert(SFRAME_NUM_REGISTERS == unwind::Registers::count);
static_assert(static_cast<int>(SFRAME_STOP) == static_cast<int>(RemoteStatus::stop_unwind));
static_assert(static_cast<int>(SFRAME_NO_INFO) == static_cast<int>(RemoteStatus::no_info));

RemoteStatus from_c(sframe_status status) {
  return static_cast<RemoteStatus>(status);
}
sframe_status to_c(RemoteStatus status) {
  return static_cast<sframe_status>(status);
}

class CAccessors final : public remote::Accessors {
public:
  CAccessors(const sframe_callbacks& user, void* data) : user_(user), data_(data) {}

  RemoteStatus find_procedure(std::uint64_t ip, bool, void*, remote::ProcedureInfo& info) override {
    sframe_table table{.size = sizeof table, .address = 0, .length = 0, .base = 0};
    if (!user_.find_table) return RemoteStatus::no_info;
    const auto status = from_c(user_.find_table(ip, &table, data_));
    if (status != RemoteStatus::ok) return status;
    remote::CallbackView target(*space, nullptr);
    return remote::search(target, {table.address, table.length, table.base, table.base}, ip, info);
  }
  RemoteStatus access_memory(std::uint64_t address, std::uint64_t& value, bool write, void*) override {
    if (write || !user_.read_word) return RemoteStatus::invalid;
    return from_c(user_.read_word(address, &value, data_));
  }
  RemoteStatus access_register(std::uint16_t reg, std::uint64_t& value, bool write, void*) override {
    if (write || !user_.read_register) return RemoteStatus::invalid;
    return from_c(user_.read_register(reg, &value, data_));
  }
  RemoteStatus find_name(std::uint64_t address, std::span<char> buffer, std::uint64_t& offset,
                         void*) override {
    if (!user_.find_name) return RemoteStatus::no_info;
    return from_c(user_.find_name(address, buffer.data(), buffer.size(), &offset, data_));
  }

  remote::CallbackSpace* space = nullptr; ///< the space that uses these accessors

private:
  sframe_callbacks user_;
  void* data_;
};

class Target final : public sframe_process {
public:
  Target(const AbiTraits& abi, const sframe_callbacks& user, void* data)
      : accessors_(user, data), space_(accessors_, abi) {
    accessors_.space = &space_;
  }

  const AbiTraits& abi() const override { return space_.abi(); }
  std::size_t num_threads() const override { return 1; }
  sframe_thread thread(std::size_t) const override { return {.name = ""}; }

  sframe_status walk(std::size_t, const Receiver& receiver, sframe_end& end, sframe_error* error) override {
    remote::RemoteCursor cursor;
    if (const auto status = to_c(cursor.start(space_, nullptr)); status != SFRAME_OK)
      return c::report(error, status, "the thread's registers cannot be read");
    unwind::WalkEnd why{.reason = unwind::StopReason::frame_limit};
    for (std::uint32_t number = 0; number < unwind::Walker::default_max_frames; ++number) {
      sframe_frame frame = c::make_frame(number, cursor.frame(), cursor.trust(), cursor.stepper());
      unwind::StepResult made; // the frame's CFA comes with the step to its caller
      const unwind::StepStatus stepped = cursor.step(&made);
      frame.signal_frame = made.signal_frame;
      frame.has_cfa = made.has_cfa;
      frame.cfa = made.cfa;
      if (!receiver(frame)) {
        why.reason = unwind::StopReason::interrupted;
        break;
      }
      if (stepped == unwind::StepStatus::stepped) continue;
      why = {cursor.complete(), cursor.reason(), cursor.frame().registers.pc};
      break;
    }
    end = c::make_end(why);
    return SFRAME_OK;
  }

  sframe_status name(std::uint64_t lookup_pc, std::uint64_t pc, std::string& name,
                     std::uint64_t& offset) override {
    std::array<char, 4096> buffer{};
    const auto status =
        accessors_.find_name(lookup_pc, std::span(buffer).first(buffer.size() - 1), offset, nullptr);
    if (status != RemoteStatus::ok && status != RemoteStatus::no_memory) return to_c(status);
    name = buffer.data();
    offset += pc - lookup_pc;
    return SFRAME_OK;
  }

  std::size_t read(std::uint64_t address, std::span<std::byte> out) override {
    return remote::CallbackView(space_, nullptr).read(address, out);
  }

  sframe_status set_caching(sframe_caching policy) override {
    if (policy < SFRAME_CACHE_NONE || policy > SFRAME_CACHE_PER_THREAD) return SFRAME_INVALID;
    space_.set_caching(static_cast<remote::CachingPolicy>(policy));
    return SFRAME_OK;
  }
  sframe_status flush(std::uint64_t first, std::uint64_t last) override {
    space_.flush(first, last);
    return SFRAME_OK;
  }

private:
  CAccessors accessors_;
  remote::CallbackSpace space_;
};

} // namespace

sframe_process* sframe_open_callbacks(const char* abi, const sframe_callbacks* callbacks, void* data,
                                      sframe_error* error) {
  if (!abi || !callbacks) {
    c::report_null(error);
    return nullptr;
  }
  return c::guarded_pointer(error, [&]() -> sframe_process* {
    const auto taken = c::take(callbacks);
    if (!taken) {
      c::report_size(error);
      return nullptr;
    }
    const AbiTraits* traits = find_abi(std::string_view(abi));
    if (traits) return new Target(*traits, *taken, data);
    c::report(error, SFRAME_INVALID, "unknown ABI: " + std::string(abi));
    return nullptr;
  });
}
