// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that is started to be recorded: it waits before its first instruction until all is ready.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/tool/messages.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sframe::profile_tool {

class StartedProgram {
public:
  StartedProgram() = default;
  /// Ends one that was never let go; others go on.
  ~StartedProgram();
  StartedProgram(const StartedProgram&) = delete;
  StartedProgram& operator=(const StartedProgram&) = delete;

  /// A process that will execute the program. Before the first thread is started.
  Result<void> prepare(const std::vector<std::string>& command);
  /// Lets it execute it. Fails if that could not be executed.
  Result<void> go();

  const std::string& name() const { return name_; }
  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
  /// poll(2) reports it as readable when the program has ended.
  int end_fd() const { return end_; }
  void send(int signal) const;
  /// What was started for the recording ends with it: by a signal that it was sent, or by SIGTERM. Reports
  /// how it has ended otherwise, or that it still runs. Nothing if no program was started.
  void finish(bool is_interrupted, tool::MessageSink& messages);

private:
  bool wait(int timeout);
  std::string end_text() const;

  std::string name_;
  int pid_ = 0;
  int status_ = 0; ///< of waitpid()
  int end_ = -1, go_ = -1, failure_ = -1;
};

} // namespace sframe::profile_tool
