# sframe_add(TARGET name... [SIDECAR folder] [VERIFY] [PROFILE spec|linux|linux-module|glibc]
#            [OPTIONS option...])
#
# Adds an SFrame section to what each target builds (program, library, archive), in place, after every link.
# With SIDECAR the file stays as it is, and the section goes to folder/.build-id/; not for archives. A file
# without call frame information is no error, and stays as it is. VERIFY checks the section against the format,
# the call frame information and the code: a wrong section fails the build. PROFILE writes what that reader can
# use; it implies VERIFY, for the reader. OPTIONS are for sframe-gen. find_package(sframe) gives this function;
# the programs are those of the same installation, else those in PATH (SFRAME_GEN and SFRAME_VERIFY set others).
find_program(SFRAME_GEN sframe-gen HINTS ${PACKAGE_PREFIX_DIR}/bin DOC "The program that adds SFrame sections")
find_program(SFRAME_VERIFY sframe-verify HINTS ${PACKAGE_PREFIX_DIR}/bin DOC "The program that checks SFrame sections")
mark_as_advanced(SFRAME_GEN SFRAME_VERIFY)

function(sframe_add)
  cmake_parse_arguments(PARSE_ARGV 0 arg "VERIFY" "SIDECAR;PROFILE" "TARGET;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES OR NOT arg_TARGET)
    message(FATAL_ERROR "usage: sframe_add(TARGET name... [SIDECAR folder] [VERIFY] [PROFILE reader] [OPTIONS option...])")
  endif()
  if(arg_PROFILE)
    set(arg_VERIFY ON)
  endif()
  if(NOT SFRAME_GEN OR (arg_VERIFY AND NOT SFRAME_VERIFY))
    message(FATAL_ERROR "sframe_add: sframe-gen or sframe-verify not found; set SFRAME_GEN and SFRAME_VERIFY")
  endif()
  foreach(target IN LISTS arg_TARGET)
    get_target_property(type ${target} TYPE)
    if(NOT type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY|STATIC_LIBRARY)$")
      message(FATAL_ERROR "sframe_add: ${target} builds no file that can have an SFrame section (${type})")
    endif()
    if(arg_SIDECAR AND type STREQUAL "STATIC_LIBRARY")
      message(FATAL_ERROR "sframe_add: ${target} is an archive, which cannot have a sidecar")
    endif()
    set(gen ${SFRAME_GEN} --quiet --report=none --allow-missing ${arg_OPTIONS})
    set(verify ${SFRAME_VERIFY} --quiet -r) # -r: a file without a section is no error
    if(arg_PROFILE)
      list(APPEND gen --for=${arg_PROFILE})
      list(APPEND verify --profile=${arg_PROFILE})
    endif()
    if(arg_SIDECAR)
      get_filename_component(folder ${arg_SIDECAR} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
      list(APPEND gen --emit=sidecar $<TARGET_FILE:${target}> -o ${folder}/)
      list(APPEND verify $<TARGET_FILE:${target}> --sframe ${folder}/)
    else()
      list(APPEND gen $<TARGET_FILE:${target}> -o $<TARGET_FILE:${target}>)
      list(APPEND verify $<TARGET_FILE:${target}>)
    endif()
    add_custom_command(TARGET ${target} POST_BUILD COMMAND ${gen} COMMENT "SFrame for ${target}" VERBATIM)
    if(arg_VERIFY)
      add_custom_command(TARGET ${target} POST_BUILD COMMAND ${verify} VERBATIM)
    endif()
  endforeach()
endfunction()
