# Run by cpack after each component was copied, before packages are made of the copies. Debian's packages need
# a copyright file and a changelog each, and compressed man pages; libraries are in the folder of their
# architecture, and need no run path.
include(${CMAKE_CURRENT_LIST_DIR}/LibraryPlace.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/DebianChangelog.cmake)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  remove_run_paths(${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
endforeach()
if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()

# A build for another prefix than /usr has its libraries in lib/.
if(CPACK_SFRAME_MULTIARCH AND CPACK_SFRAME_LIBDIR STREQUAL lib)
  foreach(component runtime devel)
    move_libraries(${CPACK_TEMPORARY_DIRECTORY}/${component}/usr lib lib/${CPACK_SFRAME_MULTIARCH})
  endforeach()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/../packaging/debian/sframe-utils.lintian-overrides
  ${CPACK_TEMPORARY_DIRECTORY}/programs/usr/share/lintian/overrides/${CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME} COPYONLY)
file(READ ${CMAKE_CURRENT_LIST_DIR}/../packaging/cpack/libsframe-c.lintian-overrides of_cpack)
file(READ ${CMAKE_CURRENT_LIST_DIR}/../packaging/debian/libsframe-c0.lintian-overrides of_all)
file(WRITE
  ${CPACK_TEMPORARY_DIRECTORY}/runtime/usr/share/lintian/overrides/${CPACK_DEBIAN_RUNTIME_PACKAGE_NAME}
  "${of_cpack}${of_all}")

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} COMPONENT)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share)
  set(doc ${root}/doc/${CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME})
  file(MAKE_DIRECTORY ${doc})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/../packaging/debian/copyright ${doc}/copyright COPYONLY)
  write_debian_changelog(${doc}/changelog ${CPACK_PACKAGE_VERSION} "")
  file(GLOB pages ${root}/man/man1/*.1 ${root}/man/man3/*.3)
  foreach(file IN LISTS pages ITEMS ${doc}/changelog)
    execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endforeach()
