// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mappings.h"

#include "file.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

namespace sframe::bpf {

bool Mappings::list(int pid, std::vector<sframe_bpf_mapping>& mappings) const {
  bpf_program* const program = bpf_object__find_program_by_name(object_, "sframe_list_mappings");
  if (!program) {
    errno = ENOENT;
    return false;
  }
  bpf_iter_link_info which{};
  which.task.pid = static_cast<std::uint32_t>(pid);
  bpf_iter_attach_opts options{};
  options.sz = sizeof options;
  options.link_info = &which;
  options.link_info_len = sizeof which;
  mappings.clear();
  const std::unique_ptr<bpf_link, int (*)(bpf_link*)> link(bpf_program__attach_iter(program, &options),
                                                           bpf_link__destroy);
  if (!link) return errno == ESRCH; // has ended
  const FileDescriptor list(bpf_iter_create(bpf_link__fd(link.get())));
  if (list.number() < 0) return false;
  // First all of it: while something is done, the kernel's iterator would wait.
  const auto bytes = read_all(list.number());
  mappings.resize(bytes.size() / sizeof(sframe_bpf_mapping));
  if (!mappings.empty())
    std::memcpy(mappings.data(), bytes.data(), mappings.size() * sizeof(sframe_bpf_mapping));
  return true;
}

} // namespace sframe::bpf
