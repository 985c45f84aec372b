// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which programs of record.bpf.c an event needs, and where they are attached: perf events for clocks, links
// for tracepoints and probes. Programs that are not needed are not loaded.

#include "programs.h"

#include "record.h"

#include "sframe/base/proc_text.h"

#include <algorithm>
#include <array>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/perf_event.h>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

// The object, as clang compiled it for the target bpf. The labels are global: linkers for AArch64 find the
// first of two local ones for both in the global offset table.
__asm__(".section .rodata.sframe_record, \"a\"\n"
        ".balign 16\n"
        ".globl sframe_record_begin, sframe_record_end\n"
        ".hidden sframe_record_begin, sframe_record_end\n"
        "sframe_record_begin:\n"
        ".incbin \"" SFRAME_RECORD_OBJECT "\"\n"
        "sframe_record_end:\n"
        ".previous\n");
extern "C" {
[[gnu::visibility("hidden")]] extern const std::byte sframe_record_begin[], sframe_record_end[];
}

namespace sframe::profile_tool {

namespace {

constexpr std::uint32_t ring_bytes = 4 << 20, event_ring_bytes = 8 << 20; ///< about 300 a record

constexpr auto waits_program = "on_waiting";

/// Where the kernel lists tracepoints, if it is mounted.
constexpr std::array tracepoint_folders = {"/sys/kernel/tracing/events/",
                                           "/sys/kernel/debug/tracing/events/"};
/// The reason, which is in no errno: what libbpf said first, and what the kernel does not accept in a
/// program. After that libbpf says what failed for this reason.
std::string reason;

int keep_reason(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  va_list again;
  va_copy(again, arguments);
  // NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): libbpf's own
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::string text(static_cast<std::size_t>(std::max(size, 0)), '\0');
  // NOLINTNEXTLINE(clang-diagnostic-format-nonliteral)
  std::vsnprintf(text.data(), text.size() + 1, format, arguments);
  // The kernel's log may be long: it says why in its last line before the statistics.
  const std::size_t statistics = text.rfind("\nprocessed ");
  if (statistics != std::string::npos && statistics > 0) {
    const std::size_t line = text.rfind('\n', statistics - 1) + 1; // 0: the message's first one
    reason += (reason.empty() ? "" : ": ") + text.substr(line, statistics - line);
  } else if (reason.empty()) {
    reason = text.substr(0, text.find_last_not_of('\n') + 1);
  }
  return size;
}

unexpected<Problem> failed(const std::string& what, int error) {
  std::array<char, 128> name{}; // libbpf has numbers of its own
  libbpf_strerror(error, name.data(), name.size());
  std::string text = what + ": " + name.data();
  if (const std::string why = std::exchange(reason, {}); !why.empty()) text += " (" + why + ")";
  return fail(text);
}

std::vector<const char*> needed_programs(const Event& event, bool all) {
  std::vector<const char*> names = {"sframe_list_mappings"};
  if (!all) names.insert(names.end(), {"on_fork", "on_exec", "on_exit"});
  if (event.has_clock()) names.push_back("on_clock");
  if (event.has_switches()) names.push_back("on_switch");
  using Kind = Event::Kind;
  if (event.kind == Kind::kprobe || event.kind == Kind::uprobe) names.push_back("on_probe");
  if (event.kind == Kind::tracepoint) names.insert(names.end(), {"on_tracepoint", "on_raw_tracepoint"});
  return names;
}

} // namespace

void Programs::Destroy::operator()(bpf_link* link) const {
  bpf_link__destroy(link);
}
void Programs::Destroy::operator()(bpf_object* object) const {
  bpf_object__close(object);
}
void Programs::Destroy::operator()(ring_buffer* ring) const {
  ring_buffer__free(ring);
}

void keep_libbpf_messages() {
  libbpf_set_print(keep_reason);
}

Programs::Programs() = default;

Programs::~Programs() {
  if (statistics_ >= 0) ::close(statistics_);
}

Result<void> Programs::load(const Event& event, bool all, std::uint32_t program) {
  event_ = event;
  const std::uint32_t ring = event.kind == Event::Kind::cpu ? ring_bytes : event_ring_bytes;
  const record_settings settings{.all = all,
                                 .recorder = static_cast<std::uint32_t>(::getpid()),
                                 .blocked_only = event.kind == Event::Kind::off_cpu,
                                 .program = program,
                                 .wake_bytes = ring / 4};
  std::vector<const char*> names = needed_programs(event, all);
  // A program that is started does not wait before.
  const bool needs_waits = event.has_switches() && (all || program == 0);
  if (needs_waits) names.push_back(waits_program);
  auto loaded = load(settings, names);
  if (!loaded && needs_waits) {
    without_waits_ = loaded.error().text();
    names.pop_back();
    loaded = load(settings, names);
  }
  if (!loaded) return loaded;
  const auto take = [](void* context, void* data, std::size_t bytes) {
    const auto& self = *static_cast<const Programs*>(context);
    (*self.take_)({static_cast<const std::byte*>(data), bytes});
    return 0;
  };
  const int records = bpf_object__find_map_fd_by_name(object_.get(), "records");
  ring_.reset(ring_buffer__new(records, take, this, nullptr));
  if (!ring_) return failed("the ring buffer cannot be read", errno);
  statistics_ = bpf_enable_stats(BPF_STATS_RUN_TIME);
  return {};
}

Result<void> Programs::load(const record_settings& settings, const std::vector<const char*>& names) {
  const auto size = reinterpret_cast<std::uintptr_t>(&sframe_record_end) -
                    reinterpret_cast<std::uintptr_t>(&sframe_record_begin); // not of one array
  bpf_object_open_opts options{};
  options.sz = sizeof options;
  options.object_name = "sframe_profile";
  reason.clear();
  object_.reset(bpf_object__open_mem(sframe_record_begin, size, &options));
  if (!object_) return failed("the BPF programs cannot be opened", errno);
  bpf_program* one = nullptr;
  bpf_object__for_each_program(one, object_.get()) {
    const std::string_view name = bpf_program__name(one);
    const bool is_needed = std::ranges::any_of(names, [&](const char* needed) { return name == needed; });
    bpf_program__set_autoload(one, is_needed);
  }
  bpf_map* const constants = bpf_object__find_map_by_name(object_.get(), ".rodata.settings");
  bpf_map* const records = bpf_object__find_map_by_name(object_.get(), "records");
  if (!constants || !records || bpf_map__set_initial_value(constants, &settings, sizeof settings) != 0 ||
      bpf_map__set_max_entries(records, static_cast<std::uint32_t>(settings.wake_bytes * 4)) != 0)
    return failed("the BPF programs cannot be prepared", errno);
  // Memory for what is not needed.
  if (settings.all) bpf_map__set_max_entries(bpf_object__find_map_by_name(object_.get(), "targets"), 1);
  if (!event_.has_switches())
    bpf_map__set_max_entries(bpf_object__find_map_by_name(object_.get(), "blocked"), 1);
  if (const int error = bpf_object__load(object_.get()))
    return failed("the kernel does not accept the BPF programs", error);
  return {};
}

bpf_program* Programs::find(const char* name) const {
  return bpf_object__find_program_by_name(object_.get(), name);
}

Result<void> Programs::attach(bpf_link* link, const std::string& what) {
  if (!link) return failed(what, errno);
  reason.clear(); // another way to attach it may have failed
  links_.emplace_back(link);
  return {};
}

Result<void> Programs::add_process(std::uint32_t pid, bool from_exec) {
  const std::uint32_t state = from_exec ? RECORD_FROM_EXEC : RECORD_NOW;
  const int map = bpf_object__find_map_fd_by_name(object_.get(), "targets");
  if (bpf_map_update_elem(map, &pid, &state, BPF_ANY) != 0)
    return failed("process " + std::to_string(pid) + " cannot be followed", errno);
  return {};
}

bool Programs::has_no_process() const {
  const int map = bpf_object__find_map_fd_by_name(object_.get(), "targets");
  std::uint32_t first = 0;
  return bpf_map_get_next_key(map, nullptr, &first) != 0 && errno == ENOENT;
}

Result<void> Programs::follow() {
  for (const char* const name : {"on_fork", "on_exec", "on_exit"}) {
    bpf_program* const program = find(name);
    if (!bpf_program__autoload(program)) continue;
    if (auto attached = attach(bpf_program__attach(program), "processes cannot be followed"); !attached)
      return attached;
  }
  return {};
}

Result<void> Programs::start(std::uint32_t frequency) {
  if (event_.has_switches()) {
    auto attached =
        attach(bpf_program__attach(find("on_switch")), "the scheduler's events cannot be recorded");
    if (!attached) return attached;
  }
  using Kind = Event::Kind;
  if (event_.has_clock()) return start_clock(frequency);
  if (event_.kind == Kind::tracepoint) return start_tracepoint();
  if (event_.kind == Kind::uprobe) return start_uprobe();
  return event_.kind == Kind::kprobe ? start_kprobe() : Result<void>();
}

Result<bpf::FileDescriptor> Programs::open_waits() {
  bpf_program* const program = find(waits_program);
  if (!without_waits_.empty()) return fail(without_waits_);
  if (!bpf_program__autoload(program)) return bpf::FileDescriptor(-1);
  auto attached = attach(bpf_program__attach_iter(program, nullptr), "threads cannot be listed");
  if (!attached) return unexpected(attached.error());
  bpf::FileDescriptor iterator(bpf_iter_create(bpf_link__fd(links_.back().get())));
  if (iterator.number() < 0) return failed("threads cannot be listed", errno);
  return iterator;
}

void Programs::leave_out_read() {
  struct Element {
    std::uint64_t busy;
    record_sample sample;
  };
  const auto element = std::make_unique<Element>();
  const int waited = bpf_object__find_map_fd_by_name(object_.get(), "waited");
  const int unread = bpf_object__find_map_fd_by_name(object_.get(), "unread");
  for (std::uint32_t number = 0; number < RECORD_SEARCHES; ++number)
    if (bpf_map_lookup_elem(waited, &number, element.get()) == 0 && element->busy)
      bpf_map_update_elem(unread, &element->sample.pid, &number, BPF_ANY);
}

/// A period, not a frequency: each sample then stands for the same time.
Result<void> Programs::start_clock(std::uint32_t frequency) {
  perf_event_attr attribute{};
  attribute.type = PERF_TYPE_SOFTWARE;
  attribute.size = sizeof attribute;
  attribute.config = PERF_COUNT_SW_CPU_CLOCK;
  attribute.sample_period = 1'000'000'000 / frequency;
  const int processors = libbpf_num_possible_cpus();
  for (int cpu = 0; cpu < processors; ++cpu) {
    const int event =
        static_cast<int>(::syscall(SYS_perf_event_open, &attribute, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
    if (event < 0 && (errno == ENODEV || errno == ENXIO)) continue; // it is off
    if (event < 0) return failed("the clock cannot be sampled", errno);
    bpf_link* const link = bpf_program__attach_perf_event(find("on_clock"), event);
    if (!link) ::close(event);
    if (auto attached = attach(link, "the clock cannot be sampled"); !attached) return attached;
  }
  return {};
}

/// By the directory of tracing if it is mounted; most tracepoints also work without.
Result<void> Programs::start_tracepoint() {
  const std::string place = event_.group + "/" + event_.name;
  const auto* const folder = std::ranges::find_if(
      tracepoint_folders, [](const char* path) { return ::access(path, R_OK | X_OK) == 0; });
  const bool is_mounted = folder != tracepoint_folders.end();
  if (is_mounted && ::access((*folder + place).c_str(), F_OK) != 0)
    return fail(event_.text() + ": there is no such tracepoint: no " + *folder + place);
  bpf_link* link =
      bpf_program__attach_tracepoint(find("on_tracepoint"), event_.group.c_str(), event_.name.c_str());
  if (!link) link = bpf_program__attach_raw_tracepoint(find("on_raw_tracepoint"), event_.name.c_str());
  if (!link && errno == ENOENT && !is_mounted)
    return fail(event_.text() + ": there is no such tracepoint, or tracefs is needed, which is not mounted "
                                "(mount -t tracefs tracefs /sys/kernel/tracing)");
  return attach(link, event_.text());
}

Result<void> Programs::start_kprobe() {
  if (::access("/sys/bus/event_source/devices/kprobe", F_OK) != 0)
    return fail(event_.text() +
                ": this kernel has no kprobes (CONFIG_KPROBE_EVENTS), or no sysfs is mounted");
  bpf_kprobe_opts options{};
  options.sz = sizeof options;
  options.offset = event_.offset;
  bpf_link* const link = bpf_program__attach_kprobe_opts(find("on_probe"), event_.name.c_str(), &options);
  if (!link && errno == ENOENT)
    return fail(event_.text() + ": the kernel has no such function (/proc/kallsyms has its functions)");
  if (!link && (errno == EINVAL || errno == EILSEQ))
    return fail(event_.text() + ": the kernel allows no probe there");
  return attach(link, event_.text());
}

Result<void> Programs::start_uprobe() {
  const bool has_path = event_.file.contains('/');
  if (has_path && ::access(event_.file.c_str(), R_OK) != 0)
    return fail(event_.text() + ": " + event_.file + ": " + std::strerror(errno));
  if (::access("/sys/bus/event_source/devices/uprobe", F_OK) != 0)
    return fail(event_.text() +
                ": this kernel has no uprobes (CONFIG_UPROBE_EVENTS), or no sysfs is mounted");
  bpf_uprobe_opts options{};
  options.sz = sizeof options;
  options.func_name = event_.name.empty() ? nullptr : event_.name.c_str();
  bpf_link* const link =
      bpf_program__attach_uprobe_opts(find("on_probe"), -1, event_.file.c_str(), event_.offset, &options);
  if (!link && errno == ENOENT) {
    if (!has_path && !reason.contains("symbol"))
      return fail(event_.text() + ": neither PATH nor the folders of libraries have " + event_.file +
                  " (a name with a '/' is a path)");
    return fail(event_.text() + ": the symbol tables of " + event_.file + " have no function " + event_.name +
                "; if it is stripped, +OFFSET names a place in the file");
  }
  if (!link && errno == LIBBPF_ERRNO__FORMAT)
    return fail(event_.text() + ": " + event_.file + " is no ELF file");
  if (!link && errno == EINVAL)
    return fail(event_.text() +
                ": the kernel allows no probe there: no code begins at this place of the file");
  return attach(link, event_.text());
}

int Programs::fd() const {
  return ring_buffer__epoll_fd(ring_.get());
}

void Programs::take(const TakeRecord& take) {
  take_ = &take;
  ring_buffer__consume(ring_.get());
  take_ = nullptr;
}

Programs::Lost Programs::lost() const {
  const int map = bpf_object__find_map_fd_by_name(object_.get(), "lost");
  const int processors = libbpf_num_possible_cpus();
  std::vector<std::uint64_t> values(static_cast<std::size_t>(std::max(processors, 1)));
  std::array<std::uint64_t, RECORD_NUM_LOST> sums{};
  for (std::uint32_t cause = 0; cause < RECORD_NUM_LOST; ++cause)
    if (bpf_map_lookup_elem(map, &cause, values.data()) == 0)
      for (const std::uint64_t value : values) sums[cause] += value;
  return {sums[RECORD_LOST_FULL], sums[RECORD_LOST_BLOCKED], sums[RECORD_LOST_UNREAD]};
}

std::vector<Programs::Runs> Programs::runs() const {
  std::vector<Runs> all;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object_.get()) {
    bpf_prog_info information{};
    std::uint32_t size = sizeof information;
    const int file = bpf_program__fd(program);
    if (bpf_program__name(program) == std::string_view(waits_program)) continue; // it may wait for memory
    if (file >= 0 && bpf_obj_get_info_by_fd(file, &information, &size) == 0 && information.run_cnt != 0)
      all.push_back({bpf_program__name(program), information.run_cnt, information.run_time_ns});
  }
  return all;
}

/// As the kernel counts them.
std::uint64_t Programs::map_bytes() const {
  std::uint64_t sum = 0;
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, object_.get()) {
    const std::string file = "/proc/self/fdinfo/" + std::to_string(bpf_map__fd(map));
    const std::string bytes = status_value(read_proc_file(file), "memlock");
    sum += std::strtoull(bytes.c_str(), nullptr, 10);
  }
  return sum;
}

} // namespace sframe::profile_tool
