// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel lacks for stack.bpf.h, by its type information: libbpf's and the verifier's messages name a
// relocation or an instruction.

#include "sframe/bpf/tables.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <linux/capability.h>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>

namespace {

/// Texts with commas between them, up to what the caller has room for.
class Texts {
public:
  Texts(char* text, std::size_t size) : text_(text), left_(size) {
    if (left_) *text_ = 0;
  }
  void add(std::string_view what) {
    if (count_++) append(", ");
    append(what);
  }
  int count() const { return count_; }

private:
  void append(std::string_view what) {
    if (!left_) return;
    const std::size_t some = std::min(what.size(), left_ - 1);
    std::memcpy(text_, what.data(), some);
    text_ += some;
    left_ -= some;
    *text_ = 0;
  }

  char* text_;
  std::size_t left_;
  int count_ = 0;
};

/// Also in structures without a name inside of it.
bool has_member(const btf* types, const btf_type* type, std::string_view name, int depth = 0) {
  const btf_member* const members = btf_members(type);
  for (int i = 0; i < btf_vlen(type); ++i) {
    const std::string_view member = btf__name_by_offset(types, members[i].name_off);
    if (member == name) return true;
    const btf_type* const inner = member.empty() ? btf__type_by_id(types, members[i].type) : nullptr;
    if (inner && btf_is_composite(inner) && depth < 4 && has_member(types, inner, name, depth + 1))
      return true;
  }
  return false;
}

bool has_member(const btf* types, const char* structure, std::string_view name) {
  const int id = btf__find_by_name_kind(types, structure, BTF_KIND_STRUCT);
  return id > 0 && has_member(types, btf__type_by_id(types, static_cast<__u32>(id)), name);
}

bool has_helper(const btf* types, std::string_view name) {
  const int id = btf__find_by_name_kind(types, "bpf_func_id", BTF_KIND_ENUM);
  const btf_type* const type = id > 0 ? btf__type_by_id(types, static_cast<__u32>(id)) : nullptr;
  for (int i = 0; type && i < btf_vlen(type); ++i)
    if (btf__name_by_offset(types, btf_enum(type)[i].name_off) == name) return true;
  return false;
}

bool may_use_bpf() {
  const int map =
      bpf_map_create(BPF_MAP_TYPE_ARRAY, "sframe_attempt", sizeof(__u32), sizeof(__u32), 1, nullptr);
  if (map >= 0) ::close(map);
  return map >= 0;
}

/// Whether this process has a right, by its number, or CAP_SYS_ADMIN, which includes those of BPF. True if
/// that is not known.
bool has_right(unsigned number) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("CapEff:")) continue;
    const std::uint64_t rights = std::strtoull(line.c_str() + 7, nullptr, 16);
    return (rights >> number & 1) || (rights >> CAP_SYS_ADMIN & 1);
  }
  return true;
}

/// Whether programs may read the kernel's memory, as far as lockdown decides that.
bool is_locked_down() {
  char text[64] = {};
  const int file = ::open("/sys/kernel/security/lockdown", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t size = ::read(file, text, sizeof text - 1);
  ::close(file);
  return size > 0 && std::string_view(text).find("[confidentiality]") != std::string_view::npos;
}

} // namespace

extern "C" int sframe_bpf_missing(const char* btf_file, char* text, std::size_t size) {
  Texts missing(text, size);
  if (!btf_file && !(may_use_bpf() && has_right(CAP_PERFMON)))
    missing.add("the right to use BPF (CAP_BPF and CAP_PERFMON)");
  if (!btf_file && !has_right(CAP_CHECKPOINT_RESTORE))
    missing.add("the right to open what others have mapped (CAP_CHECKPOINT_RESTORE)");
  if (!btf_file && is_locked_down()) missing.add("the right to read the kernel's memory (lockdown)");
  const std::unique_ptr<btf, void (*)(btf*)> types(
      btf_file ? btf__parse(btf_file, nullptr) : btf__load_vmlinux_btf(), btf__free);
  if (!types) {
    missing.add("the kernel's type information (CONFIG_DEBUG_INFO_BTF)");
    return missing.count();
  }
  if (!has_member(types.get(), "mm_struct", "mm_mt")) missing.add("the tree of mappings (Linux 6.1)");
  if (!has_helper(types.get(), "BPF_FUNC_loop")) missing.add("bpf_loop() (Linux 5.17)");
  if (!has_helper(types.get(), "BPF_FUNC_task_pt_regs")) missing.add("bpf_task_pt_regs() (Linux 5.15)");
  return missing.count();
}
