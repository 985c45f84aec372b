// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "moved.h"

#include "sframe/base/program_path.h"
#include "sframe/tool/process_limits.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <unistd.h>

namespace sframe::unwind_tool {

namespace {

/// Options that change what is counted, and that sframe-profile does not have.
constexpr std::array without_equal = {"--thread",     "--max-frames", "--steppers", "--generate", "--sysroot",
                                      "--executable", "--no-files",   "--trust",    "--perf-map"};

std::string shortest(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.begin(), text.end(), number).ptr};
}

std::vector<std::string> profile_command(tool::App& app, const Options& options) {
  const double seconds = options.interval * static_cast<double>(options.count) / 1000;
  std::vector<std::string> command = {"sframe-profile",
                                      "-p",
                                      std::to_string(options.pid),
                                      "-e",
                                      "wall",
                                      "-F",
                                      std::to_string(1000 / options.interval),
                                      "-d",
                                      shortest(seconds),
                                      std::string("--format=") + options.format->name,
                                      "-o",
                                      app.output_path()};
  if (!options.files.sframe_dir.empty()) command.push_back("--sframe-dir=" + options.files.sframe_dir);
  for (const std::string& folder : options.files.more_debug_dirs) command.push_back("--debug-dir=" + folder);
  if (options.names == names::NameStyle::full) command.emplace_back("--names=full");
  if (options.names == names::NameStyle::raw) command.emplace_back("--names=raw");
  using Mode = tool::Debuginfod::Mode;
  if (options.offline || options.debuginfod.mode == Mode::off) command.emplace_back("--debuginfod=off");
  if (!options.offline && options.debuginfod.mode == Mode::ask) command.emplace_back("--debuginfod=ask");
  if (app.limits() == Limits::off) command.emplace_back("--limits=off");
  if (app.limits() == Limits::strict) command.emplace_back("--limits=strict");
  for (const char* const flag : {"--no-names", "--no-sandbox", "--quiet", "--verbose"})
    if (app.cli().count(flag) != 0) command.emplace_back(flag);
  return command;
}

} // namespace

int execute_profile(tool::App& app, const Options& options) {
  for (const char* const option : without_equal)
    if (app.cli().count(option) != 0) {
      app.messages().error({}, std::string(option) + " cannot be combined with --count and --format=" +
                                   options.format->name + ", which are now sframe-profile's");
      return tool::exit_failure;
    }
  if (options.interval > 1000) {
    app.messages().error({}, std::string("--interval: at most 1000 with --format=") + options.format->name);
    return tool::exit_failure;
  }
  std::vector<std::string> command = profile_command(app, options);
  std::string text;
  std::vector<char*> arguments;
  for (std::string& argument : command) {
    text += " " + argument;
    arguments.push_back(argument.data());
  }
  arguments.push_back(nullptr);
  app.messages().note({}, "counted samples are now those of:" + text);
  tool::lift_process_limits();
  errno = ENOENT;
  if (const auto profile = find_companion("sframe-profile")) ::execv(profile->c_str(), arguments.data());
  app.messages().error("sframe-profile", std::string("cannot be executed: ") + std::strerror(errno));
  return tool::exit_failure;
}

} // namespace sframe::unwind_tool
