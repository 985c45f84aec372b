# For machines without any of our packages (docs/packaging.md):
#   static-archive   the programs linked by -static-pie, with man pages and completions, as one tar: needs nothing, not even a
#                    C library
#   wheel            the Python package with libsframe-c.so.0 inside
# Both link what the other targets have compiled already. Debian has no libZydis.a: scripts/static-zydis makes one.
find_library(SFRAME_CAPSTONE_ARCHIVE NAMES libcapstone.a)
mark_as_advanced(SFRAME_CAPSTONE_ARCHIVE)
set(arch ${CMAKE_SYSTEM_PROCESSOR})
if(NOT SFRAME_ZYDIS_ARCHIVE OR NOT SFRAME_CAPSTONE_ARCHIVE OR SFRAME_SANITIZE OR NOT SFRAME_STATIC_LLVM OR CMAKE_CROSSCOMPILING)
  foreach(target static-archive wheel)
    add_custom_target(${target} COMMAND ${CMAKE_COMMAND} -E echo
      "${target}: needs libZydis.a (run scripts/static-zydis, then cmake again), libcapstone.a, SFRAME_STATIC_LLVM, no sanitizer"
      COMMAND false VERBATIM)
  endforeach()
  return()
endif()
# Before all others, so that it is taken where other libraries are shared ones.
cmake_path(GET SFRAME_ZYDIS_ARCHIVE PARENT_PATH zydis_dir)

set(programs "")
foreach(program dump gen verify unwind profile)
  set(target sframe-${program}-static)
  add_executable(${target} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:sframe-${program}> packaging/static/no_loader.c)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX UNITY_BUILD OFF SFRAME_ALL_STATIC ON SKIP_BUILD_RPATH ON
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/static)
  set_property(TARGET ${target} PROPERTY POSITION_INDEPENDENT_CODE) # neither -pie nor -no-pie, beside -static-pie
  target_compile_options(${target} PRIVATE -fPIE -Wall -Wextra)
  get_target_property(libraries sframe-${program} LINK_LIBRARIES)
  target_link_directories(${target} PRIVATE ${zydis_dir})
  target_link_libraries(${target} PRIVATE ${libraries} ${SFRAME_CAPSTONE_ARCHIVE})
  target_link_options(${target} PRIVATE -static-pie)
  list(APPEND programs ${target})
endforeach()
set(static_archive ${PROJECT_BINARY_DIR}/sframe-utils-${PROJECT_VERSION}-linux-${arch}.tar.xz)
add_custom_target(static-archive DEPENDS ${programs} sframe-pages
  COMMAND ${CMAKE_COMMAND} -DVERSION=${PROJECT_VERSION} -DARCHIVE=${static_archive} -DSOURCE=${PROJECT_SOURCE_DIR}
    -DPAGES=${pages} -DPROGRAMS=${PROJECT_BINARY_DIR}/static -DSTRIP=${CMAKE_STRIP} -DBPF=${SFRAME_BPF}
    -P ${PROJECT_SOURCE_DIR}/cmake/StaticArchive.cmake
  VERBATIM)

# The C++ library inside, so that the oldest C library with the functions that are used is enough.
add_library(sframe-c-wheel SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:sframe_c>)
sframe_version_library(sframe-c-wheel ${PROJECT_SOURCE_DIR}/interfaces/c-exports.map wheel ${PROJECT_VERSION})
get_target_property(libraries sframe-c-shared LINK_LIBRARIES)
set_target_properties(sframe-c-wheel PROPERTIES SKIP_BUILD_RPATH ON)
target_link_directories(sframe-c-wheel PRIVATE ${zydis_dir})
target_link_libraries(sframe-c-wheel PRIVATE ${libraries})
target_link_options(sframe-c-wheel PRIVATE -static-libstdc++ -static-libgcc)
add_custom_target(wheel DEPENDS sframe-c-wheel
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/interfaces/python/make-wheel.py ${PROJECT_SOURCE_DIR}/interfaces/python
    $<TARGET_FILE:sframe-c-wheel> ${PROJECT_BINARY_DIR}
  VERBATIM)
