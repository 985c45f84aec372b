// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// format-study FILE FUNCTIONS OPTIMIZED [MORE...]: what a later version of the format could save. FUNCTIONS
// and OPTIMIZED are raw sections in version 3, made of FILE by sframe-gen without and with --optimize=size.
//
// NO FORMAT OF OURS. No program reads or writes these sections; docs/smaller-sections.md discusses them. Each
// idea is a switch of one encoder and one decoder, so that it can be measured alone and with the others. A
// section is really encoded, and looked up at every address from the first function to the last: it must give
// the same rules as FUNCTIONS in all functions, none between them, or those of the function before in
// padding.
//
// Each idea is tried with the FDEs of OPTIMIZED and MORE, and with functions joined for its own costs; the
// smallest section counts. Lookups are timed in turn with those in version 3, at random addresses of random
// functions.

#include "study.h"

#include "sframe/bytes.h"

#include <bit>
#include <cmath>
#include <ctime>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <unordered_set>

namespace sframe::bench {
namespace {

/// The ideas. Without any, the section is one of version 3, except for the header.
struct Ideas {
  bool flat = false;       ///< index entries of 8 bytes: start and run; the next entry ends a function
  bool pages = false;      ///< 64 KiB pages: starts of 2 bytes, runs of as many bytes as they need
  bool numbers = false;    ///< with pages: the 255 most used runs have numbers of one byte
  bool attributes = false; ///< one byte instead of five, except for functions with marks
  bool first = false;      ///< the ABI's row for a function's first instruction is implied
  bool bodies = false;     ///< rows refer to the most used bodies by one byte
  bool deltas = false;     ///< offsets relative to the row before, in units of the code's alignment
  bool pairs = false;      ///< with bodies and deltas: the most used pairs of both are one byte

  bool has_sizes() const { return !flat && !pages; }
};

/// An FDE to be encoded.
struct Piece {
  std::uint64_t start = 0;
  std::uint32_t size = 0, marks = 0;
  std::vector<StudyRow> rows;
};

constexpr std::uint32_t page_bits = 16, most_numbers = 255, most_bodies = 255;
constexpr std::uint32_t none_marks = 31u << 8; ///< FDE type 31: no rules, for the code between functions
constexpr std::size_t body_size(std::uint8_t info) {
  return 1 + std::size_t{info >> 1 & 15u} * (1u << (info >> 5 & 3));
}

// A delta: 1 byte below 192, 2 bytes below 16128, else 5.
constexpr std::uint32_t delta_size(std::uint32_t delta) {
  return delta < 192 ? 1 : delta < 63 * 256 ? 2 : 5;
}

using Bytes = std::vector<std::uint8_t>;
void put(Bytes& out, std::uint64_t value, unsigned width) {
  for (unsigned i = 0; i < width; ++i) out.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}
void put_delta(Bytes& out, std::uint32_t delta) {
  if (delta < 192)
    put(out, delta, 1);
  else if (delta < 63 * 256) {
    put(out, 192 + (delta >> 8), 1);
    put(out, delta, 1);
  } else {
    put(out, 255, 1);
    put(out, delta, 4);
  }
}
std::uint32_t get(const std::uint8_t* at, unsigned width) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value); // every section ends with padding of 4 bytes
  return width == 4 ? value : value & ((1u << 8 * width) - 1);
}
std::uint32_t get_delta(const std::uint8_t*& at) {
  const std::uint32_t first = *at++;
  if (first < 192) return first;
  if (first < 255) return (first - 192) << 8 | *at++;
  at += 4;
  return get(at - 4, 4);
}

/// What stands before the entries; 48 bytes in a section. Offsets are from its start.
struct Head {
  std::uint64_t base = 0; ///< of addresses
  std::uint32_t entries = 0, pages = 0, starts = 0, refs = 0, rare = 0, runs = 0, numbers = 0;
  std::uint8_t ref_width = 4, scale = 1, bodies = 0, pairs = 0;
  std::uint32_t body_table = 0;
};
static_assert(sizeof(Head) == 48);

/// The bodies and pairs that have a byte of their own.
struct Dictionary {
  std::vector<std::uint32_t> bodies;                          ///< by code
  std::vector<std::uint32_t> code;                            ///< by body; 255: none
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs; ///< delta, code
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> pair_code;
};

class Encoder {
public:
  /// `padded` has the starts of functions that follow padding only.
  Encoder(const Study& study, Ideas ideas, const std::unordered_set<std::uint64_t>& padded)
      : study_(study), ideas_(ideas), padded_(padded) {
    scale_ = !ideas.deltas ? 1 : study.abi->machine == 183 ? 4 : study.abi->machine == 22 ? 2 : 1;
    dictionary_.code.assign(study.bodies.size(), 255);
    const FrameRow entry = study.abi->entry_row();
    const auto word = (entry.cfa.offset - study.abi->cfa_bias) / study.abi->cfa_scale;
    entry_body_ = std::string{static_cast<char>(0x03), static_cast<char>(word)};
  }

  std::uint32_t entry_bytes() const { return ideas_.pages ? 5 : ideas_.flat ? 8 : 16; }
  /// True if the row needs no bytes.
  bool is_implied(std::uint32_t marks, const StudyRow& row) const {
    return ideas_.first && row.offset == 0 && !(marks >> 8 & 31) && study_.bodies[row.body] == entry_body_;
  }
  std::uint32_t row_bytes(std::uint32_t delta, std::uint32_t body) const {
    const std::uint32_t code = dictionary_.code[body];
    if (ideas_.pairs && dictionary_.pair_code.contains({delta / scale_, code})) return 1;
    const auto full = static_cast<std::uint32_t>(study_.bodies[body].size());
    const std::uint32_t most = 255 - static_cast<std::uint32_t>(dictionary_.pairs.size());
    return (ideas_.deltas ? delta_size(delta / scale_) : 0) + (!ideas_.bodies ? full
                                                               : code < most  ? 1
                                                                              : 1 + full);
  }
  std::uint32_t attribute_bytes(std::uint32_t marks, std::size_t rows) const {
    return !ideas_.attributes ? 5 : marks == 0 && rows < row_limit() ? 1 : 6;
  }
  std::uint32_t width(std::uint32_t last) const {
    return ideas_.deltas ? 0 : last < 256 ? 1 : last < 65536 ? 2 : 4;
  }

  /// Fills the dictionaries from these runs.
  void learn(const std::vector<const Piece*>& runs);
  Bytes run(const Piece& piece) const;
  Bytes section(const std::vector<Piece>& pieces);

private:
  std::uint32_t row_limit() const { return ideas_.deltas ? 63 : 31; }
  template <class F> void each_row(const Piece& piece, F&& f) const {
    std::uint32_t before = 0;
    for (const StudyRow& row : piece.rows) {
      if (is_implied(piece.marks, row)) continue;
      f(row.offset - before, row);
      before = row.offset;
    }
  }

  const Study& study_;
  Ideas ideas_;
  const std::unordered_set<std::uint64_t>& padded_;
  std::uint32_t scale_ = 1;
  std::string entry_body_;
  Dictionary dictionary_;
};

void Encoder::learn(const std::vector<const Piece*>& runs) {
  dictionary_ = {};
  dictionary_.code.assign(study_.bodies.size(), 255);
  if (!ideas_.bodies) return;
  std::vector<std::uint64_t> uses(study_.bodies.size());
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> pair_uses; // delta, body
  for (const Piece* piece : runs)
    each_row(*piece, [&](std::uint32_t delta, const StudyRow& row) {
      ++uses[row.body];
      if (ideas_.pairs && delta / scale_ < 256) ++pair_uses[{delta / scale_, row.body}];
    });
  for (std::uint32_t body = 0; body < uses.size(); ++body)
    if (uses[body] * study_.bodies[body].size() > study_.bodies[body].size() + 2 + uses[body])
      dictionary_.bodies.push_back(body);
  std::ranges::stable_sort(dictionary_.bodies, std::greater{},
                           [&](std::uint32_t body) { return uses[body]; });
  if (dictionary_.bodies.size() > most_bodies) dictionary_.bodies.resize(most_bodies);
  for (std::uint32_t i = 0; i < dictionary_.bodies.size(); ++i) dictionary_.code[dictionary_.bodies[i]] = i;
  if (!ideas_.pairs) return;
  using Pair = std::pair<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;
  std::vector<Pair> pairs;
  for (const auto& [pair, count] : pair_uses)
    if (dictionary_.code[pair.second] != 255 && count > 2) pairs.push_back({pair, count});
  std::ranges::stable_sort(pairs, std::greater{}, &Pair::second);
  // A code is given to a pair or to a body: as many pairs as make the rows smallest.
  std::uint64_t best = ~std::uint64_t{0};
  std::size_t best_count = 0;
  for (std::size_t count = 0; count <= 224; count += 16) {
    if (count > pairs.size()) break;
    std::vector<std::uint64_t> alone = uses;
    std::uint64_t bytes = 2 * count;
    for (std::size_t i = 0; i < count; ++i) {
      alone[pairs[i].first.second] -= pairs[i].second;
      bytes += pairs[i].second;
    }
    for (std::uint32_t body = 0; body < alone.size(); ++body)
      bytes += alone[body] * (dictionary_.code[body] < 255 - count ? 2 : 2 + study_.bodies[body].size());
    if (bytes < best) {
      best = bytes;
      best_count = count;
    }
  }
  for (std::size_t i = 0; i < best_count; ++i) {
    const std::pair<std::uint32_t, std::uint32_t> pair{pairs[i].first.first,
                                                       dictionary_.code[pairs[i].first.second]};
    dictionary_.pair_code.emplace(pair, static_cast<std::uint32_t>(i));
    dictionary_.pairs.push_back(pair);
  }
}

/// Attributes and rows.
Bytes Encoder::run(const Piece& piece) const {
  Bytes out;
  const bool implied = !piece.rows.empty() && is_implied(piece.marks, piece.rows.front());
  const std::size_t count = piece.rows.size() - implied;
  const std::uint32_t offset_width =
      piece.rows.empty() || ideas_.deltas ? 1 : width(piece.rows.back().offset);
  const std::uint32_t width_code = offset_width / 2;
  if (attribute_bytes(piece.marks, count) == 1) {
    put(out, count | (implied ? row_limit() + 1 : 0) | (ideas_.deltas ? 0 : width_code << 6), 1);
  } else {
    if (ideas_.attributes) put(out, ideas_.deltas ? 0x80 : 0xc0, 1);
    put(out, count, 2);
    put(out, (piece.marks & 0xf0) | (implied ? 0x40 : 0) | width_code, 1);
    put(out, piece.marks >> 8, 2);
  }
  const auto pairs = static_cast<std::uint32_t>(dictionary_.pairs.size());
  each_row(piece, [&](std::uint32_t delta, const StudyRow& row) {
    const std::uint32_t code = dictionary_.code[row.body];
    if (ideas_.pairs) {
      const auto pair = dictionary_.pair_code.find({delta / scale_, code});
      if (pair != dictionary_.pair_code.end()) return put(out, pair->second, 1);
    }
    if (!ideas_.deltas) put(out, row.offset, offset_width);
    if (ideas_.deltas && delta % scale_ != 0) fail("an offset that is not aligned");
    const bool raw = ideas_.bodies && code >= 255 - pairs;
    if (ideas_.bodies) put(out, raw ? 255 : code + pairs, 1);
    if (ideas_.deltas) put_delta(out, delta / scale_);
    if (!ideas_.bodies || raw)
      out.insert(out.end(), study_.bodies[row.body].begin(), study_.bodies[row.body].end());
  });
  return out;
}

Bytes Encoder::section(const std::vector<Piece>& pieces) {
  // Entries, with one for each gap but padding if they have no sizes.
  std::vector<Piece> none(1, {.marks = none_marks, .rows = {}});
  std::vector<std::pair<std::uint64_t, const Piece*>> entries;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    entries.emplace_back(pieces[i].start, &pieces[i]);
    const std::uint64_t end = pieces[i].start + pieces[i].size;
    if (!ideas_.has_sizes() &&
        (i + 1 == pieces.size() || (pieces[i + 1].start != end && !padded_.contains(pieces[i + 1].start))))
      entries.emplace_back(end, &none.front());
  }
  std::map<std::pair<std::uint32_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>>, std::uint32_t>
      seen;
  std::vector<const Piece*> runs;
  std::vector<std::uint32_t> run_of(entries.size()), uses;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> key;
    for (const StudyRow& row : entries[i].second->rows) key.emplace_back(row.offset, row.body);
    const auto [at, added] =
        seen.try_emplace({entries[i].second->marks, std::move(key)}, static_cast<std::uint32_t>(runs.size()));
    if (added) {
      runs.push_back(entries[i].second);
      uses.push_back(0);
    }
    run_of[i] = at->second;
    ++uses[at->second];
  }
  learn(runs);
  Bytes run_bytes;
  std::vector<std::uint32_t> run_at;
  for (const Piece* piece : runs) {
    run_at.push_back(static_cast<std::uint32_t>(run_bytes.size()));
    const Bytes bytes = run(*piece);
    run_bytes.insert(run_bytes.end(), bytes.begin(), bytes.end());
  }

  Head head;
  head.base = entries.front().first;
  head.entries = static_cast<std::uint32_t>(entries.size());
  head.scale = static_cast<std::uint8_t>(scale_);
  if (ideas_.pages) head.ref_width = run_bytes.size() < 1u << 16 ? 2 : run_bytes.size() < 1u << 24 ? 3 : 4;
  std::vector<std::uint32_t> number(runs.size(), most_numbers), by_use(runs.size());
  if (ideas_.numbers) {
    for (std::uint32_t i = 0; i < by_use.size(); ++i) by_use[i] = i;
    std::ranges::stable_sort(by_use, std::greater{}, [&](std::uint32_t run) { return uses[run]; });
    by_use.resize(std::min<std::size_t>(by_use.size(), most_numbers));
    for (std::uint32_t i = 0; i < by_use.size(); ++i) number[by_use[i]] = i;
  }
  Bytes out(sizeof head);
  const auto at = [&] { return static_cast<std::uint32_t>(out.size()); };
  const std::uint64_t last_page = (entries.back().first - head.base) >> page_bits;
  if (ideas_.pages) { // for each page and the end: the first entry, and with numbers the first rare run
    std::size_t entry = 0, rare = 0;
    head.pages = static_cast<std::uint32_t>(last_page + 1);
    for (std::uint64_t page = 0; page <= last_page + 1; ++page) {
      while (entry < entries.size() && (entries[entry].first - head.base) >> page_bits < page)
        rare += number[run_of[entry++]] == most_numbers;
      put(out, entry, 4);
      if (ideas_.numbers) put(out, rare, 4);
    }
  }
  head.starts = at();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    put(out, entries[i].first - head.base, ideas_.pages ? 2 : ideas_.flat ? 4 : 8);
    if (ideas_.pages) continue;
    if (!ideas_.flat) put(out, entries[i].second->size, 4);
    put(out, run_at[run_of[i]], 4);
  }
  head.refs = at();
  if (ideas_.pages)
    for (const std::uint32_t run : run_of)
      ideas_.numbers ? put(out, number[run], 1) : put(out, run_at[run], head.ref_width);
  head.rare = at();
  if (ideas_.numbers)
    for (const std::uint32_t run : run_of)
      if (number[run] == most_numbers) put(out, run_at[run], head.ref_width);
  head.numbers = at();
  for (const std::uint32_t run : ideas_.numbers ? by_use : std::vector<std::uint32_t>{})
    put(out, run_at[run], head.ref_width);
  head.bodies = static_cast<std::uint8_t>(dictionary_.bodies.size());
  head.pairs = static_cast<std::uint8_t>(dictionary_.pairs.size());
  for (const auto& [delta, code] : dictionary_.pairs) {
    put(out, delta, 1);
    put(out, code, 1);
  }
  head.body_table = at();
  std::uint32_t body_at = 2 * head.bodies;
  for (const std::uint32_t body : dictionary_.bodies) {
    put(out, body_at, 2);
    body_at += static_cast<std::uint32_t>(study_.bodies[body].size());
  }
  for (const std::uint32_t body : dictionary_.bodies)
    out.insert(out.end(), study_.bodies[body].begin(), study_.bodies[body].end());
  head.runs = at();
  out.insert(out.end(), run_bytes.begin(), run_bytes.end());
  std::memcpy(out.data(), &head, sizeof head);
  return out;
}

/// The rules at an address: the row's body, or nothing.
struct Answer {
  const std::uint8_t* body = nullptr;
  std::uint32_t marks = none_marks;

  friend bool operator==(const Answer& a, const Answer& b) {
    return a.marks == b.marks && !a.body == !b.body &&
           (!a.body || std::memcmp(a.body, b.body, body_size(*a.body)) == 0);
  }
};

template <Ideas ideas> class Reader {
public:
  Reader(Bytes& bytes, const AbiTraits& abi) {
    bytes.insert(bytes.end(), 4, 0); // get() reads ahead; not counted
    at_ = bytes.data();
    std::memcpy(&head_, at_, sizeof head_);
    entry_body_[1] = static_cast<std::uint8_t>((abi.entry_cfa_offset - abi.cfa_bias) / abi.cfa_scale);
  }

  Answer find(std::uint64_t pc) const {
    if (pc < head_.base) return {};
    const std::uint64_t distance = pc - head_.base;
    std::uint64_t start;
    std::uint32_t run;
    if constexpr (ideas.pages) {
      constexpr unsigned stride = ideas.numbers ? 8 : 4;
      const std::uint8_t* const table = at_ + sizeof(Head);
      std::uint64_t page = std::min<std::uint64_t>(distance >> page_bits, head_.pages - 1);
      const std::uint32_t low = get(table + page * stride, 4), high = get(table + (page + 1) * stride, 4);
      std::uint32_t entry = low + after(low, high, distance - (page << page_bits)) - 1;
      while (get(table + page * stride, 4) > entry) --page; // it starts in a page before
      start = (page << page_bits) + get(at_ + head_.starts + 2 * entry, 2);
      if constexpr (ideas.numbers) {
        const std::uint8_t* const numbers = at_ + head_.refs;
        run = numbers[entry];
        if (run != most_numbers) {
          run = get(at_ + head_.numbers + run * head_.ref_width, head_.ref_width);
        } else {
          std::uint32_t rare = get(table + page * stride + 4, 4);
          for (std::uint32_t i = get(table + page * stride, 4); i < entry; ++i)
            rare += numbers[i] == most_numbers;
          run = get(at_ + head_.rare + rare * head_.ref_width, head_.ref_width);
        }
      } else {
        run = get(at_ + head_.refs + entry * head_.ref_width, head_.ref_width);
      }
    } else {
      const std::uint32_t entry = after(0, head_.entries, distance) - 1;
      const std::uint8_t* const at = at_ + head_.starts + entry * entry_size;
      start = get(at, 4);
      if (!ideas.flat && distance - start >= get(at + 8, 4)) return {};
      run = get(at + entry_size - 4, 4);
    }
    return row(at_ + head_.runs + run, static_cast<std::uint32_t>(distance - start));
  }

private:
  static constexpr std::uint32_t entry_size = ideas.pages ? 2 : ideas.flat ? 8 : 16;

  /// The number of entries in [low, high) that start at or before `distance`.
  std::uint32_t after(std::uint32_t low, std::uint32_t high, std::uint64_t distance) const {
    const std::uint8_t* base = at_ + head_.starts + low * entry_size;
    std::uint32_t count = high - low, found = 0;
    const auto start = [&](std::uint32_t i) -> std::uint64_t {
      return get(base + std::size_t{i} * entry_size, ideas.pages ? 2 : 4);
    };
    while (count > 1) {
      const std::uint32_t half = count / 2;
      found = start(found + half) <= distance ? found + half : found;
      count -= half;
    }
    return count == 0 ? 0 : found + (start(found) <= distance);
  }

  Answer row(const std::uint8_t* at, std::uint32_t offset) const {
    std::uint32_t count, marks = 0, width = 1;
    bool implied = false;
    const std::uint8_t attribute = *at;
    if (ideas.attributes && !(ideas.deltas ? attribute >= 0x80 : attribute >= 0xc0)) {
      count = attribute & (ideas.deltas ? 63 : 31);
      implied = attribute & (ideas.deltas ? 64 : 32);
      if (!ideas.deltas) width = 1u << (attribute >> 6);
      ++at;
    } else {
      at += ideas.attributes;
      count = get(at, 2);
      marks = (at[2] & 0xb0u) | get(at + 3, 2) << 8;
      implied = ideas.first && (at[2] & 0x40);
      width = 1u << (at[2] & 3);
      at += 5;
      if (marks & 0x10) offset %= marks >> 16;
    }
    Answer found{implied ? entry_body_ : nullptr, marks};
    std::uint32_t row_offset = 0;
    for (; count != 0; --count) {
      const std::uint8_t* body;
      std::uint32_t code = 255;
      if constexpr (ideas.pairs) {
        code = *at++;
        if (code < head_.pairs) {
          const std::uint8_t* const pair = at_ + head_.body_table - 2 * (head_.pairs - code);
          row_offset += pair[0] * head_.scale;
          code = pair[1];
        } else {
          row_offset += get_delta(at) * head_.scale;
          if (code != 255) code -= head_.pairs;
        }
      } else {
        if constexpr (!ideas.deltas) {
          row_offset = get(at, width);
          at += width;
        }
        if constexpr (ideas.bodies) code = *at++;
        if constexpr (ideas.deltas) row_offset += get_delta(at) * head_.scale;
      }
      if (ideas.bodies && code != 255) {
        body = at_ + head_.body_table + get(at_ + head_.body_table + 2 * code, 2);
      } else {
        body = at;
        at += body_size(*at);
      }
      if (row_offset > offset) break;
      found.body = body;
    }
    return found;
  }

  const std::uint8_t* at_;
  Head head_;
  std::uint8_t entry_body_[2] = {0x03, 0};
};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (std::rotl(hash, 23) + value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

/// Joins neighbouring functions as Builder::optimize() does, for the costs of an encoder. Functions are not
/// divided.
class Cutter {
public:
  Cutter(const Study& study, const std::vector<bool>& joins, const Encoder& encoder)
      : functions_(study.functions), joins_(joins), encoder_(encoder) {
    for (const StudyFunction& f : functions_) {
      Shape shape{.key = f.marks};
      for (std::size_t i = 0; i < f.rows.size(); ++i) {
        shape.key = mix(shape.key, std::uint64_t{f.rows[i].offset} << 32 | f.rows[i].body);
        if (i > 1) shape.rest += row_bytes(f, i);
      }
      ++uses_[shape.key];
      shapes_.push_back(shape);
    }
  }

  std::vector<Piece> run() {
    std::vector<Piece> best;
    double best_size = 0;
    for (int i = 0; i < 4; ++i) {
      const std::vector<std::uint32_t> ends = search();
      const double size = count_uses(ends);
      if (!best.empty() && size >= best_size) break;
      best_size = size;
      best = make(ends);
    }
    return best;
  }

private:
  static constexpr std::uint32_t max_rows = 40;
  struct Shape {
    std::uint64_t key = 0;
    std::uint32_t rest = 0; ///< bytes of the rows after the first two
  };
  struct Group {
    std::uint64_t start = 0, key = 0;
    std::uint32_t bytes = 0, rows = 0, last = 0, last_body = ~0u, marks = 0;
    bool implied = false;
  };

  std::uint32_t row_bytes(const StudyFunction& f, std::size_t i) const {
    return encoder_.row_bytes(f.rows[i].offset - f.rows[i - 1].offset, f.rows[i].body);
  }
  void add(Group& group, std::uint32_t number) const {
    const StudyFunction& f = functions_[number];
    if (group.rows == 0 && group.bytes == 0) {
      group.start = f.start;
      group.marks = f.marks;
    }
    const auto distance = static_cast<std::uint32_t>(f.start - group.start);
    group.key = distance == 0 ? shapes_[number].key : mix(mix(group.key, shapes_[number].key), distance);
    for (std::size_t i = 0; i < std::min<std::size_t>(f.rows.size(), 2); ++i) {
      const std::uint32_t at = distance + f.rows[i].offset;
      if (f.rows[i].body == group.last_body) continue;
      if (at == 0 && encoder_.is_implied(f.marks, f.rows[i]))
        group.implied = true;
      else
        group.bytes += encoder_.row_bytes(at - group.last, f.rows[i].body);
      ++group.rows;
      group.last = at;
      group.last_body = f.rows[i].body;
    }
    if (f.rows.size() < 3) return;
    group.bytes += shapes_[number].rest;
    group.rows += static_cast<std::uint32_t>(f.rows.size()) - 2;
    group.last = distance + f.rows.back().offset;
    group.last_body = f.rows.back().body;
  }
  std::uint32_t run_bytes(const Group& group) const {
    const std::uint32_t count = group.rows - group.implied;
    return encoder_.attribute_bytes(group.marks, count) + group.bytes + encoder_.width(group.last) * count;
  }

  std::vector<std::uint32_t> search() const {
    const std::size_t count = functions_.size();
    std::vector<double> cost(count + 1, HUGE_VAL);
    std::vector<std::uint32_t> from(count + 1);
    cost[0] = 0;
    for (std::uint32_t first = 0; first < count; ++first) {
      Group group;
      for (std::uint32_t end = first; end < count && end < first + 256; ++end) {
        if (end != first && !joins_[end]) break;
        add(group, end);
        if (end != first && group.rows > max_rows) break;
        const auto uses = uses_.find(group.key);
        const double total = cost[first] + encoder_.entry_bytes() +
                             static_cast<double>(run_bytes(group)) / (uses == uses_.end() ? 1 : uses->second);
        if (total < cost[end + 1]) {
          cost[end + 1] = total;
          from[end + 1] = first;
        }
      }
    }
    std::vector<std::uint32_t> ends;
    for (auto end = static_cast<std::uint32_t>(count); end != 0; end = from[end]) ends.push_back(end);
    std::ranges::reverse(ends);
    return ends;
  }

  double count_uses(const std::vector<std::uint32_t>& ends) {
    uses_.clear();
    double size = 0;
    std::uint32_t first = 0;
    for (const std::uint32_t end : ends) {
      Group group;
      for (; first < end; ++first) add(group, first);
      size += encoder_.entry_bytes();
      if (++uses_[group.key] == 1) size += run_bytes(group);
    }
    return size;
  }

  std::vector<Piece> make(const std::vector<std::uint32_t>& ends) const {
    std::vector<Piece> pieces;
    std::uint32_t first = 0;
    for (const std::uint32_t end : ends) {
      Piece piece{functions_[first].start, 0, functions_[first].marks, {}};
      for (; first < end; ++first) {
        const StudyFunction& f = functions_[first];
        const auto distance = static_cast<std::uint32_t>(f.start - piece.start);
        for (const StudyRow& row : f.rows)
          if (piece.rows.empty() || piece.rows.back().body != row.body)
            piece.rows.push_back({distance + row.offset, row.body});
        piece.size = distance + f.size;
      }
      pieces.push_back(std::move(piece));
    }
    return pieces;
  }

  const std::vector<StudyFunction>& functions_;
  const std::vector<bool>& joins_;
  const Encoder& encoder_;
  std::vector<Shape> shapes_;
  std::unordered_map<std::uint64_t, std::uint32_t> uses_;
};

std::vector<Piece> pieces_of(const Study& study) {
  std::vector<Piece> pieces;
  for (const StudyFunction& f : study.functions) pieces.push_back({f.start, f.size, f.marks, f.rows});
  return pieces;
}

struct Measured {
  std::size_t size = 0;
  double lookup = 0, v3_lookup = 0; ///< ns
  std::uint32_t entries = 0;
  int fdes = 0; ///< whose: number of the argument after FUNCTIONS, 0: its own
};

class FormatStudy {
public:
  explicit FormatStudy(std::span<char*> arguments) : file_(arguments[0]), study_(arguments[1]) {
    for (const char* path : arguments.subspan(2)) optimized_.emplace_back(path);
    const std::vector<StudyFunction>& f = study_.functions;
    if (f.empty()) fail("no functions");
    joins_ = file_.joins(study_);
    for (std::size_t i = 0; i < f.size(); ++i)
      if (joins_[i]) padded_.insert(f[i].start);
    std::mt19937_64 random(1);
    for (std::uint64_t& pc : pcs_) {
      const StudyFunction& function = f[random() % f.size()];
      pc = function.start + random() % function.size;
    }
    v3_ = Encoder(optimized_[0], {}, padded_).section(pieces_of(optimized_[0]));
  }

  std::size_t optimized_size() const { return optimized_[0].size; }
  std::uint64_t cfi_size() const { return file_.cfi_size(); }

  template <Ideas ideas> Measured measure() {
    Bytes bytes;
    // The dictionaries depend on the FDEs, and the other way round.
    Encoder encoder(study_, ideas, padded_);
    std::vector<Piece> pieces = pieces_of(study_);
    std::vector<const Piece*> runs;
    for (const Piece& piece : pieces) runs.push_back(&piece);
    encoder.learn(runs);
    for (int round = 0; round < 2; ++round) {
      pieces = Cutter(study_, joins_, encoder).run();
      Bytes next = encoder.section(pieces);
      if (bytes.empty() || next.size() < bytes.size()) bytes = std::move(next);
    }
    Measured result;
    for (const Study& optimized : optimized_) {
      Bytes next = Encoder(optimized, ideas, padded_).section(pieces_of(optimized));
      if (next.size() >= bytes.size()) continue;
      bytes = std::move(next);
      result.fdes = static_cast<int>(&optimized - optimized_.data()) + 1;
    }
    result.size = bytes.size();
    std::memcpy(&result.entries, bytes.data() + sizeof(std::uint64_t), 4);
    const Reader<ideas> reader(bytes, *study_.abi);
    Bytes v3_bytes = v3_;
    const Reader<Ideas{}> v3(v3_bytes, *study_.abi);
    check(reader);
    result.lookup = result.v3_lookup = HUGE_VAL;
    for (int i = 0; i < 15; ++i) {
      result.lookup = std::min(result.lookup, time(reader));
      result.v3_lookup = std::min(result.v3_lookup, time(v3));
    }
    return result;
  }

private:
  /// ns of processor time for a lookup, so that other programs matter less.
  template <Ideas ideas> double time(const Reader<ideas>& reader) {
    const auto now = [] {
      timespec at;
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
      return static_cast<double>(at.tv_sec) * 1e9 + static_cast<double>(at.tv_nsec);
    };
    const double start = now();
    for (const std::uint64_t pc : pcs_) found_ += reader.find(pc).body != nullptr;
    return (now() - start) / static_cast<double>(pcs_.size());
  }

  /// The rules at every address. Exits if one is wrong.
  template <Ideas ideas> void check(const Reader<ideas>& reader) const {
    for (std::size_t i = 0; i < study_.functions.size(); ++i) {
      const StudyFunction& f = study_.functions[i];
      std::size_t row = 0;
      Answer expected{nullptr, f.marks};
      for (std::uint32_t at = 0; at < f.size; ++at) {
        const std::uint32_t offset = f.is_mask() && f.rep_size() != 0 ? at % f.rep_size() : at;
        if (offset == 0) row = 0, expected.body = nullptr;
        for (; row < f.rows.size() && f.rows[row].offset <= offset; ++row)
          expected.body = reinterpret_cast<const std::uint8_t*>(study_.bodies[f.rows[row].body].data());
        if (!(reader.find(f.start + at) == expected)) wrong(f.start + at);
      }
      const bool last = i + 1 == study_.functions.size();
      const std::uint64_t next = last ? f.end() + 64 : study_.functions[i + 1].start;
      for (std::uint64_t pc = f.end(); pc < next; ++pc) {
        const Answer answer = reader.find(pc);
        if (!(answer == Answer{}) && (last || !joins_[i + 1] || !(answer == expected))) wrong(pc);
        if (pc == f.end() + 256) pc = std::max(pc, next - 256); // a large gap
      }
    }
  }
  [[noreturn]] static void wrong(std::uint64_t pc) {
    std::fprintf(stderr, "wrong rules at 0x%llx\n", static_cast<unsigned long long>(pc));
    std::exit(1);
  }

  StudyFile file_;
  Study study_;
  std::vector<Study> optimized_;
  Bytes v3_;
  std::vector<bool> joins_;
  std::unordered_set<std::uint64_t> padded_;
  std::vector<std::uint64_t> pcs_ = std::vector<std::uint64_t>(std::size_t{1} << 17);
  std::size_t found_ = 0;
};

struct Case {
  const char* name;
  Ideas ideas;
};
constexpr Case cases[] = {
    {"version 3", {}},
    {"1a flat index, 8 bytes", {.flat = true}},
    {"1b pages", {.pages = true}},
    {"2 pages, run numbers", {.pages = true, .numbers = true}},
    {"3 first row implied", {.first = true}},
    {"4a attributes of 1 byte", {.attributes = true}},
    {"4b bodies of 1 byte", {.bodies = true}},
    {"4c deltas", {.deltas = true}},
    {"4d bodies, deltas, pairs", {.bodies = true, .deltas = true, .pairs = true}},
    {"1b 3 4a", {.pages = true, .attributes = true, .first = true}},
    {"1b 4a 4b 4c", {.pages = true, .attributes = true, .bodies = true, .deltas = true}},
    {"1b 3 4a 4b 4c", {.pages = true, .attributes = true, .first = true, .bodies = true, .deltas = true}},
    {"1b 4a 4d", {.pages = true, .attributes = true, .bodies = true, .deltas = true, .pairs = true}},
    {"1b 3 4a 4d",
     {.pages = true, .attributes = true, .first = true, .bodies = true, .deltas = true, .pairs = true}},
    {"all",
     {.pages = true,
      .numbers = true,
      .attributes = true,
      .first = true,
      .bodies = true,
      .deltas = true,
      .pairs = true}},
};

template <std::size_t number = 0> void run_cases(FormatStudy& study) {
  if constexpr (number < std::size(cases)) {
    const Measured result = study.measure<cases[number].ideas>();
    const auto size = static_cast<double>(result.size);
    std::printf(
        "%-26s %9zu bytes %5.1f %% of CFI %5.1f %% of V3 %8u FDEs (%d) %6.0f ns, V3 %6.0f ns, ratio %.2f\n",
        cases[number].name, result.size, 100 * size / static_cast<double>(study.cfi_size()),
        100 * size / static_cast<double>(study.optimized_size()), result.entries, result.fdes, result.lookup,
        result.v3_lookup, result.lookup / result.v3_lookup);
    std::fflush(stdout);
    run_cases<number + 1>(study);
  }
}

} // namespace
} // namespace sframe::bench

int main(int argc, char** argv) {
  using namespace sframe::bench;
  if (argc < 4) fail("usage: format-study FILE FUNCTIONS OPTIMIZED [MORE...]");
  FormatStudy study({argv + 1, argv + argc});
  run_cases(study);
}
