// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many stacks as a tree of their common frames, from the outermost frame:
//
//   40  clone3 + 0x2c  (libc.so.6)
//       start_thread + 0x2d3  (libc.so.6)
//   |- 38  worker  (server)
//   |      wait_for_job + 0x2a  (server)
//   |      TID 11, 12, 13, 14, 15, 16, 17, 18 and 30 more
//   `-  2  reader + 0x13  (server)
//          TID 49, 50
//
// The number is that of the threads in which the frames are. Frames are common if their functions are; an
// offset is printed if it is the same in all.

#pragma once

#include "printer.h"

#include "sframe/tool/output.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::unwind_tool {

class StackTree {
public:
  struct Frame {
    std::string function; ///< or what there is instead
    std::string module;   ///< may be empty
    std::optional<std::uint64_t> offset;
    bool heuristic = false, signal_frame = false;
  };

  static Frame frame_of(const unwind::Frame& frame, const SymbolizedFrame& symbols);

  /// Starts a stack. Then its frames follow, outermost first.
  void begin(std::size_t count) { at_ = 0, count_ = count; }
  void add(const Frame& frame);
  /// Ends the stack. `members`: what it is the stack of, for people: "TID 11, 12".
  void end(std::string members);

  /// True if any two stacks have a common part.
  bool has_branches() const { return has_branches_; }

  void print(tool::Output& out) const;

private:
  struct Node {
    std::uint32_t label = 0;
    std::size_t count = 0;
    std::optional<std::uint64_t> offset;
    bool is_offset_shared = true, heuristic = false, signal_frame = false;
    std::vector<std::uint32_t> children;
    std::vector<std::string> members; ///< of the stacks that end here
  };

  void print_line(tool::Output& out, const Node& node, std::size_t repeats, bool is_offset_shared) const;

  std::vector<Node> nodes_ = std::vector<Node>(1); ///< the first is outside all frames
  std::vector<std::pair<std::string, std::string>> labels_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> label_numbers_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> child_numbers_; ///< by node and label
  std::uint32_t at_ = 0;
  std::size_t count_ = 0;
  bool has_branches_ = false;
};

/// "TID 11, 12, 13 and 5 more".
std::string shortened_list(std::string_view before, const std::vector<std::string>& items);

/// A printer that collects stacks, and prints them as a tree at the end. What has no common parts, and the
/// stack of the thread that died, is printed by `text`.
std::unique_ptr<Printer> make_tree_printer(tool::Output& out, Symbolizer& symbolizer,
                                           std::unique_ptr<Printer> text);

} // namespace sframe::unwind_tool
