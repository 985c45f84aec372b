// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// expected<T, E> and unexpected<E>: results of functions that can fail. They are those of tl::expected, an
// implementation of C++23's for older standards, so that programs in C++20 can use these headers. With
// SFRAME_STD_EXPECTED they are the standard library's. The two are different types: a program must define the
// same as the libraries were built with, as CMake's targets and the pkg-config files do.

#pragma once

#ifdef SFRAME_STD_EXPECTED
#  include <expected>

namespace sframe {
using std::expected;
using std::unexpected;
} // namespace sframe
#else
#  include <tl/expected.hpp>

namespace sframe {
using tl::expected;
using tl::unexpected;
} // namespace sframe
#endif
