// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// std::panicking::panic_with_hook() (rust_panic_with_hook() before 1.87) has two arguments that it needs
// until its end: `&mut dyn PanicPayload`, two words, the second of which is the address of the type's table
// of virtual functions; and `&Location`. The printing of the message has left the text in the payload.

#include "sframe/languages/rust.h"

#include "runtime_memory.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::languages {

namespace {

enum class Payload : std::uint8_t {
  formatted, ///< FormatStringPayload { string: Option<String>, inner: &fmt::Arguments }, in some order
  text,      ///< one &str
};

/// The symbol of a virtual function, in either mangling: its type is in it.
std::optional<Payload> payload_of(std::string_view symbol) {
  const auto has = [&](std::string_view part) { return symbol.find(part) != symbol.npos; };
  constexpr std::size_t longest = 4096; // a hostile one may be of any length
  if (symbol.size() > longest || !has("panicking")) return std::nullopt;
  if (has("FormatStringPayload")) return Payload::formatted;
  if (has("StaticStrPayload") || has("StrPanicPayload")) return Payload::text;
  if (has("begin_panic_handler") && has("PanicPayload")) return Payload::formatted; // before 1.81
  if (has("11begin_panic") && has("7PayloadReE")) return Payload::text;             // Payload<&str>
  return std::nullopt;
}

bool is_handler(std::string_view symbol) {
  return symbol.find("9panicking15panic_with_hook") != symbol.npos ||
         symbol.find("9panicking20rust_panic_with_hook") != symbol.npos;
}

/// UTF-8 without zero bytes, as far as it was read (the end may be cut inside a character).
bool is_text(std::string_view text) {
  return !text.empty() && text.find('\0') == text.npos;
}

class PanicFinder final : public unwind::FrameReceiver {
public:
  PanicFinder(modules::ModuleSpace& space, RuntimeMemory& memory) : space_(space), memory_(memory) {}

  bool frame(const unwind::Frame& frame, const unwind::Registers& registers) override {
    constexpr std::uint32_t most = 128, most_without = 16;
    if (frame.trust != unwind::Trust::exact || frame.number >= (found_ ? most : most_without)) return false;
    if (may_have_rust(frame.lookup_pc()) && is_handler(function_at(space_, frame.lookup_pc())))
      read(frame, registers);
    return true;
  }

  std::optional<Thrown> take() && {
    if (messages_.empty()) return std::nullopt;
    Thrown thrown{.language = "Rust", .place = std::move(place_)};
    for (const std::string& message : messages_)
      thrown.message.insert(0, thrown.message.empty() ? message : message + "; panic: ");
    return thrown;
  }

private:
  static constexpr std::uint64_t word_size = 8, longest_frame = 4096, farthest_payload = 4096;

  /// The C library, which raised the signal, is nearly always the first module; reading and sorting its
  /// symbols takes a fifth of the time of a small core.
  bool may_have_rust(std::uint64_t address) {
    modules::Module* const module = space_.module_at(address);
    return module && !module->name().starts_with("libc.");
  }

  void read(const unwind::Frame& frame, const unwind::Registers& registers) {
    const auto sp = registers.get(space_.abi().sp);
    if (!sp || !frame.has_cfa || frame.cfa - *sp > longest_frame) return;
    found_ = true;
    std::vector<std::uint64_t> words;
    for (std::uint64_t at = *sp; at < frame.cfa; at += word_size)
      if (const auto word = memory_.word(at)) words.push_back(*word);
    // Where the compiler has kept them in registers, only these can be the two.
    const std::size_t in_memory = words.size();
    for (std::uint16_t reg = 0; reg < unwind::Registers::count; ++reg)
      if (const auto value = registers.get(reg)) words.push_back(*value);
    const std::size_t after_payload = find_message(frame.cfa, words, in_memory);
    // Registers may have what a caller knows of places.
    if (place_.empty()) find_place(std::span(words).first(in_memory), after_payload);
  }

  /// The object is in the frame of a caller.
  static bool may_be_payload(std::uint64_t address, std::uint64_t cfa) {
    return address - cfa < farthest_payload && address % word_size == 0;
  }

  /// Where the words that follow the payload start, if it is in memory; else their number.
  std::size_t find_message(std::uint64_t cfa, std::span<const std::uint64_t> words, std::size_t in_memory) {
    for (std::size_t i = 1; i < in_memory; ++i) {
      const auto payload = may_be_payload(words[i - 1], cfa) ? payload_with_table(words[i]) : std::nullopt;
      if (!payload) continue;
      add(words[i - 1], *payload);
      return i + 1;
    }
    for (const std::uint64_t table : words.subspan(in_memory)) {
      const auto payload = payload_with_table(table);
      if (!payload) continue;
      std::uint64_t object = 0;
      for (const std::uint64_t word : words.subspan(in_memory)) {
        if (!may_be_payload(word, cfa) || word == object) continue;
        if (object) return in_memory; // two that may be it
        object = word;
      }
      if (object) add(object, *payload);
      break;
    }
    return in_memory;
  }

  /// A table of virtual functions: how to destroy the object, its size, its alignment, the functions.
  std::optional<Payload> payload_with_table(std::uint64_t table) {
    if (table % word_size != 0 || !space_.module_at(table)) return std::nullopt;
    constexpr std::uint64_t first_function = 3, functions = 3;
    const auto size = memory_.word(table + word_size), alignment = memory_.word(table + 2 * word_size);
    if (!size || *size < 2 * word_size || *size > 8 * word_size || alignment != word_size)
      return std::nullopt;
    for (std::uint64_t i = first_function; i < first_function + functions; ++i)
      if (const auto function = memory_.word(table + i * word_size))
        if (const auto payload = payload_of(function_at(space_, *function))) return payload;
    return std::nullopt;
  }

  void add(std::uint64_t object, Payload payload) {
    std::array<std::uint64_t, 4> words{};
    const std::size_t count = payload == Payload::text ? 2 : 4;
    for (std::size_t i = 0; i < count; ++i) {
      const auto word = memory_.word(object + i * word_size);
      if (!word) return;
      words[i] = *word;
    }
    std::optional<std::string> text;
    if (payload == Payload::text) {
      text = text_at(words[0], words[1]);
    } else {
      // A String has capacity, address and length; the order of the first two has changed between versions,
      // as has the place of the other field. Only one reading leads to text.
      for (std::size_t first = 0; first < 2 && !text; ++first) {
        const std::span<const std::uint64_t> string = std::span(words).subspan(first, 3);
        for (std::size_t capacity = 0; capacity < 2 && !text; ++capacity)
          if (string[2] <= string[capacity]) text = text_at(string[1 - capacity], string[2]);
      }
    }
    if (text) messages_.push_back(std::move(*text));
  }

  std::optional<std::string> text_at(std::uint64_t address, std::uint64_t size) {
    constexpr std::uint64_t largest = 1 << 30;
    if (size == 0 || size > largest) return std::nullopt;
    auto text = memory_.text(address, size, longest_message);
    return text && is_text(*text) ? std::move(text) : std::nullopt;
  }

  /// Location { file: &str, line: u32, column: u32 }, a constant of the program. Mostly the argument is next
  /// to the payload; else it is the only one of the frame.
  void find_place(std::span<const std::uint64_t> words, std::size_t after_payload) {
    if (after_payload < words.size()) place_ = place_at(words[after_payload]);
    if (!place_.empty()) return;
    std::string place;
    for (const std::uint64_t word : words) {
      std::string one = place_at(word);
      if (one.empty() || one == place) continue;
      if (!place.empty()) return;
      place = std::move(one);
    }
    place_ = std::move(place);
  }

  std::string place_at(std::uint64_t address) {
    if (address % word_size != 0 || !space_.module_at(address)) return {};
    const auto file = memory_.word(address), size = memory_.word(address + word_size),
               line = memory_.number(address + 2 * word_size, 4),
               column = memory_.number(address + 2 * word_size + 4, 4);
    constexpr std::uint64_t longest = 4096;
    if (!file || !size || !line || !column || *line == 0 || *column == 0 || *size > longest) return {};
    const auto name = space_.module_at(*file) ? text_at(*file, *size) : std::nullopt;
    if (!name || !name->ends_with(".rs")) return {};
    return *name + ':' + std::to_string(*line) + ':' + std::to_string(*column);
  }

  modules::ModuleSpace& space_;
  RuntimeMemory& memory_;
  bool found_ = false;
  std::vector<std::string> messages_; ///< the last panic's first
  std::string place_;
};

} // namespace

std::optional<Thrown> rust_panic(modules::ModuleSpace& space, unwind::Walker& walker,
                                 const unwind::FrameState& thread) {
  RuntimeMemory memory(space);
  PanicFinder finder(space, memory);
  (void)walker.walk(thread, finder);
  return std::move(finder).take();
}

} // namespace sframe::languages
