// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows for what LLVM's JIT compiles: a plugin for JITLink, which adds linked code to a registry, with names,
// before it may be called, and drops it before its memory is freed.
//
//   sframe::jit::Registry registry; // outlives the JIT
//   auto jit = cantFail(llvm::orc::LLJITBuilder().create());
//   auto& layer = llvm::cast<llvm::orc::ObjectLinkingLayer>(jit->getObjLinkingLayer());
//   layer.addPlugin(std::make_shared<sframe::orc::RegistryPlugin>(registry));
//
// The functions must have the attribute `uwtable`, by which LLVM writes .eh_frame; of others there is nothing
// to read. All is in this header, which is compiled with your LLVM: tried with 22. For code in this process;
// not for executors in another one.

#pragma once

#include "sframe/abi.h"
#include "sframe/jit/cfi.h"
#include "sframe/jit/registry.h"

#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sframe::orc {

/// LLVM's EHFrameRegistrationPlugin (of LLJIT by default) registers frames for exceptions. With it the
/// registry needs no jit::FrameRegistration, which does not know of handlers.
class RegistryPlugin final : public llvm::orc::ObjectLinkingLayer::Plugin {
public:
  /// The registry must outlive all code that is linked. It may have other code, too.
  explicit RegistryPlugin(jit::Registry& registry) : registry_(registry) {}

  /// Functions that have no rows: their CFI is malformed or no row can represent it, there is other code at
  /// their addresses, or memory ran out. They are linked all the same. Of a graph with malformed CFI all
  /// functions count as one.
  std::size_t left_out() const { return left_out_; }

  // Called by LLVM.

  void modifyPassConfig(llvm::orc::MaterializationResponsibility& responsibility, llvm::jitlink::LinkGraph&,
                        llvm::jitlink::PassConfiguration& config) override {
    // All addresses are final, and sections have their last contents.
    config.PostFixupPasses.push_back([this, key = &responsibility](llvm::jitlink::LinkGraph& graph) {
      guarded([&] {
        std::vector<Function> functions = functions_of(graph);
        const std::lock_guard guard(lock_);
        linked_[key] = std::move(functions);
      });
      return llvm::Error::success();
    });
  }

  llvm::Error notifyEmitted(llvm::orc::MaterializationResponsibility& responsibility) override {
    const std::vector<Function> functions = take(&responsibility);
    return responsibility.withResourceKeyDo([&](llvm::orc::ResourceKey key) {
      const std::lock_guard guard(lock_); // after LLVM's, in which resources are transferred
      guarded([&] {
        std::vector<jit::Region>& regions = regions_[key];
        regions.reserve(regions.size() + functions.size()); // no code without an owner
        for (const Function& one : functions) {
          add(one, regions);
        }
      });
    });
  }

  llvm::Error notifyFailed(llvm::orc::MaterializationResponsibility& responsibility) override {
    const std::lock_guard guard(lock_);
    linked_.erase(&responsibility);
    return llvm::Error::success();
  }

  /// The memory is freed after this: nobody is in the code.
  llvm::Error notifyRemovingResources(llvm::orc::JITDylib&, llvm::orc::ResourceKey key) override {
    const std::lock_guard guard(lock_);
    const auto at = regions_.find(key);
    if (at == regions_.end()) return llvm::Error::success();
    for (const jit::Region region : at->second)
      if (!registry_.drop(region)) (void)registry_.remove(region); // out of memory
    regions_.erase(at);
    return llvm::Error::success();
  }

  void notifyTransferringResources(llvm::orc::JITDylib&, llvm::orc::ResourceKey to,
                                   llvm::orc::ResourceKey from) override {
    const std::lock_guard guard(lock_);
    auto moved = regions_.extract(from);
    if (!moved) return;
    if (const auto at = regions_.find(to); at == regions_.end()) {
      moved.key() = to;
      regions_.insert(std::move(moved));
    } else {
      try {
        at->second.insert(at->second.end(), moved.mapped().begin(), moved.mapped().end());
      } catch (const std::bad_alloc&) { // nobody would drop it: so that other code may have its place
        for (const jit::Region region : moved.mapped()) (void)registry_.remove(region);
      }
    }
  }

private:
  struct Function {
    std::uint64_t start;
    std::string name;
    jit::Rows rows;
  };
  using Names = std::map<std::uint64_t, std::string>;

  /// LLVM has no exceptions.
  template <class Body> void guarded(Body&& body) {
    try {
      body();
    } catch (const std::bad_alloc&) {
      ++left_out_;
    }
  }

  /// What was linked for it.
  std::vector<Function> take(const void* key) {
    const std::lock_guard guard(lock_);
    const auto at = linked_.find(key);
    if (at == linked_.end()) return {};
    std::vector<Function> functions = std::move(at->second);
    linked_.erase(at);
    return functions;
  }

  std::vector<Function> functions_of(llvm::jitlink::LinkGraph& graph) {
    std::vector<Function> functions;
    const Names names = names_of(graph);
    if (llvm::jitlink::Section* const section = graph.findSectionByName(".eh_frame"))
      read_cfi(*section, names, functions);
    if (llvm::jitlink::Section* const stubs = graph.findSectionByName("$__STUBS")) // JITLink's own
      read_stubs(*stubs, functions);
    return functions;
  }

  /// Of several names the first by alphabet.
  static Names names_of(llvm::jitlink::LinkGraph& graph) {
    Names names;
    for (llvm::jitlink::Symbol* const symbol : graph.defined_symbols()) {
      if (!symbol->hasName() || !is_code(symbol->getSection())) continue;
      const llvm::StringRef name = *symbol->getName();
      const auto [at, is_new] = names.try_emplace(symbol->getAddress().getValue(), name);
      if (!is_new && name < at->second) at->second = name.str(); // their order is not specified
    }
    return names;
  }

  static bool is_code(const llvm::jitlink::Section& section) {
    using Bits = unsigned;
    return Bits(section.getMemProt()) & Bits(llvm::orc::MemProt::Exec);
  }

  /// The contents of a section as they are in memory.
  static std::vector<std::byte> bytes_of(llvm::jitlink::Section& section) {
    const llvm::jitlink::SectionRange range(section);
    std::vector<std::byte> bytes(range.getSize());
    for (llvm::jitlink::Block* const block : section.blocks()) {
      if (block->isZeroFill() || block->getSize() == 0) continue;
      const llvm::ArrayRef<char> content = block->getContent();
      std::memcpy(bytes.data() + (block->getAddress() - range.getStart()), content.data(), content.size());
    }
    return bytes;
  }

  void read_cfi(llvm::jitlink::Section& section, const Names& names, std::vector<Function>& functions) {
    const std::vector<std::byte> bytes = bytes_of(section);
    const std::uint64_t address = llvm::jitlink::SectionRange(section).getStart().getValue();
    auto read = jit::read_eh_frame(bytes, address);
    if (!read) {
      ++left_out_;
      return;
    }
    for (const jit::CfiFunction& one : *read) {
      if (!one.rows) {
        ++left_out_;
        continue;
      }
      const auto name = names.find(one.start);
      functions.push_back({one.start, name == names.end() ? std::string() : name->second, *one.rows});
    }
  }

  /// Jumps to functions that are far away, without CFI. They change no register that rows name.
  void read_stubs(llvm::jitlink::Section& section, std::vector<Function>& functions) {
    const llvm::jitlink::SectionRange range(section);
    if (range.empty() || range.getSize() > UINT32_MAX) return;
    const FrameRow row = traits(jit::host_abi()).entry_row();
    const auto rows =
        jit::Rows::make({.size = static_cast<std::uint32_t>(range.getSize())}, std::span(&row, 1));
    if (rows)
      functions.push_back({range.getStart().getValue(), "stubs", *rows});
    else
      ++left_out_;
  }

  void add(const Function& function, std::vector<jit::Region>& regions) {
    const auto region = registry_.add(
        {.start = reinterpret_cast<const void*>(function.start), .name = function.name}, function.rows);
    if (region)
      regions.push_back(*region);
    else
      ++left_out_;
  }

  jit::Registry& registry_;
  std::mutex lock_;
  std::unordered_map<const void*, std::vector<Function>> linked_; ///< by what is not emitted yet
  std::unordered_map<llvm::orc::ResourceKey, std::vector<jit::Region>> regions_;
  std::atomic<std::size_t> left_out_ = 0;
};

} // namespace sframe::orc
