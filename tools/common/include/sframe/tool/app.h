// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line that the four programs share: the common options, a help text with examples, and errors in
// the style of all messages. This is the only header that brings in CLI11.
//
//   sframe::tool::App app("sframe-dump", "Show what is in SFrame sections.", "  sframe-dump a.out\n");
//   std::vector<std::string> files;
//   app.cli().add_option("FILE", files, "...")->required();
//   if (auto exit_code = app.parse(argc, argv)) return *exit_code;
//   ...
//   return app.finish(output, code);

#pragma once

#include "sframe/base/budget.h"
#include "sframe/tool/messages.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::tool {

class Output;

/// What a program still needs once it knows its inputs. Paths as they were typed; "-" and empty ones are none.
struct SandboxNeeds {
  std::vector<std::string> read;  ///< files, and folders with all that is in them
  std::vector<std::string> write; ///< files to be made or replaced; App adds what -o names
  bool traces = false;            ///< other processes
};

class App {
public:
  enum class Errors : bool { not_in_file, in_file };

  /// Which of the optional common options the program has.
  struct Features {
    bool output = false;  ///< -o FILE
    bool threads = false; ///< -j N
  };

  /// `description` is the first line of the help text; `examples` its last part, each line indented by two
  /// blanks.
  App(std::string name, std::string description, std::string examples, Features features);
  App(std::string name, std::string description, std::string examples)
      : App(std::move(name), std::move(description), std::move(examples), Features()) {}

  /// For the program's own options. Options without a group stand under "Options", the common ones under
  /// "Common options".
  CLI::App& cli() { return cli_; }
  Messages& messages() { return messages_; }

  /// Parses the command line. Gives the exit code where the program is to end here: 0 after --help and
  /// --version, 2 after an error, which has been printed. Nothing where the program goes on. Also makes
  /// writing to a closed pipe an error instead of a signal.
  std::optional<int> parse(int argc, const char* const* argv);

  /// What -o named; "-" where it was not given.
  const std::string& output_path() const { return output_; }
  ColorMode color() const { return color_; }
  /// What each input may cost: --limits.
  Limits limits() const { return limits_; }
  /// How many threads to use: -j, or all cores; at least 1.
  unsigned threads() const;

  /// Gives up what is not needed, unless --no-sandbox was given: from now on the process can open nothing else, start
  /// no program and connect to nothing, as far as the kernel offers that (Landlock, seccomp). Before the first thread.
  void confine(SandboxNeeds needs) const;

  /// Runs `work`, which writes its results to the Output that it is given and returns the exit code: to standard
  /// output as they come, with messages in their place among them, or to the file that -o names, which appears when the
  /// work is done, whatever its exit code; only where it has failed and written nothing, there is no file. With
  /// Errors::in_file, the file has the error messages in their place: for formats that do not name what could not be
  /// read. Refuses to replace one of `inputs`. Returns the program's exit code.
  int run_with_output(std::span<const std::string> inputs, const std::function<int(Output&)>& work,
                      Errors errors = Errors::not_in_file);

  /// The end of the program: flushes and returns `code`, or 2 with a message where output could not be
  /// written. A reader that went away (`| head`) is no failure: returns `code` without a word.
  int finish(Output& output, int code);

private:
  int print(std::string_view text);

  CLI::App cli_;
  Messages messages_;
  std::string examples_;
  std::string output_ = "-";
  ColorMode color_ = ColorMode::automatic;
  Limits limits_ = Limits::standard;
  unsigned threads_ = 0;
  bool no_sandbox_ = false;
  bool quiet_ = false;
  bool verbose_ = false;
};

} // namespace sframe::tool
