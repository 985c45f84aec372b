// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which functions share an FDE is a shortest path over the functions of a run of neighbours: the edges are
// FDEs, an edge costs its bytes and its entry in .eh_frame_hdr. Then the entries are written: all CIEs, in
// the order of the old section (readers that look at one CIE only take the first), and the FDEs by address.

#include "sframe/shrink/shrink.h"

#include "encoder.h"
#include "entry_writer.h"
#include "model.h"
#include "sframe/base/budget.h"
#include "sframe/base/text.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace sframe::shrink {

using namespace cfi;

namespace {

constexpr std::string_view section_name = ".eh_frame";
constexpr std::uint64_t table_entry_size = 8;
constexpr std::uint64_t table_header_size = 12;
/// In an FDE. Functions without instructions cost nothing, and the search tries all ends for each start.
constexpr std::size_t max_functions = 256;

/// Bytes of an FDE without its instructions.
std::uint64_t overhead(const ModelCie& cie) {
  std::uint64_t size = 8 + std::uint64_t{2} * width_of(cie.fde_encoding);
  if (cie.has_augmentation_data) size += 1;
  if (cie.lsda_encoding != pe_omit) size += width_of(cie.lsda_encoding);
  return size;
}

std::uint64_t cie_size(const ModelCie& cie) {
  std::vector<std::byte> numbers;
  append_uleb(numbers, cie.code_alignment);
  append_sleb(numbers, cie.data_alignment);
  if (cie.version == 1)
    numbers.emplace_back();
  else
    append_uleb(numbers, cie.return_register);
  std::uint64_t data = 0;
  if (cie.has_augmentation_data)
    for (const char letter : as_text(cie.augmentation).substr(1))
      data += letter == 'R' || letter == 'L' ? 1
              : letter == 'P'                ? 1 + width_of(cie.personality->encoding)
                                             : 0;
  return 9 + cie.augmentation.size() + 1 + numbers.size() + (cie.has_augmentation_data ? 1 : 0) + data +
         cie.instructions.size();
}

/// An FDE to be written.
struct Group {
  std::size_t first = 0, count = 0; ///< functions
  std::vector<std::byte> instructions;
};

} // namespace

struct Plan::Contents {
  Model model;
  Options options;
  std::vector<Group> groups; ///< by address
  std::uint64_t eh_frame_size = 0;
  std::uint64_t copied = 0;

  std::uint64_t padded(std::uint64_t size) const { return align_up(size, options.alignment); }
  const ModelCie& cie_of(const Group& group) const { return model.cies[model.functions[group.first].cie]; }
  std::uint64_t size_of(const Group& group) const {
    return padded(overhead(cie_of(group)) + group.instructions.size());
  }
};

namespace {

/// Forms the groups.
class Grouping {
public:
  Grouping(Model& model, const Options& options) : model_(model), options_(options) {
    changes_.reserve(model.cies.size());
    for (const ModelCie& cie : model.cies) {
      changes_.emplace_back(model.states, cie, *model.abi);
      overheads_.push_back(overhead(cie));
    }
    for (std::size_t i = 0; i < model.cies.size(); ++i)
      sequences_.emplace_back(changes_[i], model.cies[i], model.abi->byte_order);
  }

  Result<std::vector<Group>> form() {
    auto& functions = model_.functions;
    if (options_.loose)
      for (Function& function : functions) leave_out_steps(function);
    for (Function& function : functions)
      if (function.understood && !is_possible(function)) function.understood = false;
    for (std::size_t begin = 0; begin < functions.size();) {
      std::size_t end = begin + 1;
      while (end < functions.size() && may_join(functions[end - 1], functions[end])) ++end;
      if (!divide(begin, end)) return fail("too many instructions", section_name);
      begin = end;
    }
    return std::move(groups_);
  }

private:
  Sequence& sequence_of(const Function& function) { return sequences_[function.cie]; }

  /// Rules that .sframe can have, too.
  bool is_plain(const State& state) const {
    using Kind = RegisterRule::Kind;
    const AbiTraits& abi = *model_.abi;
    const RegisterRule fp = state.rule(abi.fp), ra = state.rule(abi.ra);
    const auto is_simple = [](const RegisterRule& rule) {
      return rule.kind == Kind::unspecified || rule.kind == Kind::same || rule.kind == Kind::offset;
    };
    const bool has_ra = abi.fixed_ra_offset != 0 ? ra.kind == Kind::offset && ra.offset == abi.fixed_ra_offset
                                                 : is_simple(ra);
    return state.cfa.kind == CfaRule::Kind::register_offset &&
           (state.cfa.number == abi.sp || state.cfa.number == abi.fp) && has_ra && is_simple(fp);
  }

  /// States begin later where their first addresses are loose; those without other addresses are left out.
  /// The others begin one unit before the end of the loose addresses, which costs nothing: some unwinders
  /// look up the address before that of a fault, too.
  void leave_out_steps(Function& function) {
    const auto steps = std::span(model_.steps).subspan(function.first_step, function.num_steps);
    if (!function.understood || model_.cies[function.cie].signal_frame ||
        !std::ranges::all_of(steps, [&](const Step& step) { return is_plain(model_.states[step.state]); }))
      return;
    const auto loose = options_.loose({function.start, function.size});
    auto range = loose.begin();
    std::uint32_t kept = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Step step = steps[i];
      const std::uint64_t end = i + 1 < steps.size() ? steps[i + 1].offset : function.size;
      while (range != loose.end() && range->end() - function.start <= step.offset) ++range;
      if (range != loose.end() && range->contains(function.start + step.offset)) {
        const std::uint64_t later = range->end() - function.start;
        const std::uint64_t unit = model_.cies[function.cie].code_alignment;
        if (later >= end) continue;
        if (later % unit == 0) step.offset = std::max(step.offset, later - unit);
      }
      if (kept != 0 && steps[kept - 1].state == step.state) continue;
      steps[kept++] = step;
    }
    function.num_steps = kept;
  }

  bool is_possible(const Function& function) {
    Sequence& sequence = sequence_of(function);
    sequence.start(function.start);
    sequence.append(function, model_.steps_of(function));
    return sequence.size() < Changes::impossible;
  }

  bool may_be_joined(const Function& function) const {
    return function.understood && function.lsda == 0 && !model_.cies[function.cie].signal_frame;
  }

  bool may_join(const Function& function, const Function& next) const {
    if (!options_.join || function.cie != next.cie || !may_be_joined(function) || !may_be_joined(next))
      return false;
    if ((next.start - function.start) % model_.cies[next.cie].code_alignment != 0) return false;
    const auto between = AddressRange::between(function.end(), next.start);
    if (next.end() - function.start > std::numeric_limits<std::int32_t>::max()) return false;
    return options_.is_padding ? options_.is_padding(between) : between.empty();
  }

  /// Bytes of an FDE with its entry in the table.
  std::uint64_t cost(const Function& function, std::uint64_t instructions) const {
    return align_up(overheads_[function.cie] + instructions, options_.alignment) + table_entry_size;
  }

  /// The cheapest FDEs for a run of functions that may all be joined. False if the budget is used up.
  bool divide(std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    struct Best {
      std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();
      std::size_t start = 0;
    };
    std::vector<Best> best(count + 1);
    best[0].cost = 0;
    for (std::size_t i = 0; count > 1 && i < count; ++i) {
      const Function& first = model_.functions[begin + i];
      Sequence& sequence = sequence_of(first);
      sequence.start(first.start);
      for (std::size_t j = i; j < std::min(count, i + max_functions); ++j) {
        const Function& last = model_.functions[begin + j];
        if (options_.budget && !options_.budget->take(Resource::cfi_instructions, 1 + last.num_steps))
          return false;
        sequence.append(last, model_.steps_of(last));
        if (j > i && sequence.size() > options_.max_cfi_bytes) break;
        if (last.end() - first.start > std::numeric_limits<std::int32_t>::max()) break;
        const std::uint64_t all = best[i].cost + cost(first, sequence.size());
        if (all < best[j + 1].cost) best[j + 1] = {all, i};
      }
    }
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    for (std::size_t at = count; at > 0; at = best[at].start) parts.emplace_back(best[at].start, at);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      add(begin + part->first, part->second - part->first);
    return true;
  }

  void add(std::size_t first, std::size_t count) {
    const Function& function = model_.functions[first];
    Group group{first, count, {}};
    if (function.understood) {
      Sequence& sequence = sequence_of(function);
      sequence.start(function.start);
      for (std::size_t i = first; i < first + count; ++i)
        sequence.append(model_.functions[i], model_.steps_of(model_.functions[i]));
      group.instructions = sequence.bytes();
    } else {
      group.instructions.assign(function.instructions.begin(), function.instructions.end());
    }
    groups_.push_back(std::move(group));
  }

  Model& model_;
  const Options& options_;
  std::vector<Changes> changes_;         ///< by CIE
  std::vector<Sequence> sequences_;      ///< by CIE
  std::vector<std::uint64_t> overheads_; ///< by CIE
  std::vector<Group> groups_;
};

/// Writes the tables. Every number that does not fit its field makes it fail.
class Writer : private EntryWriter {
public:
  Writer(const Model& model, const Options& options, std::span<const Group> groups, std::uint64_t eh_frame,
         std::uint64_t eh_frame_hdr)
      : EntryWriter(model.abi->byte_order, options.alignment), model_(model), groups_(groups),
        address_(eh_frame), table_address_(eh_frame_hdr) {}

  Result<Tables> write(std::uint64_t size) {
    out_.reserve(size);
    for (const ModelCie& cie : model_.cies) add(cie);
    std::vector<std::uint64_t> fdes;
    fdes.reserve(groups_.size());
    for (const Group& group : groups_) {
      fdes.push_back(address_ + out_.size());
      add(group);
    }
    append(0, 4);
    if (problem_) return unexpected(*problem_);
    Tables tables{std::move(out_), {}};
    out_.clear();
    add_table(fdes);
    if (problem_) return unexpected(*problem_);
    tables.eh_frame_hdr = std::move(out_);
    return tables;
  }

private:
  /// A number of 32 bits with its sign.
  void append_near(std::uint64_t value, std::uint64_t function) {
    const auto number = static_cast<std::int64_t>(value);
    if (number != static_cast<std::int32_t>(number) && !problem_)
      problem_ =
          Problem{"a function is too far from its table: " + hex(function), std::string(section_name), {}};
    append(value, 4);
  }

  void append_pointer(std::uint64_t value, std::uint8_t encoding) {
    const bool relative = value != 0 && (encoding & 0x70) == pe_pcrel;
    const std::uint64_t number = relative ? value - (address_ + out_.size()) : value;
    if (width_of(encoding) == 8) return append(number, 8);
    if (encoding & pe_signed || relative) return append_near(number, value);
    append(number, 4);
  }

  void add(const ModelCie& cie) {
    const std::size_t start = begin();
    cies_.push_back(start);
    append(0, 4);
    append_fields(cie, cie.augmentation);
    if (cie.has_augmentation_data) {
      const std::size_t size_at = out_.size();
      append(0, 1); // at most 32 letters with 9 bytes each, most of which have none
      for (const char letter : as_text(cie.augmentation).substr(1)) {
        if (letter == 'R') append(cie.fde_encoding, 1);
        if (letter == 'L') append(cie.lsda_encoding, 1);
        if (letter != 'P') continue;
        append(cie.personality->encoding, 1);
        append_pointer(cie.personality->value, cie.personality->encoding);
      }
      out_[size_at] = static_cast<std::byte>(out_.size() - size_at - 1);
    }
    append(cie.instructions);
    end(start);
  }

  void add(const Group& group) {
    const Function& first = model_.functions[group.first];
    const Function& last = model_.functions[group.first + group.count - 1];
    const ModelCie& cie = model_.cies[first.cie];
    const std::size_t start = begin();
    append(out_.size() - cies_[first.cie], 4);
    append_pointer(first.start, cie.fde_encoding);
    append(last.end() - first.start, width_of(cie.fde_encoding));
    if (cie.has_augmentation_data) append(cie.lsda_encoding != pe_omit ? width_of(cie.lsda_encoding) : 0, 1);
    if (cie.lsda_encoding != pe_omit) append_pointer(first.lsda, cie.lsda_encoding);
    append(group.instructions);
    end(start);
  }

  void add_table(std::span<const std::uint64_t> fdes) {
    append(1, 1);
    append(pe_pcrel | pe_sdata4, 1);
    append(pe_udata4, 1);
    append(pe_datarel | pe_sdata4, 1);
    append_near(address_ - (table_address_ + 4), address_);
    append(fdes.size(), 4);
    for (std::size_t i = 0; i < fdes.size(); ++i) {
      const std::uint64_t start = model_.functions[groups_[i].first].start;
      append_near(start - table_address_, start);
      append_near(fdes[i] - table_address_, start);
    }
  }

  const Model& model_;
  std::span<const Group> groups_;
  std::uint64_t address_, table_address_;
  std::vector<std::size_t> cies_; ///< their offsets
  std::optional<Problem> problem_;
};

} // namespace

Plan::Plan(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

Result<Plan> Plan::make(const CfiSection& section, const Options& options) {
  auto model = read_model(section, options.budget);
  if (!model) return unexpected(std::move(model.error()));
  auto contents = std::make_unique<Contents>();
  contents->model = std::move(*model);
  contents->options = options;
  if (options.max_plain_cfi_bytes != 0 &&
      std::ranges::none_of(contents->model.cies, [](const ModelCie& cie) { return bool(cie.personality); }))
    contents->options.max_cfi_bytes = options.max_plain_cfi_bytes;
  auto groups = Grouping(contents->model, contents->options).form();
  if (!groups) return unexpected(std::move(groups.error()));
  contents->groups = std::move(*groups);
  contents->copied =
      static_cast<std::uint64_t>(std::ranges::count(contents->model.functions, false, &Function::understood));
  std::uint64_t size = 4;
  for (const ModelCie& cie : contents->model.cies) size += contents->padded(cie_size(cie));
  for (const Group& group : contents->groups) size += contents->size_of(group);
  if (size > std::numeric_limits<std::int32_t>::max())
    return fail("section of more than 2 GiB", section_name);
  contents->eh_frame_size = size;
  return Plan(std::move(contents));
}

std::uint64_t Plan::eh_frame_size() const {
  return contents_->eh_frame_size;
}
std::uint64_t Plan::eh_frame_hdr_size() const {
  return table_header_size + table_entry_size * contents_->groups.size();
}
std::uint64_t Plan::functions() const {
  return contents_->model.functions.size();
}
std::uint64_t Plan::fdes() const {
  return contents_->groups.size();
}
std::uint32_t Plan::max_cfi_bytes() const {
  return contents_->options.max_cfi_bytes;
}
std::uint64_t Plan::copied() const {
  return contents_->copied;
}

Result<Tables> Plan::write(std::uint64_t eh_frame_address, std::uint64_t eh_frame_hdr_address) const {
  return Writer(contents_->model, contents_->options, contents_->groups, eh_frame_address,
                eh_frame_hdr_address)
      .write(contents_->eh_frame_size);
}

} // namespace sframe::shrink
