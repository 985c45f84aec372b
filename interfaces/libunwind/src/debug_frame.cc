// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "debug_frame.h"

#include "sframe/cfi/image.h"
#include "sframe/files/debug_file.h"
#include "sframe/unwind/address_space.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace sframe::libunwind {

class DebugFrame {
public:
  static std::unique_ptr<DebugFrame> open(const std::string& path, const AbiTraits& abi);

  /// Not for concurrent use.
  std::optional<remote::CfiLocation> find(std::uint64_t address, std::uint64_t bias) {
    const auto fde = finder_.find(address - bias);
    if (!fde || !*fde) return std::nullopt;
    return remote::location_of(finder_.section(), **fde, bias);
  }

private:
  bool take(const elf::Image& image, const AbiTraits& abi) {
    if (image.abi() != &abi) return false;
    opened_ = cfi::open_cfi(image, {.eh_frame = false});
    if (opened_.sections.empty()) return false;
    finder_ = opened_.sections.front().finder();
    return true;
  }

  std::optional<files::OpenedFile> file_, separate_;
  cfi::ImageCfi opened_;
  cfi::FdeFinder finder_;
};

std::unique_ptr<DebugFrame> DebugFrame::open(const std::string& path, const AbiTraits& abi) {
  auto file = elf::File::open_regular(path);
  if (!file) return nullptr;
  auto made = std::make_unique<DebugFrame>();
  const auto& image = made->file_.emplace(std::move(*file), Limits::standard).image();
  if (!image) return nullptr;
  if (made->take(*image, abi)) return made;
  const std::string folders[] = {files::default_debug_folder};
  made->separate_ = files::find_debug_file(*image, path, folders, Limits::standard);
  return made->separate_ && made->take(*made->separate_->image(), abi) ? std::move(made) : nullptr;
}

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::pair<std::string, const AbiTraits*>, std::unique_ptr<DebugFrame>> frames;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

} // namespace

const DebugFrame* find_debug_frame(const std::string& path, const AbiTraits& abi) {
  Registry& known = registry();
  const std::scoped_lock lock(known.mutex);
  const std::pair key(path, &abi);
  auto at = known.frames.find(key);
  if (at == known.frames.end()) at = known.frames.emplace(key, DebugFrame::open(path, abi)).first;
  return at->second.get();
}

remote::RemoteStatus search_debug_frame(const void* table, unwind::AddressSpace& target, std::uint64_t bias,
                                        std::uint64_t ip, remote::ProcedureInfo& info) {
  std::optional<remote::CfiLocation> location;
  {
    Registry& known = registry();
    const std::scoped_lock lock(known.mutex);
    const auto at = std::ranges::find_if(
        known.frames, [&](const auto& entry) { return entry.second && entry.second.get() == table; });
    if (at == known.frames.end()) return remote::RemoteStatus::invalid;
    location = at->second->find(ip, bias);
  }
  if (!location) return remote::RemoteStatus::no_info;
  return remote::describe_procedure(target, *location, ip, info);
}

} // namespace sframe::libunwind
