# sframe_bpf_program(RESULT SOURCE HEADERS...): compiles a BPF program over interfaces/bpf into an object of its name in
# the current binary folder, whose path is RESULT. RESULT is empty if it cannot be compiled here: no clang with the
# target bpf, or no headers.
find_program(SFRAME_BPF_CLANG NAMES clang clang-22 clang-19 clang-16 clang-14)
mark_as_advanced(SFRAME_BPF_CLANG)
function(sframe_bpf_program result source)
  set(${result} "" PARENT_SCOPE)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(arch x86)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(arch arm64)
  endif()
  if(NOT (TARGET sframe::bpf-loader AND arch AND SFRAME_BPF_CLANG))
    return()
  endif()
  # Headers of Debian's kind are in a folder of the architecture, which clang does not search for the target bpf.
  set(compile ${SFRAME_BPF_CLANG} -O2 -g -Wall -Wextra -target bpf -mcpu=v3 -D__TARGET_ARCH_${arch} -I${SFRAME_LIBBPF_INCLUDE}
    -I${PROJECT_SOURCE_DIR}/lib/bpf/include -I${PROJECT_SOURCE_DIR}/interfaces/bpf/include)
  if(CMAKE_LIBRARY_ARCHITECTURE)
    list(APPEND compile -I${CMAKE_SYSROOT}/usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
  endif()
  list(APPEND compile -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o)
  execute_process(COMMAND ${compile} ${CMAKE_CURRENT_BINARY_DIR}/attempt.o RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    return()
  endif()
  cmake_path(GET source STEM LAST_ONLY name)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  set(headers ${PROJECT_SOURCE_DIR}/lib/bpf/include/sframe/bpf/table.h ${PROJECT_SOURCE_DIR}/interfaces/bpf/include/sframe/bpf/stack.h
    ${PROJECT_SOURCE_DIR}/interfaces/bpf/include/sframe/bpf/cursor.h ${PROJECT_SOURCE_DIR}/interfaces/bpf/include/sframe/bpf/stack.bpf.h)
  add_custom_command(OUTPUT ${program} COMMAND ${compile} ${program} DEPENDS ${source} ${ARGN} ${headers} VERBATIM)
  set(${result} ${program} PARENT_SCOPE)
endfunction()
