// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The texts of rows by their encoded words. A section has hundreds of thousands of rows but few distinct
// rules, so a row's rules are decoded and formatted once.
//
//   RowTexts texts;
//   std::optional<Error> error;
//   const auto text = texts.get<RowTexts::Whole>(row, cursor, flex, error,
//                                                [&](const FrameRow& row) { return format(row); });
//   if (!text) return error;

#pragma once

#include <sframe/section.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::listing {

/// For the rows of one section. A table of fixed size, in which a row takes the place of another: 80 KiB.
class RowTexts {
public:
  /// Up to three pieces of text.
  class Text {
  public:
    std::string_view piece(std::size_t number) const {
      const std::size_t begin = number == 0 ? 0u : ends_[number - 1];
      return {text_.data() + begin, ends_[number] - begin};
    }
    std::string_view all() const { return {text_.data(), ends_.back()}; }

  private:
    friend class RowTexts;
    static constexpr std::size_t max_size = 141;

    std::array<std::uint8_t, 3> ends_{};
    std::array<char, max_size> text_;
  };

  RowTexts() : slots_(num_slots) {}

  /// A text of one piece.
  struct Whole {
    std::string_view text;

    Whole(std::string_view made) : text(made) {}
    explicit Whole(const Text& kept) : text(kept.all()) {}
    std::array<std::string_view, 3> pieces() const { return {text, {}, {}}; }
  };

  /// The text of `row`, where `rows` is, in a function whose FDE type is the flexible one or not: the kept
  /// one, or what `make(const FrameRow&)` returns, which is then kept. Texts has up to three pieces, as Whole
  /// has one. Nothing, with `error`, if the row cannot be decoded. Valid until the next call, as long as what
  /// `make` has returned. Constant cost, apart from that of `make`.
  template <class Texts, class Make>
  std::optional<Texts> get(const EncodedRow& row, const RowCursor& rows, bool flex,
                           std::optional<Error>& error, const Make& make) {
    if (const Text* const kept = find(row, flex)) return Texts(*kept);
    const auto decoded = rows.decode(row);
    if (!decoded) {
      error = decoded.error();
      return std::nullopt;
    }
    const Texts made = make(*decoded);
    add(made.pieces());
    return made;
  }

  /// The kept text, without decoding the row; nullptr if there is none. Valid until the next add().
  const Text* find(const EncodedRow& row, bool flex) {
    key_ = Key(row, flex);
    const Slot& slot = slots_[key_.hash() % num_slots];
    return key_.is_short && slot.key == key_ ? &slot.text : nullptr;
  }

  /// Keeps the text of the row that find() was last called with, if it fits: real rules take half the room.
  void add(const std::array<std::string_view, 3>& pieces) {
    if (!key_.is_short || pieces[0].size() + pieces[1].size() + pieces[2].size() > Text::max_size) return;
    Slot& slot = slots_[key_.hash() % num_slots];
    slot.key = key_;
    std::size_t end = 0;
    for (std::size_t number = 0; const std::string_view piece : pieces) {
      std::ranges::copy(piece, slot.text.text_.data() + end);
      end += piece.size();
      slot.text.ends_[number++] = static_cast<std::uint8_t>(end);
    }
  }

private:
  static constexpr std::size_t num_slots = 512;

  /// A row without its offset. Rows with more than eight bytes of words are not remembered.
  struct Key {
    std::uint64_t words = 0;
    std::uint8_t info = 0;
    bool flex = false;
    bool is_short = false;

    Key() = default;
    Key(const EncodedRow& row, bool is_flex) : info(row.info), flex(is_flex) {
      const std::uint32_t size = row.word_count() * row.word_size();
      is_short = size <= sizeof words;
      if (!is_short) return;
      // Parts of fixed size, which may overlap.
      if (size >= 4) {
        words =
            std::uint64_t{part<std::uint32_t>(row.words)} << 32 | part<std::uint32_t>(row.words + size - 4);
      } else if (size != 0) {
        words = part<std::uint8_t>(row.words) | std::uint64_t{part<std::uint8_t>(row.words + size / 2)} << 8 |
                std::uint64_t{part<std::uint8_t>(row.words + size - 1)} << 16;
      }
    }
    std::uint64_t hash() const {
      return (words + (std::uint64_t{info} << 56) + flex) * 0x9e3779b97f4a7c15 >> 40;
    }
    friend bool operator==(const Key&, const Key&) = default;

  private:
    template <class T> static T part(const std::byte* at) {
      T value;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
  };
  struct Slot {
    Key key;
    Text text;
  };

  std::vector<Slot> slots_;
  Key key_; ///< of the row that was last looked for
};

} // namespace sframe::listing

#pragma GCC visibility pop
