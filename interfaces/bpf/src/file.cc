// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files are those of any process, and may change while they are read: every number is checked, and reads
// are by pread(), of a few kilobytes.

#include "file.h"

#include "sframe/base/processor_time.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <span>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sframe::bpf {

namespace {

constexpr std::size_t max_headers = 64, max_notes = 64 << 10, max_path = 4096,
                      max_table = std::size_t{1} << 30;
/// Of sframe-gen at work, and of its end after its output has ended.
constexpr std::chrono::minutes longest_generation{10};
constexpr std::chrono::seconds longest_end{10};
constexpr int urgent_nice = -19; ///< relative to this process
/// Most tables have fewer: sframe-gen need not wait until they are read.
constexpr int pipe_bytes = 1024 << 10;

bool read_at(int file, std::uint64_t offset, void* to, std::size_t size) {
  return ::pread(file, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

/// The build ID in the notes; empty if there is none.
std::string find_build_id(std::span<const std::byte> notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t name = (std::size_t{note.n_namesz} + 3) & ~std::size_t{3};
    const std::size_t contents = (std::size_t{note.n_descsz} + 3) & ~std::size_t{3};
    notes = notes.subspan(sizeof note);
    if (name > notes.size() || note.n_descsz > notes.size() - name) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes.data(), "GNU", 4) == 0)
      return {reinterpret_cast<const char*>(notes.data()) + name, note.n_descsz};
    notes = notes.subspan(std::min(name + contents, notes.size()));
  }
  return {};
}

std::string read_interpreter(int file, const Elf64_Phdr& header) {
  std::string path(std::min<std::size_t>(header.p_filesz, max_path), '\0');
  if (!read_at(file, header.p_offset, path.data(), path.size())) return {};
  path.resize(std::min(path.find('\0'), path.size()));
  return path;
}

std::string read_build_id(int file, const Elf64_Phdr& header) {
  std::vector<std::byte> notes(std::min<std::size_t>(header.p_filesz, max_notes));
  if (!read_at(file, header.p_offset, notes.data(), notes.size())) return {};
  return find_build_id(notes);
}

/// That of this process, which is that of all, as a file.
FileDescriptor copy_vdso() {
  const auto* const bytes = reinterpret_cast<const std::byte*>(::getauxval(AT_SYSINFO_EHDR));
  FileDescriptor file(bytes ? ::memfd_create("vdso", MFD_CLOEXEC) : -1);
  if (file.number() < 0) return file;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  const std::size_t size = header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize; // its end
  if (::write(file.number(), bytes, size) != static_cast<ssize_t>(size)) return FileDescriptor(-1);
  ::lseek(file.number(), 0, SEEK_SET); // sframe-gen reads it from the start
  ::fchmod(file.number(), 0400);       // nobody else can open it
  return file;
}

} // namespace

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) ::close(number_);
}

FileDescriptor open_mapped(const sframe_bpf_mapping& mapping) {
  if (mapping.key.file_system == SFRAME_BPF_VDSO) return copy_vdso();
  char path[96];
  std::snprintf(path, sizeof path, "/proc/%u/map_files/%llx-%llx", mapping.process.pid, mapping.start,
                mapping.end);
  FileDescriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  struct stat now {};
  if (file.number() < 0 || ::fstat(file.number(), &now) != 0 ||
      static_cast<std::uint64_t>(now.st_size) != mapping.key.size || !S_ISREG(now.st_mode))
    return FileDescriptor(-1);
  return file;
}

std::optional<MappedFile> read_mapped_file(int file) {
  Elf64_Ehdr header;
  if (!read_at(file, 0, &header, sizeof header)) return std::nullopt;
  const unsigned char order = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != order || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phnum > max_headers)
    return std::nullopt;
  std::vector<Elf64_Phdr> headers(header.e_phnum);
  if (!read_at(file, header.e_phoff, headers.data(), headers.size() * sizeof(Elf64_Phdr)))
    return std::nullopt;
  MappedFile out;
  out.type = header.e_type;
  out.machine = header.e_machine;
  out.entry = header.e_entry;
  std::size_t count = 0;
  for (const Elf64_Phdr& one : headers) {
    if (one.p_type == PT_INTERP) out.interpreter = read_interpreter(file, one);
    if (one.p_type == PT_NOTE && out.build_id.empty()) out.build_id = read_build_id(file, one);
    if (one.p_type != PT_LOAD || !(one.p_flags & PF_X)) continue;
    if (count == SFRAME_BPF_MAX_SEGMENTS) return std::nullopt;
    out.segments[count++] = {one.p_offset, one.p_filesz, one.p_vaddr};
  }
  return out;
}

std::optional<uid_t> owner_of_changes(int file) {
  struct stat now {};
  if (::fstat(file, &now) != 0) return static_cast<uid_t>(-1);
  const bool is_own = now.st_uid == 0 || now.st_uid == ::geteuid();
  if (is_own && (now.st_mode & (S_IWGRP | S_IWOTH)) == 0) return std::nullopt;
  return now.st_uid;
}

std::vector<std::byte> read_all(int file) {
  std::vector<std::byte> bytes;
  for (std::size_t used = 0; used < max_table;) {
    bytes.resize(std::max<std::size_t>(used * 2, 1 << 16));
    const ssize_t size = ::read(file, bytes.data() + used, bytes.size() - used);
    if (size < 0 && errno == EINTR) continue;
    if (size > 0) used += static_cast<std::size_t>(size);
    bytes.resize(used);
    if (size <= 0) break;
  }
  return bytes;
}

Generation::Generation(const std::string& generator, const std::string& from, int file, bool is_urgent)
    : output_(-1) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  ::fcntl(ends[1], F_SETPIPE_SZ, pipe_bytes);
  FileDescriptor input_end(ends[0]);
  const FileDescriptor to(ends[1]);
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return;
  posix_spawn_file_actions_adddup2(&actions, file, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
                                   0); // what fails is counted
  std::string name = generator, source = "--from=" + from;
  char input[] = "-", output[] = "-o", emit[] = "--emit=bpf-table", quiet[] = "-q",
       report[] = "--report=none";
  char* const arguments[] = {name.data(), input, output, input, emit, quiet, report, source.data(), nullptr};
  const int failed = ::posix_spawnp(&child_, generator.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed || ::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return;
  if (is_urgent)
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(child_), ::getpriority(PRIO_PROCESS, 0) + urgent_nice);
  output_ = std::move(input_end);
  deadline_ = Clock::now() + longest_generation;
}

void Generation::swap(Generation& other) noexcept {
  std::swap(output_, other.output_);
  std::swap(child_, other.child_);
  std::swap(deadline_, other.deadline_);
  std::swap(is_read_, other.is_read_);
  std::swap(used_time_, other.used_time_);
  bytes_.swap(other.bytes_);
}

/// Waits for the program, which is killed first if it has failed; its status decides about the bytes.
void Generation::end(bool has_failed) {
  if (child_ <= 0) return;
  if (has_failed) ::kill(child_, SIGKILL);
  int status = 0;
  rusage usage{};
  while (::wait4(child_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  child_ = 0;
  used_time_ = processor_time(usage);
  // 1: with entries that could not be read
  if (has_failed || !WIFEXITED(status) || WEXITSTATUS(status) > 1) bytes_.clear();
}

/// True at its end, or where it is too large.
bool Generation::read_output() {
  constexpr std::size_t piece = 1 << 16;
  for (;;) {
    const std::size_t used = bytes_.size();
    bytes_.resize(used + piece);
    const ssize_t size = ::read(output(), bytes_.data() + used, piece);
    bytes_.resize(used + static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return false;
    if (size <= 0 || bytes_.size() > max_table) return true;
  }
}

bool Generation::advance() {
  const auto now = Clock::now();
  if (!is_read_ && read_output()) {
    is_read_ = true;
    deadline_ = now + longest_end;
    output_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, child_, 0u)));
  }
  siginfo_t ended{};
  const bool is_waited =
      is_read_ && ::waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0;
  // ECHILD: SIGCHLD is ignored, or the caller reaps all of its children. The exit status is lost.
  const bool has_ended = is_waited ? ended.si_pid != 0 : is_read_ && errno == ECHILD;
  if (!has_ended && now < deadline_ && bytes_.size() <= max_table) return false;
  output_ = FileDescriptor(-1);
  end(!has_ended || bytes_.size() > max_table);
  return true;
}

} // namespace sframe::bpf
