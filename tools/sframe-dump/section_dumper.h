// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What formats in lines for people share: each section, or part of one, has a title, and a blank line stands
// between them.

#pragma once

#include "dumper.h"

#include <sframe/tool/output.h>

#include <string>
#include <string_view>

namespace sframe::dump {

class SectionDumper : public Dumper {
public:
  explicit SectionDumper(tool::Output& out) : out_(out) {}

  void begin_object(const Object& object) override { object_ = &object; }
  void begin_section(const Object&, const ObjectSection& section) override { section_ = &section; }
  void empty_section(const Object& object, const ObjectSection& section) override {
    begin_section(object, section);
    title();
    out_ << ", empty\n";
  }

protected:
  /// Begins a line: "a.out: section .sframe".
  void title() {
    if (!first_) out_ << "\n";
    first_ = false;
    print_title(object_->name() + ": section " + section_->name);
  }
  /// The same; and ", part 2 at offset 0x40", if it is not the only one.
  void title(const Part& part) {
    title();
    if (part.offset)
      out_ << ", part " << std::to_string(part.number + 1) << " at offset " << hex(part.offset);
  }
  virtual void print_title(std::string_view text) { out_.safe(text); }

  tool::Output& out_;
  const Object* object_ = nullptr;         ///< the current one
  const ObjectSection* section_ = nullptr; ///< the current one

private:
  bool first_ = true;
};

} // namespace sframe::dump
