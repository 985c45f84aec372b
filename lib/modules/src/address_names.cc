// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/modules/address_names.h"

namespace sframe::modules {

AddressName AddressNames::find(std::uint64_t address, AddressKind kind) {
  unwind::Frame frame;
  frame.pc = address;
  frame.pc_exact = kind == AddressKind::instruction;
  AddressName name;
  name.module = space_.module_at(frame.lookup_pc());
  name.function = function_of(frame, name.module, symbols_);
  if (!name.module) return name;
  name.module_offset = address - name.module->info().start;
  name.file_address = name.module->link(address).value;
  if (lines_ == Lines::yes) name.source = source_.find(*name.module, frame.lookup_pc());
  return name;
}

std::string address_text(const AddressName& name, std::uint64_t address) {
  std::string text;
  if (name.function) text = name.function->name + " + " + hex(name.function->offset);
  if (name.module) {
    const std::string module(name.module->shown_name());
    text += name.function ? "  (" + module + ')' : '(' + module + " + " + hex(name.module_offset) + ')';
  }
  if (text.empty()) return hex(address);
  if (name.source && !name.source->at.file.empty())
    text += "  " + name.source->at.file + ':' + std::to_string(name.source->at.line);
  return text;
}

} // namespace sframe::modules
