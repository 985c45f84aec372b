// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one way in which work is spread over threads: a list of pieces, taken one after another by whoever is
// free. Which thread takes which piece is left to chance, so a piece must not depend on another, and results
// go to a place of the piece's own; then the outcome does not depend on the number of threads.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace sframe {

/// Calls work(piece, scratch) once for each piece in [0, pieces), on up to `threads` threads; the caller's is
/// one of them. `scratch` is what make_scratch() gives to each thread for all its pieces: memory to use
/// again. Returns when all are done. Pieces are begun in order; both functions may run on several threads at once. Where
/// one throws, no further piece is begun, and the first exception goes on in the caller's thread when all threads have
/// ended. With one thread or one piece no thread is started; where the system refuses a thread there are fewer.
template <class MakeScratch, class Work>
void for_each_parallel(std::size_t pieces, unsigned threads, const MakeScratch& make_scratch, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::once_flag failed;
  const auto run = [&] {
    try {
      auto scratch = make_scratch();
      for (std::size_t piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < pieces;)
        work(piece, scratch);
    } catch (const std::exception&) {
      std::call_once(failed, [&] { failure = std::current_exception(); });
      next = pieces;
    }
  };
  const std::size_t wanted = std::min<std::size_t>(pieces, std::max(threads, 1u));
  {
    std::vector<std::jthread> helpers;
    helpers.reserve(wanted);
    try {
      while (helpers.size() + 1 < wanted) helpers.emplace_back(run);
    } catch (const std::system_error&) {
      // The threads that there are do all the work.
    }
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

/// The same without scratch: calls work(piece).
template <class Work> void for_each_parallel(std::size_t pieces, unsigned threads, const Work& work) {
  struct Nothing {};
  for_each_parallel(
      pieces, threads, [] { return Nothing(); }, [&](std::size_t piece, Nothing&) { work(piece); });
}

} // namespace sframe
