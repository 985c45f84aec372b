/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The release of the headers, at compile time, and of the library, at run time.
 *
 *   if (sframe_version() < SFRAME_C_VERSION) ... the library is older than the headers
 *
 * A newer library works with programs compiled with older headers of the same major release.
 */
#ifndef SFRAME_C_VERSION_H
#define SFRAME_C_VERSION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SFRAME_C_VERSION_MAJOR 0
#define SFRAME_C_VERSION_MINOR 1
#define SFRAME_C_VERSION_PATCH 0
#define SFRAME_C_VERSION_TEXT "0.1.0"

/* The release as one number: major * 10000 + minor * 100 + patch. */
#define SFRAME_C_VERSION                                                                                     \
  (SFRAME_C_VERSION_MAJOR * 10000 + SFRAME_C_VERSION_MINOR * 100 + SFRAME_C_VERSION_PATCH)

/* The library's release, as SFRAME_C_VERSION. */
uint32_t sframe_version(void);

/* The same as text: "0.1.0". Static. */
const char* sframe_version_text(void);

#ifdef __cplusplus
}
#endif

#endif
