// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All that is needed to walk one core: the process, a walker, names, and what precedes the stacks.

#pragma once

#include "languages.h"
#include "options.h"
#include "printer.h"

#include "sframe/base/problem.h"
#include "sframe/core/core_file.h"
#include "sframe/tool/messages.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sframe::unwind_tool {

/// What cores that are walked one after the other share. For one thread at a time.
struct SharedFiles {
  std::shared_ptr<modules::OpenFiles> files = std::make_shared<modules::OpenFiles>(most);
  std::shared_ptr<modules::DebugInfoCache> debug_info =
      std::make_shared<modules::DebugInfoCache>(); ///< of `files`

  static constexpr std::size_t most = 256;
};

class CoreWalk {
public:
  struct Failure {
    bool is_option = false; ///< not of the core, but of the command line
    std::string what;
  };

  /// `core` and `options` must outlive it; so must `shared`, which may be nullptr.
  CoreWalk(const Options& options, const std::string& path, const core::CoreFile& core, Limits limits,
           SharedFiles* shared)
      : options_(options), path_(path), core_(core), limits_(limits), shared_(shared) {}

  /// Opens the process, and chooses the threads that the options request. To be called first.
  std::optional<Failure> open();

  process::CoreProcess& process() { return *process_; }
  unwind::Walker& walker() { return *walker_; }
  Symbolizer& symbolizer() { return *symbolizer_; }
  /// nullptr if the options exclude all.
  Languages* languages() { return languages_ ? &*languages_ : nullptr; }
  /// Not empty.
  std::span<const process::Thread* const> threads() const { return threads_; }

  /// With the signature, if the thread that died is one of the threads: that takes a short walk, unless no
  /// stacks are wanted.
  CoreHeader header(crash::CoreOrigin origin);

  /// The signature of the thread that died alone. Changes the walker's limit of frames.
  crash::Signature signature();

  /// Adds the packages of the program and of the module in which it died.
  void find_packages(CoreHeader& header, crash::InstalledPackages& installed);

  /// Reports why frames are missing or doubtful; true if any are.
  bool report(tool::MessageSink& messages);

private:
  unwind::StepperList steppers();
  crash::Signature signature(const std::optional<crash::HandledFault>& fault);
  /// Where it happened: in the frame of the first fault, if there is one.
  unwind::FrameState start_of(const std::optional<crash::HandledFault>& fault) const;

  const Options& options_;
  const std::string& path_;
  const core::CoreFile& core_;
  Limits limits_;
  SharedFiles* shared_;
  std::unique_ptr<process::CoreProcess> process_;
  std::vector<const process::Thread*> threads_;
  std::optional<unwind::Walker> walker_;
  std::optional<Symbolizer> symbolizer_;
  std::optional<Languages> languages_;
};

} // namespace sframe::unwind_tool
