# Run by cpack after each component was copied, before packages are made of the copies. Debian's packages need
# a copyright file and a changelog each, and compressed man pages; libraries are in the folder of their
# architecture, and need no run path.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  file(GLOB_RECURSE files ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/lib*/*.so.*)
  foreach(file IN LISTS files)
    if(NOT IS_SYMLINK ${file})
      file(RPATH_REMOVE FILE ${file})
    endif()
  endforeach()
endforeach()
if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()

# A build for another prefix than /usr has its libraries in lib/. Moves them to lib/${CPACK_SFRAME_MULTIARCH},
# and with them the files of CMake and pkg-config, whose paths start from their own place.
function(replace_in file) # FILE OLD NEW...
  file(READ ${file} text)
  while(ARGN)
    list(POP_FRONT ARGN old new)
    string(REPLACE "${old}" "${new}" text "${text}")
  endwhile()
  file(WRITE ${file} "${text}")
endfunction()

function(move_libraries root)
  file(GLOB entries ${root}/lib/*)
  file(MAKE_DIRECTORY ${root}/lib/${CPACK_SFRAME_MULTIARCH})
  file(COPY ${entries} DESTINATION ${root}/lib/${CPACK_SFRAME_MULTIARCH})
  file(REMOVE_RECURSE ${entries})
  file(GLOB files ${root}/lib/*/cmake/*/*.cmake ${root}/lib/*/pkgconfig/*.pc)
  foreach(file IN LISTS files)
    replace_in(${file}
      "{_IMPORT_PREFIX}/lib/" "{_IMPORT_PREFIX}/lib/${CPACK_SFRAME_MULTIARCH}/"
      "(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_FILE}\" PATH)" "(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_DIR}\" PATH)"
      "{CMAKE_CURRENT_LIST_DIR}/../../../" "{CMAKE_CURRENT_LIST_DIR}/../../../../"
      "{prefix}/lib\n" "{prefix}/lib/${CPACK_SFRAME_MULTIARCH}\n"
      "{pcfiledir}/../.." "{pcfiledir}/../../..")
  endforeach()
endfunction()

if(CPACK_SFRAME_MULTIARCH AND CPACK_SFRAME_LIBDIR STREQUAL lib)
  foreach(component runtime devel)
    move_libraries(${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  endforeach()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/../packaging/debian/sframe-utils.lintian-overrides
  ${CPACK_TEMPORARY_DIRECTORY}/programs/usr/share/lintian/overrides/${CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME} COPYONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/../packaging/debian/libsframe-c.lintian-overrides
  ${CPACK_TEMPORARY_DIRECTORY}/runtime/usr/share/lintian/overrides/${CPACK_DEBIAN_RUNTIME_PACKAGE_NAME} COPYONLY)

# Debian's form of what CHANGELOG.md says of this version: a line for each item and its continuation.
function(write_changelog file)
  file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../CHANGELOG.md lines)
  set(text "sframe-utils (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n")
  foreach(line IN LISTS lines)
    if(line MATCHES "^## ([^ ]+) \\(([0-9-]+)\\)$")
      set(version ${CMAKE_MATCH_1})
      if(version STREQUAL CPACK_PACKAGE_VERSION)
        set(date ${CMAKE_MATCH_2})
      endif()
    elseif(version STREQUAL CPACK_PACKAGE_VERSION AND line MATCHES "^(-|  )( *[^ ].*)$")
      string(REGEX REPLACE "^-" "*" line "${line}")
      string(APPEND text "  ${line}\n")
    endif()
  endforeach()
  if(NOT date)
    message(FATAL_ERROR "CHANGELOG.md has no section of version ${CPACK_PACKAGE_VERSION}")
  endif()
  execute_process(COMMAND date -uRd ${date} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${file} "${text}\n -- The sframe-utils developers <sframe-utils@example.org>  ${date}\n")
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} COMPONENT)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share)
  set(doc ${root}/doc/${CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME})
  file(MAKE_DIRECTORY ${doc})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/../packaging/debian/copyright ${doc}/copyright COPYONLY)
  write_changelog(${doc}/changelog)
  file(GLOB pages ${root}/man/man1/*.1 ${root}/man/man3/*.3)
  foreach(file IN LISTS pages ITEMS ${doc}/changelog)
    execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endforeach()
