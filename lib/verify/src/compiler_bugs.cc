// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two passes of the conversion from CFI. The first collects the places, on all threads; then they are
// grouped, on one, since LLVM's DWARF reader is asked for the compilers. The second analyses the functions of
// the examples again.

#include "sframe/verify/compiler_bugs.h"

#include "bug_places.h"
#include "compiler_names.h"
#include "sframe/base/text.h"
#include "sframe/code/disassembly.h"
#include "sframe/generate/from_cfi.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

namespace sframe::verify {

namespace {

using generate::CfiInput;

constexpr std::size_t most_compilers = 1000; ///< of a file

/// A place with its function.
struct Found {
  std::uint64_t start = 0, size = 0; ///< of the FDE
  BugPlace place;
};

class BugFinder {
public:
  BugFinder(const BugSources& sources, const CfiInput& input, Names& names)
      : sources_(sources), input_(input), names_(names), abi_(*input.abi),
        in_file_(compiler_of_file(*sources.image)) {}

  CompilerBugs run();

private:
  void collect();
  void name_compilers();
  void add(Found& found);
  void show_examples();
  Compiler compiler_at(std::uint64_t address);
  const std::string& mnemonic(const BugPlace& place);

  const BugSources& sources_;
  const CfiInput& input_;
  Names& names_;
  const AbiTraits& abi_;
  Compiler in_file_;
  std::vector<Found> found_;
  std::map<std::string, std::string> mnemonics_; ///< by the instruction's bytes
  std::map<CompilerBugs::Key, std::uint64_t> last_function_;
  CompilerBugs bugs_;
};

void BugFinder::collect() {
  std::mutex joining;
  const generate::Options options{.repair = generate::Options::Repair::list,
                                  .on_repairs =
                                      [&](const generate::RepairedFde& fde) {
                                        auto places = bug_places(fde, abi_);
                                        const std::lock_guard lock(joining);
                                        for (BugPlace& place : places)
                                          found_.push_back({fde.fde.start, fde.fde.size, std::move(place)});
                                      },
                                  .wanted = {},
                                  .threads = sources_.threads,
                                  .progress = sources_.progress,
                                  .start_fields = {}};
  (void)generate::from_cfi(input_, options);
  std::ranges::sort(found_, {}, [](const Found& one) { return std::pair(one.place.begin, one.start); });
}

/// Also those without a place.
void BugFinder::name_compilers() {
  bugs_.files = 1;
  for (const std::string& producer : names_.producers(most_compilers))
    bugs_.compilers[{compiler_of_producer(producer), Compiler::From::producer}].files = 1;
  if (bugs_.compilers.empty()) bugs_.compilers[in_file_].files = 1;
}

Compiler BugFinder::compiler_at(std::uint64_t address) {
  const std::string producer = names_.producer({0, address});
  return producer.empty() ? in_file_ : Compiler{compiler_of_producer(producer), Compiler::From::producer};
}

const std::string& BugFinder::mnemonic(const BugPlace& place) {
  static const std::string none;
  const auto bytes = sources_.image->read(place.culprit, place.culprit_length);
  if (place.culprit_length == 0 || !bytes) return none;
  const std::string key(as_text(*bytes));
  const auto [known, is_new] = mnemonics_.try_emplace(key);
  if (is_new) {
    known->second = code::instruction_text(abi_, *bytes, place.culprit);
    known->second.resize(std::min(known->second.find(' '), known->second.size()));
  }
  return known->second;
}

void BugFinder::add(Found& found) {
  BugPlace& place = found.place;
  place.pattern.mnemonic = mnemonic(place);
  const CompilerBugs::Key key(compiler_at(place.begin), place.pattern);
  CompilerBugs::Counts& counts = bugs_.compilers[key.first];
  counts.files = counts.wrong_files = 1;
  ++counts.places;
  const auto [at, is_new] = bugs_.groups.try_emplace(key);
  BugGroup& group = at->second;
  group.files = 1;
  ++group.places;
  group.bytes += place.bytes;
  const auto [last, first] = last_function_.try_emplace(key, found.start);
  if (first || last->second != found.start) ++group.functions;
  last->second = found.start;
  BugExample& example = group.example;
  if (!is_new && example.size <= found.size) return;
  example.start = found.start;
  example.size = found.size;
  example.begin = place.begin;
  example.end = place.end;
}

void BugFinder::show_examples() {
  std::multimap<std::uint64_t, BugExample*> wanted; // by the FDE's start
  for (auto& [key, group] : bugs_.groups) {
    BugExample& example = group.example;
    const Location at{0, example.begin};
    example.path = sources_.path;
    example.function = names_.describe(at);
    example.source = names_.source(at);
    example.producer = names_.producer(at);
    wanted.emplace(example.start, &example);
  }
  const generate::Options options{
      .repair = generate::Options::Repair::list,
      .on_repairs =
          [&](const generate::RepairedFde& fde) {
            const auto places = bug_places(fde, abi_);
            const auto [first, last] = wanted.equal_range(fde.fde.start);
            for (auto at = first; at != last; ++at) {
              const auto place = std::ranges::find(places, at->second->begin, &BugPlace::begin);
              if (fde.fde.size == at->second->size && place != places.end() && at->second->lines.empty())
                show_place(fde, *place, *sources_.image, *at->second);
            }
          },
      .wanted = [&](const cfi::Fde& fde) { return wanted.contains(fde.start); },
      .threads = 1,
      .progress = {},
      .start_fields = {}};
  (void)generate::from_cfi(input_, options);
}

CompilerBugs BugFinder::run() {
  collect();
  name_compilers();
  for (Found& found : found_) add(found);
  if (!bugs_.empty()) show_examples();
  return std::move(bugs_);
}

} // namespace

void CompilerBugs::merge(CompilerBugs other) {
  files += other.files;
  for (const auto& [name, counts] : other.compilers) {
    Counts& sum = compilers[name];
    sum.files += counts.files;
    sum.wrong_files += counts.wrong_files;
    sum.places += counts.places;
  }
  for (auto& [key, from] : other.groups) {
    const auto [at, is_new] = groups.try_emplace(key);
    BugGroup& group = at->second;
    group.places += from.places;
    group.bytes += from.bytes;
    group.functions += from.functions;
    group.files += from.files;
    if (is_new || from.example.size < group.example.size) group.example = std::move(from.example);
  }
}

Result<CompilerBugs> find_compiler_bugs(const BugSources& sources, Names& names) {
  auto input = CfiInput::from_image(*sources.image, sources.debug_image);
  if (!input) return unexpected(input.error());
  if (input->sections.empty()) return CompilerBugs{};
  return BugFinder(sources, *input, names).run();
}

} // namespace sframe::verify
