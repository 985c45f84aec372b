// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: instructions for a sequence of states, in as few bytes as possible.
//
// From one state to the next there are three ways: the rules that differ; DW_CFA_restore_state, where the
// remembered state is closer; or the same, and it is remembered again. Readers differ in how many states they
// remember, so there is one at most. Which states to remember is a shortest path: its nodes are the states
// with what is remembered there.
//
//   f+0   sp+8              (the CIE's state)      remember_state
//   f+1   sp+16, rbx -16    advance_loc 1          def_cfa_offset 16, offset rbx -16
//   f+7   sp+8, rbx -16     advance_loc 6          def_cfa_offset 8
//   g+0   sp+8              advance_loc 9          restore_state, instead of restore rbx

#pragma once

#include "model.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace sframe::shrink {

/// Instructions that change the rules of one state into those of another, for one CIE. Keeps its answers.
class Changes {
public:
  Changes(const StateTable& states, const ModelCie& cie, const AbiTraits& abi)
      : states_(states), cie_(cie), abi_(abi), initial_(states[cie.state]) {}

  static constexpr std::uint32_t impossible = 0x0fffffff;

  /// Their bytes; `impossible` if there are none, such as for a register that loses the rule that its CIE
  /// gives it.
  std::uint32_t size(std::uint32_t from, std::uint32_t to) { return find(from, to).size; }
  /// Valid until the next call.
  std::span<const std::byte> bytes(std::uint32_t from, std::uint32_t to);

private:
  struct Place {
    std::uint32_t at = 0, size = 0;
  };
  Place find(std::uint32_t from, std::uint32_t to);
  bool append(const State& from, const State& to);
  bool append_cfa(const cfi::CfaRule& from, const cfi::CfaRule& to);
  bool append_rule(std::uint32_t reg, const cfi::RegisterRule& rule);
  bool append_offset(std::uint32_t reg, std::int64_t offset, std::uint8_t plain, std::uint8_t with_sign);
  void append_expression(std::uint64_t number);
  void put(std::uint8_t byte) { bytes_.push_back(static_cast<std::byte>(byte)); }

  const StateTable& states_;
  const ModelCie& cie_;
  const AbiTraits& abi_;
  const State& initial_;
  std::vector<std::byte> bytes_; ///< of all answers
  std::unordered_map<std::uint64_t, Place> places_;
};

/// Instructions of an FDE, which grows by functions. One object serves many FDEs of one CIE.
class Sequence {
public:
  Sequence(Changes& changes, const ModelCie& cie, ByteOrder order);

  /// Begins an FDE.
  void start(std::uint64_t address);
  /// The next function, above all before. Time: its steps.
  void append(const Function& function, std::span<const Step> steps);
  /// Bytes of the shortest instructions; Changes::impossible or more if there are none.
  std::uint32_t size() const;
  std::vector<std::byte> bytes() const;

private:
  static constexpr std::uint32_t none = 0xffffffff;
  enum class Way : std::uint8_t { start, direct, restored, kept };
  /// A way to the present state.
  struct Node {
    std::uint32_t before = none; ///< the node that it follows
    std::uint32_t cost = 0;
    std::uint32_t remembered = none; ///< a state
    std::uint32_t from = 0, to = 0;  ///< of the changes
    std::uint64_t advance = 0;       ///< in units
    Way way = Way::start;
    bool remembers = false; ///< the state that it leads to
  };
  void step(std::uint64_t address, std::uint32_t state);
  void consider(Node node);
  void add(const Node& node);
  void keep_best();

  Changes& changes_;
  const ModelCie& cie_;
  ByteOrder order_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> live_; ///< nodes of the present state, by cost after keep_best()
  std::vector<Node> next_;          ///< candidates for the next one
  std::uint64_t address_ = 0;
  std::uint32_t state_ = 0;
};

} // namespace sframe::shrink
