# LLVM: ELF objects, DWARF helpers, demangling, JSON. `sframe-llvm` carries include paths and flags;
# `sframe_link_llvm(target component...)` links components, statically unless SFRAME_STATIC_LLVM is off.
find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/llvm)
# libz by name, not by the shared library's path: in programs that are linked statically it is the archive
# (cmake/Static.cmake). libz3, which only LLVM's solver of constraints needs, has none.
if(TARGET LLVMSupport)
  get_target_property(libraries LLVMSupport INTERFACE_LINK_LIBRARIES)
  string(REPLACE "ZLIB::ZLIB" "z" libraries "${libraries}")
  list(FILTER libraries EXCLUDE REGEX "/libz3[.]so$|^Z3::")
  set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
endif()
add_library(sframe-llvm INTERFACE)
target_include_directories(sframe-llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(sframe-llvm INTERFACE ${llvm_definitions})
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(sframe-llvm INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()

if(SFRAME_STATIC_LLVM)
  # As in lib/elf: of the shared library that LLVM's targets name, nothing would be used. zlib stays shared, as
  # Debian's policy demands.
  find_library(SFRAME_LLVM_zstd NAMES libzstd.a)
  mark_as_advanced(SFRAME_LLVM_zstd)
  if(TARGET zstd::libzstd_shared AND SFRAME_LLVM_zstd)
    set_target_properties(zstd::libzstd_shared PROPERTIES IMPORTED_LOCATION ${SFRAME_LLVM_zstd})
  endif()
endif()

function(sframe_link_llvm target)
  if(SFRAME_STATIC_LLVM)
    llvm_map_components_to_libnames(libraries ${ARGN})
  else()
    set(libraries LLVM)
  endif()
  target_link_libraries(${target} PUBLIC sframe-llvm ${libraries})
endfunction()
