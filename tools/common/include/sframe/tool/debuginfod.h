// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files from debuginfod servers (debuginfod(8)), by elfutils' libdebuginfod, which is opened at run time: its
// environment variables (DEBUGINFOD_URLS and others) and its cache apply.
//
// The sandbox forbids connections. So a process is started before the program enters it, which does nothing
// but fetch files for this one. It reads nothing of the inputs; it gets build IDs and names.

#pragma once

#include "sframe/files/file_server.h"
#include "sframe/tool/messages.h"
#include "sframe/tool/option_list.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <tuple>
#include <vector>

namespace sframe::tool {

class Debuginfod final : public files::FileServer {
public:
  /// --debuginfod.
  enum class Mode : std::uint8_t { off, ask, on };

  struct Settings {
    Mode mode = Mode::on;
    std::chrono::seconds time_limit{}; ///< for all files of a run together
  };

  /// True if the environment names servers.
  static bool has_servers();

  /// The folder in which libdebuginfod keeps files, for SandboxNeeds::read; made, since only a folder that
  /// exists can be allowed. Empty if it is not known.
  static std::string make_cache_folder();

  /// Starts the process. Call before the sandbox and before any thread. nullptr if it cannot be started.
  static std::shared_ptr<Debuginfod> start(Messages& messages, Settings settings);

  /// Ends the process.
  ~Debuginfod() override;
  Debuginfod(const Debuginfod&) = delete;
  Debuginfod& operator=(const Debuginfod&) = delete;

  /// A file from the cache or a server. Shows progress on a terminal. After a failure that is not "no such
  /// file", nothing more is fetched, with one warning: each further attempt would take as long. Thread-safe:
  /// others wait.
  Result<std::string> fetch(files::ServedFile what, std::span<const std::byte> build_id,
                            std::string_view name = {}) override;

  /// True once a file was asked for.
  bool is_used() const { return is_used_; }

  /// True if something was not fetched, for a reason of which there was a warning. Thread-safe.
  bool has_failed();

  /// While it is set, fetch() fails at once: the process walked must not stand still for a server.
  void pause(bool paused) { paused_ = paused; }

private:
  Debuginfod(Messages& messages, Settings settings, pid_t process, int requests, int answers);
  struct Answer;
  Result<std::string> ask(std::uint8_t what, const std::string& id, const std::string& name);
  Result<std::string> give_up(const std::string& why);
  Result<std::string> refuse_large(files::ServedFile what, const std::string& id);
  bool may_fetch();
  bool read(void* to, std::size_t size);

  Messages& messages_;
  Settings settings_;
  pid_t process_;
  int requests_, answers_;
  std::mutex mutex_; ///< of fetch()
  bool paused_ = false;
  std::atomic<bool> is_used_ = false;
  std::optional<bool> allowed_; ///< the user's answer
  bool has_refused_ = false;    ///< a file that is too large
  std::string stopped_;         ///< why nothing more is fetched
  std::chrono::steady_clock::duration used_{};
  std::chrono::steady_clock::time_point deadline_;
  std::map<std::tuple<files::ServedFile, std::string, std::string>, Result<std::string>> known_;
};

/// What a user says of the servers.
struct DebuginfodOptions {
  std::optional<Debuginfod::Mode> mode;              ///< --debuginfod; empty: not given
  Debuginfod::Mode otherwise = Debuginfod::Mode::on; ///< if it is not given
  std::uint32_t timeout = 120;                       ///< seconds, for all files together
};

/// Adds --debuginfod, which is returned, and --debuginfod-timeout to a group of options; nullptr: to none.
Option add_debuginfod_options(OptionList& cli, DebuginfodOptions& options, const char* group);

/// The variables of the environment that apply, for help texts.
std::vector<Term> debuginfod_environment();

/// The message if files are to be fetched and the environment names no server.
std::optional<std::string> wrong_with_servers(const DebuginfodOptions& options);

/// Debuginfod::start() if the options and the environment say so; else nullptr.
std::shared_ptr<Debuginfod> start_debuginfod(const DebuginfodOptions& options, Messages& messages);

} // namespace sframe::tool
