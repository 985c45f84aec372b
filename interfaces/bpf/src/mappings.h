// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mappings with code of a process, or of all, by the object's program sframe_list_mappings: the keys of
// files are those that the kernel has, which /proc/PID/maps does not show.

#pragma once

#include "sframe/bpf/stack.h"

#include <vector>

struct bpf_object;

namespace sframe::bpf {

inline bool is_same(const sframe_bpf_process& a, const sframe_bpf_process& b) {
  return a.pid == b.pid && a.start == b.start && a.programs == b.programs;
}

class Mappings {
public:
  explicit Mappings(bpf_object* object) : object_(object) {}

  /// Of a process; with 0 of all. False with errno. None if the process has ended.
  bool list(int pid, std::vector<sframe_bpf_mapping>& mappings) const;

private:
  bpf_object* object_;
};

} // namespace sframe::bpf
