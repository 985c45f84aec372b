// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the bytes of one function to what the stack looks like before each of its instructions.
//
//   Analyzer analyzer(abi);                       // one per thread; keeps its memory
//   Function function{.start = start, .bytes = bytes, .entry = first_row, .surroundings = &surroundings};
//   const Results& results = analyzer.run(function);
//   results.visit([&](const Reached& at) {        // by address
//     RowCheck result = check(row_at(at.instruction.address), at.state, abi); ...
//   });
//
// Control flow is followed from the entry, over direct branches, jump tables and landing pads; data flow to a
// fixed point. Every instruction is decoded once. Linear in the size of the function, with bounds on all that
// could repeat; Results::limits says when one was met.

#pragma once

#include "sframe/code/row_check.h"
#include "sframe/code/state.h"
#include "sframe/code/surroundings.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace sframe::code {

/// Calls in [begin, end) may come back at `landing_pad` with an exception (the language-specific data area).
struct CallSite {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t landing_pad = 0;
};

/// What is to be analysed. Spans must live while the Analyzer and its Results are used.
struct Function {
  std::uint64_t start = 0;              ///< address of bytes[0]
  std::span<const std::byte> bytes;     ///< all of the function
  FrameRow entry;                       ///< the row at `start`; AbiTraits::entry_row() where none is known
  std::span<const CallSite> call_sites; ///< sorted by `begin`, without overlaps
  /// The rows that the caller is going to check, sorted by offset from `start`. They settle two questions
  /// that code alone leaves open: whether a call returns (not, where a new row behind it fits neither the
  /// state before the call nor after), and how much of pushed arguments a landing pad still has. And code
  /// that nothing reaches (cold parts are entered in many places) is started with its row, as a guess. Take
  /// the most trusted rows there are: those of the CFI, also when others are to be checked. Empty: not known.
  std::span<const FrameRow> rows;
  Surroundings* surroundings = nullptr; ///< nullptr: nothing is known
};

/// How the analysis came to an instruction.
enum class Certainty : std::uint8_t {
  unreached,
  guessed, ///< over edges that may not exist: entries of a jump table without a bound, calls into the
           ///< function
  assumed, ///< from nowhere in this function; the row that stands there is believed to begin with
  certain,
};

/// Values that differ where paths meet. `first` came first; both are of the register or word at `where`.
struct Conflict {
  std::uint64_t address = 0; ///< of the instruction where the paths meet
  Value first, second;
  std::uint64_t second_from = 0; ///< the instruction that control came from with `second`
  bool in_register = false;
  std::uint16_t reg = 0; ///< where in_register
  Value place;           ///< where not
};

/// Why something stays undecided, and where.
struct Obstacle {
  enum class Kind : std::uint8_t {
    indirect_jump,      ///< an indirect jump with unknown targets, that does not look like a tail call
    undecodable,        ///< bytes that are no instruction, or an instruction that the function's end cuts
    sp_lost,            ///< SP was overwritten by something unknown (alignment and alloca: not told)
    call_falls_through, ///< the edge behind a call was left out: it does not return. Only a remark
    runs_off,           ///< control reaches the function's end behind something other than a call
    limit,              ///< a bound was met; the rest is unreached
  };
  Kind kind{};
  std::uint64_t address = 0;
};

/// Where control leaves the function, as seen before the instruction.
enum class Exit : std::uint8_t {
  none,
  returns,            ///< ret, with the return address where it belongs and SP at the entry's height
  returns_wrong,      ///< ret, but SP is known to be elsewhere or the word there is not the return address
  returns_unknown,    ///< ret, SP or the word there not known
  tail_call,          ///< a direct jump out of the function; Instruction::target says where to
  indirect_tail_call, ///< an indirect jump, state as at entry
  indirect_unknown,   ///< an indirect jump to unknown places
  stops,              ///< ud2, hlt, the system call exit
};

/// One instruction with the state before it. References live until visit() goes on.
struct Reached {
  const Instruction& instruction;
  const State& state;
  Certainty certainty;
  Exit exit;
  bool block_start; ///< control comes from elsewhere too
};

/// A stretch of bytes that control does not reach, padding not counted.
struct Gap {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class Analysis; // the engine, src/engine.h

/// What the last run found. Lives in the Analyzer.
class Results {
public:
  /// Calls `visitor(const Reached&)` for every reached instruction, by address. If it returns a bool, false
  /// ends the visit. Repeats the data flow within blocks; decodes nothing.
  template <class Visitor> void visit(Visitor&& visitor) const {
    using Ref = std::remove_reference_t<Visitor>;
    visit_all(
        [](void* context, const Reached& at) -> bool {
          if constexpr (std::is_same_v<decltype((*static_cast<Ref*>(context))(at)), bool>)
            return (*static_cast<Ref*>(context))(at);
          else
            return (*static_cast<Ref*>(context))(at), true;
        },
        const_cast<void*>(static_cast<const void*>(&visitor)));
  }

  /// The state before the instruction at `address`; nullptr where none that was reached starts there. Valid
  /// until the next call. Costs one block.
  const State* state_at(std::uint64_t address) const;

  /// The row of the instruction that contains `address`, from the code alone; nothing where it was not
  /// reached or its state says no row. `offset` is from the function's start. Costs one block.
  std::optional<FrameRow> row_at(std::uint64_t address) const;

  std::span<const Conflict> conflicts() const; ///< Value::id of a conflict is an index
  std::span<const Obstacle> obstacles() const; ///< by kind and address
  /// The stretches that were not reached, by address, without padding. Linear; replaces the last answer.
  std::span<const Gap> gaps() const;
  std::uint32_t num_instructions() const; ///< decoded

private:
  friend class Analyzer;
  using Call = bool (*)(void* context, const Reached& at);
  void visit_all(Call call, void* context) const;
  Analysis* analysis_ = nullptr;
};

/// Analyses one function after the other; keeps scratch memory in between, so that it allocates nothing once
/// it has seen functions as large. Not for several threads at a time.
class Analyzer {
public:
  /// For an ABI that has a decoder (make_decoder()); else every run finds nothing but an obstacle.
  explicit Analyzer(const AbiTraits& abi);
  ~Analyzer();
  Analyzer(Analyzer&&) noexcept;
  Analyzer& operator=(Analyzer&&) noexcept;

  /// Analyses the function. The results are valid until the next run. A function of more than
  /// max_function_size bytes is cut.
  const Results& run(const Function& function);

  static constexpr std::size_t max_function_size = std::size_t(1) << 22;

private:
  std::unique_ptr<Analysis> analysis_;
  Results results_;
};

} // namespace sframe::code
