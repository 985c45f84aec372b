// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/languages/cxx.h"

#include "runtime_memory.h"

#include "sframe/names/demangle.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sframe::languages {

namespace {

/// Finds the exception header that the frames after std::terminate() refer to.
class HeaderFinder final : public unwind::FrameReceiver {
public:
  HeaderFinder(modules::ModuleSpace& space, RuntimeMemory& memory) : space_(space), memory_(memory) {}

  bool frame(const unwind::Frame& frame, const unwind::Registers& registers) override {
    constexpr std::uint32_t most = 128;
    if (frame.trust != unwind::Trust::exact || frame.number == most) return false;
    const std::string_view name = function_at(space_, frame.lookup_pc());
    // For a noexcept function, the personality routine terminates the program, by functions that the library
    // does not export.
    if (name == "_ZSt9terminatev" || name == "_ZN10__cxxabiv111__terminateEPFvvE" ||
        name == "__gxx_personality_v0")
      terminated_ = true;
    if (name != "__cxa_throw" && name != "__cxa_rethrow" && !name.starts_with("_ZSt17rethrow_exception"))
      return true;
    if (!terminated_) return false;
    for (std::uint16_t reg = 0; reg < unwind::Registers::count && header_ == 0; ++reg)
      if (const auto value = registers.get(reg); value && is_header(*value)) header_ = *value;
    return false;
  }

  /// The address of the _Unwind_Exception; 0 if none was found.
  std::uint64_t header() const { return header_; }

private:
  /// The language, and whether it is the exception itself or refers to another one (rethrow_exception).
  bool is_header(std::uint64_t address) {
    constexpr std::uint64_t gnu = 0x474e5543432b2b00; // "GNUCC++" and a byte
    const auto word = memory_.word(address);
    return word && (*word & ~std::uint64_t{1}) == gnu;
  }

  modules::ModuleSpace& space_;
  RuntimeMemory& memory_;
  bool terminated_ = false;
  std::uint64_t header_ = 0;
};

/// The message of an object, as far as it is certain.
std::string message_of(std::uint64_t object, std::string_view type, modules::ModuleSpace& space,
                       RuntimeMemory& memory) {
  static constexpr struct {
    std::string_view type; // mangled
    std::uint32_t size;    // bytes
    bool is_signed;
  } numbers[] = {{"i", 4, true}, {"j", 4, false}, {"l", 8, true}, {"m", 8, false},
                 {"x", 8, true}, {"y", 8, false}, {"s", 2, true}, {"t", 2, false}};
  for (const auto& number : numbers) {
    if (number.type != type) continue;
    const auto value = memory.number(object, number.size);
    if (!value) return {};
    const unsigned unused = 64 - 8 * number.size;
    return number.is_signed ? std::to_string(static_cast<std::int64_t>(*value << unused) >> unused)
                            : std::to_string(*value);
  }
  const auto first = memory.word(object);
  if (!first) return {};
  if (type == "PKc" || type == "Pc") return memory.c_string(*first, longest_message).value_or("");
  if (type == "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE") {
    const auto size = memory.word(object + 8);
    return size ? memory.text(*first, *size, longest_message).value_or("") : std::string();
  }
  // The virtual functions of std::exception: two destructors, what(). That of these classes returns their
  // only member, a string whose first word is the address of its text.
  const auto what = memory.word(*first + 16);
  const std::string_view name = what ? function_at(space, *what) : std::string_view();
  if (name != "_ZNKSt13runtime_error4whatEv" && name != "_ZNKSt11logic_error4whatEv") return {};
  const auto text = memory.word(object + 8);
  return text ? memory.c_string(*text, longest_message).value_or("") : std::string();
}

} // namespace

std::optional<Thrown> cxx_exception(modules::ModuleSpace& space, unwind::Walker& walker,
                                    const unwind::FrameState& thread) {
  RuntimeMemory memory(space);
  HeaderFinder finder(space, memory);
  (void)walker.walk(thread, finder);
  if (finder.header() == 0) return std::nullopt;
  // libstdc++'s __cxa_exception: ten words, the first of which is the type; its last part is the header, of
  // four words; the object follows. That of an exception that was thrown again starts with the address of
  // its object.
  constexpr std::uint64_t before_header = 80, header_size = 32;
  std::optional<std::uint64_t> object = finder.header() + header_size;
  if (const auto kind = memory.number(finder.header(), 8); kind && *kind & 1)
    object = memory.word(finder.header() - before_header);
  const auto type = object ? memory.word(*object - header_size - before_header) : std::nullopt;
  const auto name_at = type ? memory.word(*type + 8) : std::nullopt; // std::type_info: its name
  constexpr std::size_t longest_name = 1000;
  auto name = name_at ? memory.c_string(*name_at, longest_name) : std::nullopt;
  if (!name) return std::nullopt;
  if (name->starts_with('*')) name->erase(0, 1); // the name is not compared by address
  constexpr std::string_view prefix = "typeinfo for ";
  std::string readable = names::demangle("_ZTI" + *name, space.budget());
  if (readable.starts_with(prefix)) readable.erase(0, prefix.size());
  return Thrown{
      .language = "C++", .type = std::move(readable), .message = message_of(*object, *name, space, memory)};
}

} // namespace sframe::languages
