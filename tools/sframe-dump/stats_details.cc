// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "stats_details.h"

#include "describe.h"
#include "json.h"

#include <sframe/base/line.h>

#include <algorithm>
#include <bit>
#include <iterator>

namespace sframe::dump {

void Details::begin_part() {
  functions_.clear();
  count_ = 0;
  functions_by_rows_ = {};
}

void Details::add(const EncodedFde& fde, const FunctionLocation& location, const FunctionStats& stats) {
  const auto bits = static_cast<std::size_t>(std::bit_width(stats.rows));
  ++functions_by_rows_[std::min(bits, functions_by_rows_.size() - 1)];
  functions_.push_back({location, fde.size, stats, fde.fde_type, count_++});
  if (functions_.size() >= 8 * most_of_a_part) keep_largest();
}

/// Keeps the functions with the most rows and those with the most bytes, in their order. Equal ones: the
/// first.
void Details::keep_largest() {
  const std::size_t most = std::min(most_of_a_part, (most_of_a_page - listed_) / 2);
  if (functions_.size() <= most) return;
  const auto keep = functions_.begin() + static_cast<std::ptrdiff_t>(most);
  const auto by = [](auto value) {
    return [value](const Function& a, const Function& b) {
      return a.stats.*value != b.stats.*value ? a.stats.*value > b.stats.*value : a.number < b.number;
    };
  };
  std::ranges::partial_sort(functions_, keep, by(&FunctionStats::rows));
  const auto rest = std::min(functions_.end(), keep + static_cast<std::ptrdiff_t>(most));
  std::partial_sort(keep, rest, functions_.end(), by(&FunctionStats::bytes));
  functions_.erase(rest, functions_.end());
  std::ranges::sort(functions_, {}, &Function::number);
}

void Details::write_part(llvm::json::OStream& json) {
  keep_largest();
  listed_ += functions_.size();
  json.attributeArray("largest", [&] {
    for (const Function& function : functions_)
      json.object([&] {
        json.attribute("start", hex(function.location.start));
        json.attribute("size", function.size);
        if (const auto section = names_->section_name(function.location); !section.empty())
          write_text(json, "section", section);
        const auto name = names_->find(function.location);
        write_text(json, "name", name ? name->text(true) : std::string());
        json.attribute("rows", function.stats.rows);
        json.attribute("bytes", function.stats.bytes);
        json.attribute("fde_type", to_ref(name_of(function.type)));
      });
  });
  json.attribute("not_listed", count_ - functions_.size());
  json.attributeArray("rows_per_function", [&] {
    for (std::size_t bits = 0; bits < functions_by_rows_.size(); ++bits) {
      if (functions_by_rows_[bits] == 0) continue;
      json.object([&] {
        json.attribute("from", bits ? std::uint64_t{1} << (bits - 1) : 0);
        json.attribute("to", (std::uint64_t{1} << bits) - 1);
        json.attribute("functions", functions_by_rows_[bits]);
      });
    }
  });
}

void write_maps(llvm::json::OStream& json, const CodeMaps& maps) {
  const auto numbers = [&](const char* key, const std::vector<std::uint64_t>& values) {
    json.attributeArray(key, [&] {
      for (const std::uint64_t value : values) json.value(value);
    });
  };
  json.attributeArray("maps", [&] {
    for (const CodeMap& map : maps.maps)
      json.object([&] {
        write_text(json, "section", map.section);
        json.attribute("start", hex(map.range.start));
        json.attribute("size", map.range.size);
        json.attribute("piece", map.piece);
        numbers("covered", map.covered);
        numbers("with_cfi_only", map.with_cfi_only);
      });
  });
  json.attribute("maps_left_out", maps.left_out);
}

} // namespace sframe::dump
