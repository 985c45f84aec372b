// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the kernel's functions, those of its modules, and of BPF programs, by /proc/kallsyms.

#pragma once

#include "sframe/profile/recording.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::profile_tool {

class KernelNames {
public:
  /// Of the text of /proc/kallsyms. Functions whose addresses are hidden (all are 0) are not there.
  explicit KernelNames(std::string text);

  bool is_empty() const { return functions_.empty(); }

  struct Name {
    std::string_view function, module; ///< `module` is "[ext4]"; empty: the kernel itself
  };
  /// That of the address; empty if there is none. Valid as long as this object.
  Name find(std::uint64_t address) const;

private:
  struct Function {
    std::uint64_t start = 0;
    Name name;
  };

  std::string text_;
  std::vector<Function> functions_; ///< by start
};

/// True for the functions by which the kernel starts a BPF program at an event: they are the first frames of
/// its stack.
bool starts_bpf_programs(std::string_view function);

/// Names the kernel's functions, and gives those of modules files of their own. With `starts_programs` the
/// frames by which the kernel started the BPF program go. False if addresses are hidden.
bool name_kernel(profile::Recording& recording, bool starts_programs);

} // namespace sframe::profile_tool
