// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Analyses the bytes of one function and computes the stack state before each of its instructions.
//
//    Analyzer analyzer(abi);                       // one per thread; keeps its memory
//    Function function{.start = start, .bytes = bytes, .entry = first_row, .environment = &environment};
//    const Results& results = analyzer.run(function);
//    results.visit([&](const Reached& at) {        // by address
//      RowCheck result = check(row_at(at.instruction.address), at.state(), abi); ...
//    });
//
// Control flow is followed from the entry over direct branches, jump tables and landing pads. Data flow is
// computed to a fixed point. Every instruction is decoded once. Cost is linear in the size of the function;
// everything that could repeat has a limit, and Obstacle::Kind::limit reports one that was reached.

#pragma once

#include "sframe/code/environment.h"
#include "sframe/code/row_check.h"
#include "sframe/code/state.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace sframe {
class Budget;
}

namespace sframe::code {

/// Calls in [begin, end) may throw to `landing_pad` (from the language-specific data area).
struct CallSite {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t landing_pad = 0;
};

/// The function to analyse. Spans must live while the Analyzer and its Results are used.
struct Function {
  std::uint64_t start = 0;          ///< address of bytes[0]
  std::span<const std::byte> bytes; ///< all of the function
  /// Where it ends at the latest, if `bytes` are perhaps not all of it; for Results::tables_lead_to().
  std::uint64_t last_end = 0;
  FrameRow entry;                 ///< the row at `start`; AbiTraits::entry_row() if none is known
  std::uint64_t entry_offset = 0; ///< where control enters, from `start`; `entry` is the row there
  /// One bit per register that may hold anything at `start`, since that is perhaps inside a function, unless
  /// `entry` mentions it.
  std::uint64_t unknown_at_start = 0;
  /// True: `start` is perhaps inside a function, which may have stored registers of the caller before. A word
  /// that `rows` name may then hold anything at `start` if it can have kept that: one that SP is not above.
  bool may_start_inside = false;
  /// FP is the CFA plus so many bytes at `start`, if that is known although `entry` does not need it.
  std::optional<std::int32_t> fp_at_start;
  /// Bytes below SP that neither its callees nor signals overwrite, besides the red zone: where Go saves FP
  /// on AArch64.
  std::uint32_t kept_below_sp = 0;
  std::span<const CallSite> call_sites; ///< sorted by `begin`, without overlaps
  /// The rows that the caller is going to check, sorted by offset from `start`. They settle two questions
  /// that code alone leaves open. First, whether a call returns: it does not, if a new row after it fits
  /// neither the state before the call nor the state after it. Second, how many bytes of pushed arguments
  /// remain at a landing pad. Unreached code (cold parts are entered in many places) is analysed from its
  /// row, as an assumption. Pass the most trusted rows, which are those of the CFI even if others are
  /// checked. Empty: not known.
  std::span<const FrameRow> rows;
  Environment* environment = nullptr; ///< nullptr: nothing is known
  /// Pays Resource::code_steps for the analysis and each visit of its results. These stop where it is used
  /// up.
  Budget* budget = nullptr;
};

/// How reliably an instruction is known to be reached.
enum class Certainty : std::uint8_t {
  unreached,
  guessed, ///< over edges that may not exist: entries of a jump table without a bound, calls into the
           ///< function, returns of calls that perhaps never return (Environment::may_not_return())
  assumed, ///< not reached from this function; its row is assumed to hold at the start
  certain,
};

/// Values that differ where paths meet. `first` arrived first; both are of the register or word at `where`.
struct Conflict {
  std::uint64_t address = 0; ///< of the instruction where the paths meet
  Value first, second;
  std::uint64_t second_from = 0; ///< the instruction before the join on the path with `second`
  bool in_register = false;
  std::uint16_t reg = 0; ///< if in_register
  Value location;        ///< if not
};

/// Why something is undecided, and at which address.
struct Obstacle {
  enum class Kind : std::uint8_t {
    indirect_jump,      ///< an indirect jump with unknown targets that does not look like a tail call
    undecodable,        ///< not an instruction, or an instruction cut by the function's end
    sp_lost,            ///< SP was overwritten by something unknown (not reported for alignment and alloca)
    call_falls_through, ///< the edge after a call was dropped: the call does not return. Informational
    runs_off,           ///< control reaches the function's end after something other than a call
    limit,              ///< a limit was reached; the rest is unreached
  };
  Kind kind{};
  std::uint64_t address = 0;
};

/// How control leaves the function, as seen before the instruction.
enum class Exit : std::uint8_t {
  none,
  returns,            ///< ret, with the return address where it belongs and SP at the entry's height
  returns_wrong,      ///< ret, but SP is known to be elsewhere or the word there is not the return address
  returns_unknown,    ///< ret, SP or the word there not known
  tail_call,          ///< a direct jump out of the function, to Instruction::target
  indirect_tail_call, ///< an indirect jump, state as at entry
  indirect_unknown,   ///< an indirect jump to an unknown target
  stops,              ///< ud2, hlt, the system call exit
};

class VisitedState; // src/analysis/visited_state.h

/// One instruction with the state before it. References are valid until the visitor returns.
struct Reached {
  const Instruction& instruction;
  Certainty certainty;
  Exit exit;
  bool block_start; ///< control also comes from elsewhere
  bool is_unknown;  ///< bytes that the decoder does not know: where the next instruction starts is not known
  /// A call of code in the function that replaces or drops the return address (AMD64's retpolines): it pushes
  /// a word and jumps. It is no call of a function.
  bool pushes_and_jumps;
  /// What may differ from the state of the instruction that was visited before: State::bit() of registers,
  /// State::words_bit.
  std::uint64_t changed;
  VisitedState& visited;

  /// The state before the instruction. Costs the data flow of the instructions since it was last asked for.
  const State& state() const;
};

/// A range of bytes that control does not reach, without padding.
struct Gap {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class Analysis; // src/analysis/analysis.h
class Answers;  // src/analysis/answers.h

/// The results of the last run. Owned by the Analyzer.
class Results {
public:
  /// Calls `visitor(const Reached&)` for every reached instruction, by address. If it returns bool, false
  /// ends the visit. Repeats the data flow within blocks as far as states are asked for; decodes nothing.
  template <class Visitor> void visit(Visitor&& visitor) const {
    using Ref = std::remove_reference_t<Visitor>;
    visit_all(
        [](void* context, const Reached& at) -> bool {
          if constexpr (std::is_same_v<decltype((*static_cast<Ref*>(context))(at)), bool>) {
            return (*static_cast<Ref*>(context))(at);
          } else {
            (*static_cast<Ref*>(context))(at);
            return true;
          }
        },
        const_cast<void*>(static_cast<const void*>(&visitor)));
  }

  /// The state before the instruction at `address`; nullptr if no reached instruction starts there. Valid
  /// until the next call. Costs the data flow of one block.
  const State* state_at(std::uint64_t address) const;

  /// The row of the instruction that contains `address`, from the code alone. Empty if it was not reached or
  /// if no row represents its state. `offset` is from the function's start. Costs the data flow of one block.
  std::optional<FrameRow> row_at(std::uint64_t address) const;

  /// True if a reached call at `address` does not return: its callee, the rows or the code after it show it.
  bool never_returns(std::uint64_t address) const;

  std::span<const Conflict> conflicts() const; ///< Value::id of a conflict is an index
  std::span<const Obstacle> obstacles() const; ///< by kind and address
  /// The unreached ranges, by address, without padding. Linear; invalidates the previous result.
  std::span<const Gap> gaps() const;
  /// The instructions that others execute, which no path need lead to (s390x: ex, exrl). Unordered.
  std::span<const std::uint64_t> executed() const;
  /// The last address after the function's bytes, and before Function::last_end, that a jump table of
  /// distances leads to, so that the function is larger; 0 if none does.
  std::uint64_t tables_lead_to() const;
  std::uint32_t num_instructions() const; ///< decoded

private:
  friend class Analyzer;
  using Call = bool (*)(void* context, const Reached& at);
  void visit_all(Call call, void* context) const;
  Answers* answers_ = nullptr; ///< of the Analyzer's analysis
};

/// Analyses functions one at a time. Keeps scratch memory between runs, so it does not allocate for functions
/// no larger than earlier ones. Not thread-safe.
class Analyzer {
public:
  /// The ABI must have a decoder (make_decoder()); without one, every run finds only an obstacle.
  explicit Analyzer(const AbiTraits& abi);
  ~Analyzer();
  Analyzer(Analyzer&&) noexcept;
  Analyzer& operator=(Analyzer&&) noexcept;

  /// Analyses the function. The results are valid until the next run. Functions are truncated to
  /// max_function_size bytes.
  const Results& run(const Function& function);

  static constexpr std::size_t max_function_size = std::size_t(1) << 22;

private:
  std::unique_ptr<Analysis> analysis_;
  Results results_;
};

} // namespace sframe::code
