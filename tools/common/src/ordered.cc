// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/tool/ordered.h"

#include <utility>

namespace sframe::tool {

void Slot::begin_element() {
  owner_->take(*this, {Item::Kind::element, {}, {}});
}
void Slot::text(std::string_view text) {
  owner_->take(*this, {Item::Kind::text, {}, std::string(text)});
}
void Slot::error(std::string_view file, std::string_view what) {
  owner_->take(*this, {Item::Kind::error, std::string(file), std::string(what)});
}
void Slot::warning(std::string_view file, std::string_view what) {
  owner_->take(*this, {Item::Kind::warning, std::string(file), std::string(what)});
}
void Slot::detail(std::string_view file, std::string_view what) {
  owner_->take(*this, {Item::Kind::detail, std::string(file), std::string(what)});
}

OrderedOutput::OrderedOutput(std::size_t count, Output& out, Messages& messages)
    : out_(out), messages_(messages), slots_(count) {
  for (std::size_t i = 0; i < count; ++i) {
    slots_[i].owner_ = this;
    slots_[i].number_ = i;
  }
}

void OrderedOutput::take(Slot& slot, Slot::Item item) {
  const std::lock_guard lock(mutex_);
  if (slot.number_ == current_)
    write(item);
  else
    slot.waiting_.push_back(std::move(item));
}

void OrderedOutput::close(std::size_t number) {
  const std::lock_guard lock(mutex_);
  slots_[number].closed_ = true;
  while (current_ < slots_.size() && slots_[current_].closed_) {
    if (++current_ == slots_.size()) return;
    for (const Slot::Item& item : std::exchange(slots_[current_].waiting_, {})) write(item);
  }
}

bool OrderedOutput::failed() {
  const std::lock_guard lock(mutex_);
  return out_.failed();
}

void OrderedOutput::write(const Slot::Item& item) {
  switch (item.kind) {
  case Slot::Item::Kind::text: out_ << item.text; break;
  case Slot::Item::Kind::element:
    if (std::exchange(any_element_, true)) out_ << ',';
    break;
  case Slot::Item::Kind::error: messages_.error(item.file, item.text); break;
  case Slot::Item::Kind::warning: messages_.warning(item.file, item.text); break;
  case Slot::Item::Kind::detail: messages_.detail(item.file, item.text); break;
  }
}

} // namespace sframe::tool
