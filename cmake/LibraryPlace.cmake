# cmake -DROOT=DIRECTORY -DFROM=lib -DTO=lib64 -P cmake/LibraryPlace.cmake: moves the libraries that were installed to
# ROOT/FROM to ROOT/TO, such as lib/x86_64-linux-gnu, and with them the files of CMake and pkg-config, whose paths start
# from their own place. What is there already stays. cpack and the packages of distributions use it over a build that
# was configured for another place, so that it need not be built again. In packages, libraries need no run path.
function(replace_in file) # FILE OLD NEW...
  file(READ ${file} text)
  while(ARGN)
    list(POP_FRONT ARGN old new)
    string(REPLACE "${old}" "${new}" text "${text}")
  endwhile()
  file(WRITE ${file} "${text}")
endfunction()

function(remove_run_paths root)
  file(GLOB_RECURSE files ${root}/lib*/*.so.*)
  foreach(file IN LISTS files)
    if(NOT IS_SYMLINK ${file})
      file(RPATH_REMOVE FILE ${file})
    endif()
  endforeach()
endfunction()

function(move_libraries root from to)
  file(GLOB entries ${root}/${from}/*)
  if(NOT entries OR EXISTS ${root}/${to})
    return()
  endif()
  file(MAKE_DIRECTORY ${root}/${to})
  file(COPY ${entries} DESTINATION ${root}/${to})
  file(REMOVE_RECURSE ${entries})
  file(GLOB entries ${root}/${from}/*)
  if(NOT entries)
    file(REMOVE_RECURSE ${root}/${from})
  endif()
  file(GLOB files ${root}/${to}/cmake/*/*.cmake ${root}/${to}/pkgconfig/*.pc)
  foreach(file IN LISTS files)
    replace_in(${file} "{_IMPORT_PREFIX}/${from}/" "{_IMPORT_PREFIX}/${to}/" "{prefix}/${from}\n" "{prefix}/${to}\n")
    if(to MATCHES "^[^/]+/[^/]+$") # a level more
      replace_in(${file}
        "(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_FILE}\" PATH)" "(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_DIR}\" PATH)"
        "{CMAKE_CURRENT_LIST_DIR}/../../../" "{CMAKE_CURRENT_LIST_DIR}/../../../../"
        "{pcfiledir}/../.." "{pcfiledir}/../../..")
    endif()
  endforeach()
endfunction()

if(DEFINED ROOT)
  get_filename_component(ROOT ${ROOT} ABSOLUTE)
  remove_run_paths(${ROOT})
  move_libraries(${ROOT} ${FROM} ${TO})
endif()
