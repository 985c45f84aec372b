// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// StackTree is a trie over pairs of function and module, with the outermost frame at the root: begin(), add()
// for each frame and end() insert a stack, at the cost of a hash lookup for each frame. print() goes depth
// first with a list of its own, not by recursion, since stacks may be very deep; chains without branches are
// printed in one column. TreePrinter collects a program's stacks for it.

#include "stack_tree.h"

#include "sframe/base/problem.h"

#include <algorithm>
#include <ranges>

namespace sframe::unwind_tool {

namespace {

constexpr std::size_t most_members = 8;  ///< in a line
constexpr std::size_t most_indents = 32; ///< deeper branches are not indented further

/// Collects what is printed, because a tree has no line until all stacks are known.
class TreePrinter final : public Printer {
public:
  TreePrinter(tool::Output& out, Symbolizer& symbolizer, std::unique_ptr<Printer> text)
      : out_(out), symbolizer_(symbolizer), text_(std::move(text)) {}

  void begin(process::ProcessState& process, const CoreHeader* core) override {
    if (core) crashed_ = core->crash.tid;
    text_->begin(process, core);
  }
  void begin_thread(std::span<const process::Thread* const> threads) override {
    stacks_.emplace_back().threads.assign(threads.begin(), threads.end());
  }
  void begin_goroutine(std::span<const languages::Goroutine* const> goroutines) override {
    stacks_.emplace_back();
    for (const languages::Goroutine* goroutine : goroutines) stacks_.back().goroutines.push_back(*goroutine);
  }
  void python(const languages::PythonStack& stack) override { stacks_.back().python = stack; }
  void frame(const unwind::Frame& frame, const unwind::Registers&) override {
    constexpr std::size_t rest_of_line = 48; // address, offset, how it was found
    const SymbolizedFrame& symbols = symbolizer_.symbolize(frame);
    kept_ += rest_of_line + (symbols.function ? symbols.function->name.size() : 0) +
             (symbols.module ? symbols.module->name().size() : 0);
    stacks_.back().frames.push_back(frame);
  }
  std::uint64_t kept() const override { return kept_; }
  void comparison(std::span<const unwind::StepperComparison>) override {}
  void end_thread(const unwind::WalkEnd& end) override { stacks_.back().end = end; }

  void end(process::ProcessState& process) override {
    StackTree tree;
    std::size_t threads = 0, goroutines = 0;
    for (const Stack& stack : stacks_) {
      if (has_crashed(stack)) continue;
      add(stack, tree);
      threads += stack.threads.size();
      goroutines += stack.goroutines.size();
    }
    for (const Stack& stack : stacks_)
      if (has_crashed(stack) || !tree.has_branches()) replay(stack);
    if (tree.has_branches()) {
      out_ << '\n';
      out_.decimal(threads) << " threads" << (threads == all_threads() ? "" : ", without the one above");
      if (goroutines) out_ << ", ", out_.decimal(goroutines) << " goroutines";
      out_ << ":\n";
      tree.print(out_);
    }
    text_->end(process);
  }

private:
  struct Stack {
    std::vector<const process::Thread*> threads;
    std::vector<languages::Goroutine> goroutines; ///< instead of threads
    std::optional<languages::PythonStack> python; ///< not in the tree
    std::vector<unwind::Frame> frames;
    unwind::WalkEnd end;
  };

  bool has_crashed(const Stack& stack) const {
    return crashed_ != 0 && !stack.threads.empty() && stack.threads.front()->tid == crashed_;
  }

  std::size_t all_threads() const {
    std::size_t count = 0;
    for (const Stack& stack : stacks_) count += stack.threads.size();
    return count;
  }

  void add(const Stack& stack, StackTree& tree) {
    tree.begin(stack.threads.size() + stack.goroutines.size());
    // Stacks that ended early are no parts of complete ones.
    if (!stack.end.complete) tree.add({"ended early: " + unwind::describe(stack.end), {}, {}});
    for (const unwind::Frame& frame : stack.frames | std::views::reverse)
      tree.add(StackTree::frame_of(frame, symbolizer_.symbolize(frame)));
    std::vector<std::string> names;
    for (const process::Thread* thread : stack.threads) {
      names.push_back(std::to_string(thread->tid));
      if (stack.threads.size() == 1 && crashed_ == 0 && !thread->name.empty())
        names.back().append(" ").append(thread->name);
    }
    for (const languages::Goroutine& goroutine : stack.goroutines)
      names.push_back(std::to_string(goroutine.id) + " [" + state_text(goroutine) + ']');
    tree.end(shortened_list(stack.threads.empty() ? "goroutine " : "TID ", names));
  }

  void replay(const Stack& stack) {
    const unwind::Registers none{};
    std::vector<const languages::Goroutine*> goroutines;
    for (const languages::Goroutine& goroutine : stack.goroutines) goroutines.push_back(&goroutine);
    if (goroutines.empty())
      text_->begin_thread(stack.threads);
    else
      text_->begin_goroutine(goroutines);
    if (stack.python) text_->python(*stack.python);
    for (const unwind::Frame& frame : stack.frames) text_->frame(frame, none);
    text_->end_thread(stack.end);
  }

  tool::Output& out_;
  Symbolizer& symbolizer_;
  std::unique_ptr<Printer> text_;
  std::vector<Stack> stacks_;
  std::uint64_t kept_ = 0;
  std::uint32_t crashed_ = 0;
};

} // namespace

std::string shortened_list(std::string_view before, const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items | std::views::take(most_members)) {
    text += text.empty() ? std::string(before) : ", ";
    text += item;
  }
  if (items.size() > most_members) text += " and " + std::to_string(items.size() - most_members) + " more";
  return text;
}

StackTree::Frame StackTree::frame_of(const unwind::Frame& frame, const SymbolizedFrame& symbols) {
  Frame result{.function = {},
               .module = {},
               .offset = {},
               .heuristic = frame.trust == unwind::Trust::heuristic,
               .signal_frame = frame.signal_frame};
  if (symbols.module) result.module = symbols.module->shown_name();
  if (symbols.function) {
    result.function = symbols.function->name;
    result.offset = symbols.function->offset;
  } else if (symbols.module) {
    // As in the other form: without a name, a symbolizer needs this.
    result.module += " + " + hex(frame.pc - symbols.module->info().start);
  } else {
    result.function = hex(frame.pc);
  }
  return result;
}

void StackTree::add(const Frame& frame) {
  const auto [label, is_new] =
      label_numbers_.try_emplace({frame.function, frame.module}, static_cast<std::uint32_t>(labels_.size()));
  if (is_new) labels_.emplace_back(frame.function, frame.module);
  const auto [child, added] =
      child_numbers_.try_emplace({at_, label->second}, static_cast<std::uint32_t>(nodes_.size()));
  if (added) {
    nodes_[at_].children.push_back(child->second);
    Node& node = nodes_.emplace_back();
    node.label = label->second;
    node.offset = frame.offset;
  } else {
    has_branches_ = true;
  }
  at_ = child->second;
  Node& node = nodes_[at_];
  node.count += count_;
  node.is_offset_shared &= node.offset == frame.offset;
  node.heuristic |= frame.heuristic;
  node.signal_frame |= frame.signal_frame;
}

void StackTree::end(std::string members) {
  nodes_[at_].members.push_back(std::move(members));
}

void StackTree::print_line(tool::Output& out, const Node& node, std::size_t repeats,
                           bool is_offset_shared) const {
  const auto& [function, module] = labels_[node.label];
  std::string_view before;
  if (!function.empty()) {
    out.safe(function);
    if (node.offset && is_offset_shared) out << " + ", out.hex(*node.offset);
    before = "  ";
  }
  if (!module.empty()) out << before << '(', out.safe(module) << ')';
  if (node.signal_frame) out << "  [signal frame]";
  if (node.heuristic) out << "  [heuristic]";
  if (repeats > 1) out << "  ", out.decimal(repeats) << " times";
  out << '\n';
}

void StackTree::print(tool::Output& out) const {
  struct Pending {
    std::uint32_t node;
    std::string prefix; ///< before its lines
    bool is_root, is_last;
    std::size_t width; ///< of counts
  };
  std::vector<Pending> pending;
  const auto push_children = [&](const Node& parent, const std::string& prefix, bool is_root) {
    std::vector<std::uint32_t> children = parent.children;
    // Equal counts by name: the order of threads in a core says nothing.
    std::ranges::stable_sort(children, [&](std::uint32_t a, std::uint32_t b) {
      const Node &first = nodes_[a], &second = nodes_[b];
      return first.count != second.count ? first.count > second.count
                                         : labels_[first.label] < labels_[second.label];
    });
    const std::size_t width = children.empty() ? 0 : std::to_string(nodes_[children.front()].count).size();
    for (std::size_t i = children.size(); i-- > 0;)
      pending.push_back({children[i], prefix, is_root, i + 1 == children.size(), width});
  };
  push_children(nodes_.front(), {}, true);
  while (!pending.empty() && !out.failed()) {
    const Pending here = std::move(pending.back());
    pending.pop_back();
    if (here.is_root) out << '\n';
    const std::string rest = here.is_root ? std::string() : here.prefix + (here.is_last ? "   " : "|  ");
    out << (here.is_root ? "" : here.prefix) << (here.is_root ? "" : here.is_last ? "`- " : "|- ");
    out.decimal(nodes_[here.node].count, static_cast<unsigned>(here.width)) << "  ";
    // Down to where stacks part or end.
    std::uint32_t at = here.node;
    const auto next_in_line = [&](std::uint32_t node) {
      const Node& n = nodes_[node];
      return n.children.size() == 1 && n.members.empty() ? n.children.front() : 0;
    };
    for (bool is_first = true;; is_first = false) {
      if (!is_first) out << rest, out.fill(' ', here.width + 2);
      std::size_t repeats = 1;
      const Node& start = nodes_[at];
      bool is_offset_shared = start.is_offset_shared;
      std::uint32_t next = next_in_line(at);
      for (; next && nodes_[next].label == start.label; next = next_in_line(next), ++repeats) {
        is_offset_shared &= nodes_[next].is_offset_shared && nodes_[next].offset == start.offset;
        at = next;
      }
      print_line(out, start, repeats, is_offset_shared);
      if (!next) break;
      at = next;
    }
    for (const std::string& members : nodes_[at].members) {
      out << rest, out.fill(' ', here.width + 2);
      out.safe(members) << '\n';
    }
    push_children(nodes_[at], rest.size() < 3 * most_indents ? rest : here.prefix, false);
  }
}

std::unique_ptr<Printer> make_tree_printer(tool::Output& out, Symbolizer& symbolizer,
                                           std::unique_ptr<Printer> text) {
  return std::make_unique<TreePrinter>(out, symbolizer, std::move(text));
}

} // namespace sframe::unwind_tool
