// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernel_names.h"

#include "../name_index.h"

#include "sframe/base/proc_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <utility>

namespace sframe::profile_tool {

namespace {

/// "ffffffff81000000 T _stext\t[module]": a function at an address that is shown.
template <class Function> bool parse(std::string_view line, Function& function) {
  const char* const end = line.data() + line.size();
  const auto [at, error] = std::from_chars(line.data(), end, function.start, 16);
  if (error != std::errc() || function.start == 0 || end - at < 4 || at[0] != ' ' || at[2] != ' ')
    return false;
  if (std::string_view("tTwW").find(at[1]) == std::string_view::npos) return false;
  const std::string_view names(at + 3, end);
  const std::size_t tab = std::min(names.find('\t'), names.size());
  function.name = {names.substr(0, tab), names.substr(std::min(tab + 1, names.size()))};
  return true;
}

} // namespace

KernelNames::KernelNames(std::string text) : text_(std::move(text)) {
  for (std::string_view rest = text_; !rest.empty();) {
    const std::size_t size = std::min(rest.find('\n'), rest.size());
    if (Function function; parse(rest.substr(0, size), function)) functions_.push_back(function);
    rest.remove_prefix(std::min(size + 1, rest.size()));
  }
  std::ranges::stable_sort(functions_, {}, &Function::start);
}

KernelNames::Name KernelNames::find(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(functions_, address, {}, &Function::start);
  return after == functions_.begin() ? Name() : std::prev(after)->name;
}

bool starts_bpf_programs(std::string_view function) {
  static constexpr std::array<std::string_view, 8> beginnings = {
      "bpf_prog_",    "bpf_trampoline_", "bpf_trace_run",  "__bpf_trace_",
      "__traceiter_", "perf_trace_",     "trace_call_bpf", "bpf_get_stack"};
  return std::ranges::any_of(beginnings, [&](std::string_view one) { return function.starts_with(one); });
}

bool name_kernel(profile::Recording& recording, bool starts_programs) {
  const auto is_kernel = [&](const profile::Location& location) {
    return location.file != profile::none && recording.files[location.file].kind == profile::FileKind::kernel;
  };
  if (std::ranges::none_of(recording.locations, is_kernel)) return true;
  const KernelNames kernel(read_proc_file("/proc/kallsyms"));
  if (kernel.is_empty()) return false;
  NameIndex names(recording.names);
  std::map<std::string_view, std::uint32_t> modules;
  std::vector<bool> starts(recording.locations.size());
  for (std::size_t i = 0; i < recording.locations.size(); ++i) {
    profile::Location& location = recording.locations[i];
    if (!is_kernel(location)) continue;
    const auto [function, module] = kernel.find(location.address);
    if (function.empty()) continue;
    location.name = names.add(function);
    starts[i] = starts_programs && starts_bpf_programs(function);
    if (module.empty()) continue;
    const auto [at, is_new] = modules.try_emplace(module, static_cast<std::uint32_t>(recording.files.size()));
    if (is_new) recording.files.push_back({.kind = profile::FileKind::kernel, .path = std::string(module)});
    location.file = at->second;
  }
  for (profile::Stack& stack : recording.stacks) {
    const auto first = std::ranges::find_if(stack.locations, [&](std::uint32_t at) { return !starts[at]; });
    stack.locations.erase(stack.locations.begin(), first);
  }
  return true;
}

} // namespace sframe::profile_tool
