// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program that does a given job cannot be faster than: a whole command that only does what the job
// needs. bench/run times it next to the programs.
//
//    limit [--read FILE[:OFFSET:SIZE]]... [--write BYTES] [--decode FILE] [--stacks CORE] [--stop PID]
//
// --read    reads these bytes of a mapped file, each once
// --write   makes so many bytes in memory and writes them to standard output
// --decode  decodes all executable bytes of an ELF file with Zydis, with operands
// --stacks  reads 64 KiB of each thread's stack in a core
// --stop    stops the threads of a process, copies 64 KiB of their stacks, lets them go: the system
//           calls of a walk
//
// Without options: a program that does nothing.

#include <Zydis/Zydis.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <memory>
#include <span>
#include <string>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

/// So that nothing is optimised away.
volatile std::uint64_t sink;

[[noreturn]] void give_up(const std::string& what) {
  std::perror(what.c_str());
  std::exit(EXIT_FAILURE);
}

std::span<const std::uint8_t> map(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (file < 0 || ::fstat(file, &info) != 0) give_up(path);
  const auto size = static_cast<std::size_t>(info.st_size);
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (start == MAP_FAILED) give_up(path);
  ::close(file);
  return {static_cast<const std::uint8_t*>(start), size};
}

void sum(std::span<const std::uint8_t> bytes) {
  std::uint64_t sum = 0, word = 0;
  for (std::size_t at = 0; at + sizeof word <= bytes.size(); at += sizeof word) {
    std::memcpy(&word, &bytes[at], sizeof word);
    sum += word;
  }
  sink = sum;
}

void read(std::string what) {
  std::size_t offset = 0, size = SIZE_MAX;
  if (const auto colon = what.find(':'); colon != std::string::npos) {
    char* end = nullptr;
    offset = std::strtoull(what.c_str() + colon + 1, &end, 0);
    if (*end == ':') size = std::strtoull(end + 1, nullptr, 0);
    what.resize(colon);
  }
  auto bytes = map(what);
  bytes = bytes.subspan(std::min(offset, bytes.size()));
  sum(bytes.first(std::min(size, bytes.size())));
}

void write(std::uint64_t bytes) {
  std::vector<char> block(256 * 1024);
  for (char fill = 0; bytes != 0; ++fill) {
    const std::size_t size = std::min<std::uint64_t>(bytes, block.size());
    std::fill_n(block.begin(), size, fill);
    if (::write(STDOUT_FILENO, block.data(), size) != static_cast<ssize_t>(size)) give_up("write");
    bytes -= size;
  }
}

std::vector<Elf64_Phdr> segments_of(const std::string& path, std::span<const std::uint8_t> file) {
  Elf64_Ehdr header;
  if (file.size() < sizeof header) give_up(path);
  std::memcpy(&header, file.data(), sizeof header);
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (header.e_phoff > file.size() || file.size() - header.e_phoff < segments.size() * sizeof segments[0])
    give_up(path);
  std::memcpy(segments.data(), &file[header.e_phoff], segments.size() * sizeof segments[0]);
  return segments;
}

void decode(const std::string& path) {
  const auto file = map(path);
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  std::uint64_t count = 0;
  for (const Elf64_Phdr& segment : segments_of(path, file)) {
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
    const auto code = file.subspan(segment.p_offset, segment.p_filesz);
    for (std::size_t at = 0; at < code.size(); ++count) {
      const bool good =
          ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, &code[at], code.size() - at, &instruction, operands));
      at += good ? instruction.length : 1;
    }
  }
  sink = count;
}

constexpr std::size_t stack_bytes = 64 * 1024;

void read_stacks(const std::string& path) {
  const auto file = map(path);
  const auto segments = segments_of(path, file);
  for (const Elf64_Phdr& notes : segments) {
    if (notes.p_type != PT_NOTE) continue;
    Elf64_Nhdr note;
    const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
    for (std::size_t at = 0; at + sizeof note <= notes.p_filesz;) {
      std::memcpy(&note, &file[notes.p_offset + at], sizeof note);
      at += sizeof note + padded(note.n_namesz);
      if (note.n_type == NT_PRSTATUS) {
        elf_prstatus status;
        user_regs_struct registers;
        std::memcpy(&status, &file[notes.p_offset + at], sizeof status);
        std::memcpy(&registers, &status.pr_reg, sizeof registers);
        for (const Elf64_Phdr& segment : segments)
          if (segment.p_type == PT_LOAD && registers.rsp - segment.p_vaddr < segment.p_filesz) {
            const std::size_t offset = registers.rsp - segment.p_vaddr;
            sum(file.subspan(segment.p_offset + offset, std::min(segment.p_filesz - offset, stack_bytes)));
          }
      }
      at += padded(note.n_descsz);
    }
  }
}

void stop(int pid) {
  std::vector<int> threads;
  DIR* const tasks = ::opendir(("/proc/" + std::to_string(pid) + "/task").c_str());
  if (!tasks) give_up("task");
  while (const dirent* entry = ::readdir(tasks))
    if (const auto id = static_cast<int>(std::strtol(entry->d_name, nullptr, 10))) threads.push_back(id);
  ::closedir(tasks);
  for (const int id : threads) ::ptrace(PTRACE_SEIZE, id, nullptr, nullptr);
  for (const int id : threads) ::ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr);
  const auto stack = std::make_unique<std::uint8_t[]>(stack_bytes);
  for (const int id : threads) {
    int status = 0;
    if (::waitpid(id, &status, __WALL) != id) continue;
    user_regs_struct registers{};
    iovec to{&registers, sizeof registers};
    ::ptrace(PTRACE_GETREGSET, id, NT_PRSTATUS, &to);
    // Stops at the end of the mapping.
    iovec local{stack.get(), stack_bytes}, remote{reinterpret_cast<void*>(registers.rsp), stack_bytes};
    ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
  }
  for (const int id : threads) ::ptrace(PTRACE_DETACH, id, nullptr, nullptr);
}

} // namespace

int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    if (option == "--read") read(value);
    if (option == "--write") write(std::strtoull(value.c_str(), nullptr, 0));
    if (option == "--decode") decode(value);
    if (option == "--stacks") read_stacks(value);
    if (option == "--stop") stop(static_cast<int>(std::strtol(value.c_str(), nullptr, 10)));
  }
}
