// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of the programs: common options, a help text with examples, and errors in the common
// message format.
//
//    sframe::tool::App app("sframe-dump", "Show what is in SFrame sections.", "  sframe-dump a.out\n");
//    std::vector<std::string> files;
//    app.cli().add_option("FILE", files, "...").required();
//    if (auto exit_code = app.parse(argc, argv)) return *exit_code;
//    ...
//    return app.finish(output, code);

#pragma once

#include "sframe/base/budget.h"
#include "sframe/tool/messages.h"
#include "sframe/tool/option_list.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::tool {

class Output;

/// What a program still needs after it has determined its inputs. Paths as they are given to output_file.h
/// later; "-" and empty paths are ignored.
struct SandboxNeeds {
  std::vector<std::string> read;          ///< files, and folders with their contents
  std::vector<std::string> found;         ///< files in these folders, if members of thin archives are read
  std::vector<std::string> members;       ///< files, never folders; App adds what thin archives name
  std::vector<std::string> write;         ///< files to create or replace; App adds the file of -o
  std::vector<std::string> write_below;   ///< folders, for any files in them
  std::vector<std::string> replace_below; ///< files, and folders of which existing files are replaced
  bool symbolic_links = false;            ///< makes links and folder modes where it writes
  bool traces = false;                    ///< traces other processes
  bool reads_members = false;             ///< reads the files that thin archives in `read` and `found` name
  unsigned writers = 1;                   ///< files that are written at the same time
};

class App {
public:
  enum class Errors : bool { not_in_file, in_file };

  /// The optional common options that the program has, and parts of its help text.
  struct Features {
    bool output = false;                ///< -o FILE
    bool threads = false;               ///< -j N
    std::vector<Term> environment = {}; ///< variables that the program reads
    std::vector<Term> exit_codes = {};
  };

  /// `description` is the first line of the help text; `examples` is its last part (ProgramText).
  App(const std::string& name, const std::string& description, const std::string& examples,
      Features features);
  App(const std::string& name, const std::string& description, const std::string& examples)
      : App(name, description, examples, Features()) {}

  /// For the program's own options. Options without a group are listed under "Options", the common ones under
  /// "Common options".
  OptionList& cli() { return cli_; }
  Messages& messages() { return messages_; }

  /// Parses the command line. Returns the exit code if the program should end: 0 after --help and --version,
  /// 2 after an error, which has been printed. Also makes writing to a closed pipe an error instead of a
  /// signal, and limits the process (process_limits.h).
  std::optional<int> parse(int argc, const char* const* argv);

  /// The argument of -o; "-" if it was not given.
  const std::string& output_path() const { return output_; }
  ColorMode color() const { return color_; }
  /// The limits for each input: --limits.
  Limits limits() const { return limits_; }
  /// The number of threads: -j, or all cores; at least 1.
  unsigned threads() const;

  /// Drops privileges that are not needed, unless --no-sandbox was given. The process can then open no other
  /// file, start no program and make no connection, as far as the kernel supports that (Landlock, seccomp).
  /// Call before the first thread starts.
  void confine(SandboxNeeds needs) const;

  /// Runs `work`, which writes its results to the given Output and returns the exit code. Output goes to
  /// standard output, interleaved with messages, or to the file of -o. That file is created when the work is
  /// done, whatever its exit code, unless the work failed without writing anything. With Errors::in_file,
  /// error messages are written to the file too: for formats that do not name unreadable inputs. Refuses to
  /// replace one of `inputs`. Returns the program's exit code.
  int run_with_output(std::span<const std::string> inputs, const std::function<int(Output&)>& work,
                      Errors errors = Errors::not_in_file);

  /// Ends the program: flushes and returns `code`, or 2 with a message if output could not be written. A
  /// reader that closed the pipe (`| head`) is not an error: returns `code` without a message.
  int finish(Output& output, int code);

private:
  void add_common_options();
  int print(std::string_view text);

  OptionList cli_;
  Messages messages_;
  bool has_output_, has_threads_;
  bool has_common_options_ = false;
  std::string output_ = "-";
  ColorMode color_ = ColorMode::automatic;
  Limits limits_ = Limits::standard;
  unsigned threads_ = 0;
  bool no_sandbox_ = false;
  bool quiet_ = false;
  bool verbose_ = false;
};

} // namespace sframe::tool
