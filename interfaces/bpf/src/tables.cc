// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a mapping to a table: open what is mapped there by /proc/PID/map_files, which works for deleted files
// and in containers; read its segments and build ID; find the table that another file has, or in the
// directory, or let sframe-gen make one; check it; give it to the kernel as an array map of its own; and
// enter the file.

#include "sframe/bpf/tables.h"

#include "file.h"

#include "sframe/bpf/read_table.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace sframe::bpf;

namespace {

constexpr std::uint64_t default_max_bytes = std::uint64_t{256} << 20;

bool operator<(const sframe_bpf_key& a, const sframe_bpf_key& b) {
  return std::memcmp(&a, &b, sizeof a) < 0;
}
struct KeyLess {
  bool operator()(const sframe_bpf_key& a, const sframe_bpf_key& b) const { return a < b; }
};

/// A table in the kernel.
struct LoadedTable {
  std::uint32_t slot;
  sframe_bpf_table header;
};

} // namespace

struct sframe_bpf_tables {
  sframe_bpf_tables(bpf_object* loaded, const sframe_bpf_options& given) : object(loaded) {
    if (given.directory) directory = given.directory;
    if (given.generator) generator = given.generator;
    if (given.max_bytes) max_bytes = given.max_bytes;
  }
  ~sframe_bpf_tables() {
    if (requests) ring_buffer__free(requests);
  }

  bool open();
  int add(int pid);
  void add(const sframe_bpf_mapping& mapping);
  std::optional<LoadedTable> table_for(int file, const MappedFile& image);
  std::optional<LoadedTable> load(std::span<const std::byte> bytes);

  bpf_object* object;
  std::string directory, generator;
  std::uint64_t max_bytes = default_max_bytes;
  int tables = -1, files = -1, ends = -1;
  ring_buffer* requests = nullptr;
  std::map<sframe_bpf_key, bool, KeyLess> known; ///< files with an entry that is final
  std::map<std::string, LoadedTable> by_build_id;
  std::uint32_t next_slot = 0;
  sframe_bpf_counts counts{};
};

namespace {

int take_request(void* context, void* data, std::size_t size) {
  sframe_bpf_mapping mapping;
  if (size < sizeof mapping) return 0;
  std::memcpy(&mapping, data, sizeof mapping);
  try { // libbpf is C
    static_cast<sframe_bpf_tables*>(context)->add(mapping);
    return 0;
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

} // namespace

bool sframe_bpf_tables::open() {
  const auto find = [&](const char* name) { return bpf_object__find_map_fd_by_name(object, name); };
  tables = find("sframe_tables");
  files = find("sframe_files");
  ends = find("sframe_counts");
  const int ring = find("sframe_requests");
  if (tables < 0 || files < 0 || ends < 0 || ring < 0) {
    errno = ENOENT;
    return false;
  }
  requests = ring_buffer__new(ring, take_request, this, nullptr);
  return requests != nullptr;
}

/// Gives the kernel a table. It is frozen: neither side can write to it afterwards.
std::optional<LoadedTable> sframe_bpf_tables::load(std::span<const std::byte> bytes) {
  const auto table = Table::parse(bytes);
  if (!table || table->words().big_endian != (std::endian::native == std::endian::big)) {
    ++counts.damaged;
    return std::nullopt;
  }
  if (bytes.size() > max_bytes - counts.bytes || next_slot == SFRAME_BPF_MAX_FILES) {
    ++counts.no_room;
    return std::nullopt;
  }
  bpf_map_create_opts options{};
  options.sz = sizeof options;
  options.map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP;
  const FileDescriptor map(bpf_map_create(BPF_MAP_TYPE_ARRAY, "sframe_table", sizeof(std::uint32_t),
                                          sizeof(std::uint64_t), static_cast<std::uint32_t>(bytes.size() / 8),
                                          &options));
  void* const memory =
      map.number() < 0 ? MAP_FAILED
                       : ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_SHARED, map.number(), 0);
  if (memory == MAP_FAILED) {
    ++counts.no_room;
    return std::nullopt;
  }
  std::memcpy(memory, bytes.data(), bytes.size());
  ::munmap(memory, bytes.size());
  bpf_map_freeze(map.number());
  const int number = map.number();
  if (bpf_map_update_elem(tables, &next_slot, &number, BPF_ANY) != 0) {
    ++counts.no_room;
    return std::nullopt;
  }
  ++counts.tables;
  counts.bytes += bytes.size();
  counts.rows += table->header().num_rows;
  return LoadedTable{next_slot++, table->header()};
}

std::optional<LoadedTable> sframe_bpf_tables::table_for(int file, const MappedFile& image) {
  if (!image.build_id.empty()) {
    if (const auto found = by_build_id.find(image.build_id); found != by_build_id.end()) {
      ++counts.shared;
      return found->second;
    }
  }
  auto bytes = read_table_file(directory, image.build_id);
  if (bytes.empty() && !generator.empty()) bytes = generate_table(generator, file);
  if (bytes.empty()) {
    ++counts.no_table;
    return std::nullopt;
  }
  const auto loaded = load(bytes);
  if (loaded && !image.build_id.empty()) by_build_id.emplace(image.build_id, *loaded);
  return loaded;
}

/// Enters the file of a mapping, if it is not known.
void sframe_bpf_tables::add(const sframe_bpf_mapping& mapping) {
  if (known.contains(mapping.key)) return;
  const FileDescriptor file = open_mapped(mapping);
  if (file.number() < 0) {
    ++counts.gone;
    bpf_map_delete_elem(files, &mapping.key);
    return;
  }
  sframe_bpf_file entry{};
  entry.state = SFRAME_BPF_FILE_NONE;
  if (const auto image = read_mapped_file(file.number())) {
    if (const auto table = table_for(file.number(), *image)) {
      entry.state = SFRAME_BPF_FILE_READY;
      entry.slot = table->slot;
      entry.table = table->header;
      entry.entry = image->entry;
      std::memcpy(entry.segments, image->segments, sizeof entry.segments);
    }
  } else {
    ++counts.not_elf;
  }
  if (bpf_map_update_elem(files, &mapping.key, &entry, BPF_ANY) != 0) {
    ++counts.no_room;
    return;
  }
  known.emplace(mapping.key, true);
}

int sframe_bpf_tables::add(int pid) {
  bpf_program* const program = bpf_object__find_program_by_name(object, "sframe_list_mappings");
  if (!program) {
    errno = ENOENT;
    return -1;
  }
  bpf_iter_link_info which{};
  which.task.pid = static_cast<std::uint32_t>(pid);
  bpf_iter_attach_opts options{};
  options.sz = sizeof options;
  options.link_info = &which;
  options.link_info_len = sizeof which;
  const std::unique_ptr<bpf_link, int (*)(bpf_link*)> link(bpf_program__attach_iter(program, &options),
                                                           bpf_link__destroy);
  if (!link) return -1;
  const FileDescriptor list(bpf_iter_create(bpf_link__fd(link.get())));
  if (list.number() < 0) return -1;
  // First all of it: while a table is made, the kernel's iterator would wait.
  const auto bytes = read_all(list.number());
  const std::size_t before = known.size();
  for (std::size_t at = 0; bytes.size() - at >= sizeof(sframe_bpf_mapping);
       at += sizeof(sframe_bpf_mapping)) {
    sframe_bpf_mapping mapping;
    std::memcpy(&mapping, bytes.data() + at, sizeof mapping);
    add(mapping);
  }
  return static_cast<int>(known.size() - before);
}

extern "C" {

sframe_bpf_tables* sframe_bpf_tables_new(bpf_object* object, const sframe_bpf_options* options) {
  if (!object || !options || options->size < sizeof *options) {
    errno = EINVAL;
    return nullptr;
  }
  try {
    auto tables = std::make_unique<sframe_bpf_tables>(object, *options);
    if (tables->open()) return tables.release();
    const int error = errno;
    tables.reset();
    errno = error;
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
  }
  return nullptr;
}

int sframe_bpf_tables_add(sframe_bpf_tables* tables, int pid) {
  try {
    return tables->add(pid);
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return -1;
  }
}

int sframe_bpf_tables_serve(sframe_bpf_tables* tables, int timeout) {
  const int count = ring_buffer__poll(tables->requests, timeout);
  if (count >= 0) return count;
  errno = -count;
  return -1;
}

void sframe_bpf_tables_count(const sframe_bpf_tables* tables, sframe_bpf_counts* counts) {
  const std::size_t size = counts->size;
  std::memcpy(counts, &tables->counts, size < sizeof *counts ? size : sizeof *counts);
  counts->size = size;
}

int sframe_bpf_tables_ends(const sframe_bpf_tables* tables, std::uint64_t ends[SFRAME_BPF_NUM_ENDS]) {
  const int processors = libbpf_num_possible_cpus();
  if (processors < 0) return -1;
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(processors));
  for (std::uint32_t end = 0; end < SFRAME_BPF_NUM_ENDS; ++end) {
    ends[end] = 0;
    if (bpf_map_lookup_elem(tables->ends, &end, counts.data()) != 0) return -1;
    for (const std::uint64_t count : counts) ends[end] += count;
  }
  return 0;
}

const char* sframe_bpf_end_text(unsigned end) {
#define SFRAME_TEXT(name, text) text,
  static const char* const texts[] = {"unfinished", SFRAME_BPF_FOR_EACH_END(SFRAME_TEXT)};
#undef SFRAME_TEXT
  return end < SFRAME_BPF_NUM_ENDS ? texts[end] : "unknown";
}

void sframe_bpf_tables_free(sframe_bpf_tables* tables) {
  delete tables;
}

} // extern "C"
