# Release flags for programs that read files of strangers: position independent, all relocations done and
# read-only before main, checks of stack and buffers, only valid targets for indirect branches; no path of the
# build folder in the result. test/lit/release/ checks the built files.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C CXX)

option(SFRAME_HARDEN "Compile and link with the hardening flags (not with sanitizers, nor without optimisation)" ON)
if(SFRAME_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL Debug)
  set(SFRAME_HARDEN_NOW OFF) # sanitizers do not see into fortified functions; fortification needs optimisation
else()
  set(SFRAME_HARDEN_NOW ${SFRAME_HARDEN})
endif()

# Only relative paths remain, so equal sources give equal bytes. The compiler's working folder has the real path,
# which differs where the build folder was named by a link.
if(SFRAME_HARDEN_NOW)
  check_cxx_compiler_flag(-ffile-prefix-map=a=b SFRAME_HAS_PREFIX_MAP)
  if(SFRAME_HAS_PREFIX_MAP)
    add_compile_options(-ffile-prefix-map=${CMAKE_BINARY_DIR}=build -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
    file(REAL_PATH ${CMAKE_BINARY_DIR} SFRAME_REAL_BINARY_DIR)
    if(NOT SFRAME_REAL_BINARY_DIR STREQUAL CMAKE_BINARY_DIR)
      add_compile_options("-ffile-prefix-map=${SFRAME_REAL_BINARY_DIR}=build")
    endif()
  endif()

  # _FORTIFY_SOURCE=3 silently falls back with older compilers or C libraries; request 2 there.
  set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_cxx_source_compiles("#include <features.h>
    #if __USE_FORTIFY_LEVEL < 3
    #error less
    #endif
    int main() {}" SFRAME_HAS_FORTIFY_3)
  unset(CMAKE_REQUIRED_FLAGS)
  if(SFRAME_HAS_FORTIFY_3)
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  else()
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  endif()

  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "SFRAME_HAS${flag}" has)
    check_cxx_compiler_flag(${flag} ${has})
    if(${has})
      add_compile_options(${flag})
    endif()
  endforeach()

  foreach(flag relro now noexecstack)
    string(MAKE_C_IDENTIFIER "SFRAME_HAS_z_${flag}" has)
    check_linker_flag(CXX "LINKER:-z,${flag}" ${has})
    if(${has})
      add_link_options("LINKER:-z,${flag}")
    endif()
  endforeach()
endif()
