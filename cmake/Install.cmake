# What `cmake --install` installs, by component:
#   programs   the programs, their man pages and completions
#   sweep      sframe-sweep, which needs Python and the programs
#   conformance   sframe-conformance and its cases, which needs Python only (docs/conformance.md)
#   runtime    the shared libraries; GNU's libsframe.so.3 in a folder of its own
#   devel      headers, static libraries in C++ (those that need no LLVM), man pages of the C interface, CMake's and pkg-config's files
#   gdb        the unwinder for gdb, auto-loaded, frames for LLDB, and the Python package (docs/gdb.md)
#   bpf        libsframe-bpf: headers and static libraries, if SFRAME_BPF is on (docs/bpf.md)
#   docs       pages, examples, licence
#   debhelper, rpm   what packages are built with (docs/packaging.md); only if asked for
# docs/installing.md shows how each is used. CMake: find_package(sframe COMPONENTS ...); pkg-config: sframe,
# sframe-here, sframe-jit, sframe-jit-check, sframe-walk, sframe-c, sframe-gnu, sframe-bpf.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sframe)
set(gnu_dir ${CMAKE_INSTALL_LIBDIR}/sframe-gnu) # its file has the name of binutils' library
set(doc_dir ${CMAKE_INSTALL_DOCDIR})

# C++. sframe::sframe, sframe::here and sframe::jit of the package are chosen by sframe-config.cmake.
set(libraries sframe sframe-sframe-shared sframe_base sframe_cfi sframe_unwind sframe-unwind-shared)
set(header_folders libsframe lib/base lib/cfi lib/unwind)
if(TARGET sframe_here)
  list(APPEND libraries sframe_here sframe-here-shared sframe_jit sframe-jit-shared)
  list(APPEND header_folders lib/here lib/jit)
  if(SFRAME_TOOLS)
    list(APPEND libraries sframe-jit-check-shared)
  endif()
endif()
# Of sframe::cfi-image, which needs lib/elf, and of sframe::jit-check.
set(not_here PATTERN cfi/image.h EXCLUDE PATTERN jit/check.h EXCLUDE)
if(SFRAME_TOOLS)
  set(not_here "")
  list(APPEND libraries sframe-walk-shared)
  list(APPEND header_folders lib/names lib/elf lib/core lib/files lib/modules lib/steppers lib/process lib/crash lib/remote)
endif()
install(TARGETS ${libraries} EXPORT sframe-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel)
foreach(folder ${header_folders})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/include/sframe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel
    PATTERN "llvm_*.h" EXCLUDE ${not_here})
endforeach()

if(TARGET sframe_orc) # needs the user's LLVM: not on the include path of those who do not ask for it
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/interfaces/orc/include/sframe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sframe-orc COMPONENT devel)
endif()

# In C; static libraries only, in C++. A component of its own: who distributes the others may leave it out.
if(TARGET sframe_bpf-loader)
  install(TARGETS sframe_bpf sframe_bpf-loader EXPORT sframe-bpf-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT bpf)
  foreach(folder lib/bpf interfaces/bpf)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/include/sframe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT bpf)
  endforeach()
  install(EXPORT sframe-bpf-targets NAMESPACE sframe:: DESTINATION ${package_dir} COMPONENT bpf)
endif()

if(SFRAME_TOOLS)
  install(TARGETS sframe-dump sframe-gen sframe-verify sframe-unwind sframe-profile RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)

  # Man pages and completions, from what --help-json prints.
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(pages ${PROJECT_BINARY_DIR}/pages)
  function(sframe_install_pages folder component)
    install(DIRECTORY ${folder}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT ${component})
    install(DIRECTORY ${folder}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT ${component})
    install(DIRECTORY ${folder}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT ${component})
    install(DIRECTORY ${folder}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT ${component})
  endfunction()
  if(NOT CMAKE_CROSSCOMPILING)
    foreach(program dump gen verify unwind profile)
      add_custom_command(OUTPUT ${pages}/man1/sframe-${program}.1
        COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/pages.py $<TARGET_FILE:sframe-${program}> ${pages}
        DEPENDS sframe-${program} ${PROJECT_SOURCE_DIR}/cmake/pages.py VERBATIM)
      list(APPEND manuals ${pages}/man1/sframe-${program}.1)
    endforeach()
    add_custom_target(sframe-pages ALL DEPENDS ${manuals})
    sframe_install_pages(${pages} programs)
  endif()

  # sframe-sweep: Python, with its package, and what the programs in Python share, beside it.
  set(shared_python ${PROJECT_SOURCE_DIR}/tools/common/python/sframe_options.py)
  set(sweep_dir ${CMAKE_INSTALL_DATADIR}/sframe/sweep)
  file(RELATIVE_PATH SFRAME_SWEEP_PACKAGE /${CMAKE_INSTALL_BINDIR} /${sweep_dir})
  set(SFRAME_OPTIONS_FOLDER ${SFRAME_SWEEP_PACKAGE})
  configure_file(tools/sframe-sweep/sframe-sweep.in ${PROJECT_BINARY_DIR}/installed/sframe-sweep @ONLY)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/installed/sframe-sweep DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT sweep)
  install(DIRECTORY tools/sframe-sweep/sframe_sweep DESTINATION ${sweep_dir} COMPONENT sweep
    FILES_MATCHING PATTERN "*.py" PATTERN "*.sql" PATTERN "__pycache__" EXCLUDE)
  install(FILES ${shared_python} DESTINATION ${sweep_dir} COMPONENT sweep)
  install(DIRECTORY lib/page/assets/ DESTINATION ${sweep_dir}/sframe_sweep/page COMPONENT sweep
    FILES_MATCHING PATTERN "page.*" PATTERN "sweep.js" PATTERN "findings.json")
  if(NOT CMAKE_CROSSCOMPILING)
    set(sweep_pages ${PROJECT_BINARY_DIR}/sweep-pages)
    file(GLOB sweep_files CONFIGURE_DEPENDS tools/sframe-sweep/sframe_sweep/*.py)
    add_custom_command(OUTPUT ${sweep_pages}/man1/sframe-sweep.1
      COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/pages.py ${PROJECT_BINARY_DIR}/bin/sframe-sweep ${sweep_pages}
      DEPENDS ${sweep_files} ${shared_python} ${PROJECT_BINARY_DIR}/bin/sframe-sweep ${PROJECT_SOURCE_DIR}/cmake/pages.py VERBATIM)
    add_custom_target(sframe-sweep-pages ALL DEPENDS ${sweep_pages}/man1/sframe-sweep.1)
    sframe_install_pages(${sweep_pages} sweep)
  endif()

  # sframe-conformance: the same.
  set(conformance_dir ${CMAKE_INSTALL_DATADIR}/sframe/conformance)
  file(RELATIVE_PATH SFRAME_CONFORMANCE_FOLDER /${CMAKE_INSTALL_BINDIR} /${conformance_dir})
  set(SFRAME_OPTIONS_FOLDER ${SFRAME_CONFORMANCE_FOLDER})
  configure_file(conformance/sframe-conformance.in ${PROJECT_BINARY_DIR}/installed/sframe-conformance @ONLY)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/installed/sframe-conformance DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT conformance)
  install(DIRECTORY conformance/sframe_conformance conformance/readers conformance/writers conformance/compilers conformance/known conformance/include
    DESTINATION ${conformance_dir} COMPONENT conformance PATTERN "__pycache__" EXCLUDE)
  install(FILES ${shared_python} DESTINATION ${conformance_dir} COMPONENT conformance)
  if(NOT CMAKE_CROSSCOMPILING)
    set(conformance_pages ${PROJECT_BINARY_DIR}/conformance-pages)
    add_custom_command(OUTPUT ${conformance_pages}/man1/sframe-conformance.1
      COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/pages.py ${PROJECT_BINARY_DIR}/bin/sframe-conformance ${conformance_pages}
      DEPENDS ${PROJECT_SOURCE_DIR}/conformance/sframe_conformance/cli.py ${shared_python} ${PROJECT_BINARY_DIR}/bin/sframe-conformance ${PROJECT_SOURCE_DIR}/cmake/pages.py VERBATIM)
    add_custom_target(sframe-conformance-pages ALL DEPENDS ${conformance_pages}/man1/sframe-conformance.1)
    sframe_install_pages(${conformance_pages} conformance)
  endif()

  install(TARGETS sframe-c-shared EXPORT sframe-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/interfaces/c/include/sframe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel)
  # Man pages, from the headers' comments.
  file(GLOB c_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/interfaces/c/include/sframe/c/*.h)
  add_custom_command(OUTPUT ${pages}/man3/sframe-c.3
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}/man3
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/man3.py ${PROJECT_VERSION} ${pages} ${c_headers}
    DEPENDS ${c_headers} ${PROJECT_SOURCE_DIR}/cmake/man3.py ${PROJECT_SOURCE_DIR}/cmake/pages.py VERBATIM)
  add_custom_target(sframe-c-pages ALL DEPENDS ${pages}/man3/sframe-c.3)
  install(DIRECTORY ${pages}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT devel)
  # libunwind's names: not on the include path of those who do not ask for them.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/interfaces/libunwind/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sframe-libunwind COMPONENT devel
    FILES_MATCHING PATTERN "*.h")

  install(TARGETS sframe-gnu-shared EXPORT sframe-targets
    LIBRARY DESTINATION ${gnu_dir} COMPONENT runtime NAMELINK_COMPONENT devel)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/interfaces/libsframe/include/gnu/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sframe-gnu COMPONENT devel)
endif()

# gdb loads a file for an object file if its name in share/gdb/auto-load is that of the object file with -gdb.py.
# The unwinder is for all programs; what all dynamic ones load is the dynamic loader.
if(SFRAME_TOOLS)
  set(loader "")
  foreach(file /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 /lib/ld-linux-aarch64_be.so.1 /lib/ld64.so.1)
    if(EXISTS ${file} AND NOT CMAKE_CROSSCOMPILING AND NOT loader)
      file(REAL_PATH ${file} loader)
    endif()
  endforeach()
  set(SFRAME_GDB_AUTO_LOAD "${loader}" CACHE STRING "Absolute path of the object file with which gdb loads the unwinder; empty: none")
  mark_as_advanced(SFRAME_GDB_AUTO_LOAD)
  install(FILES interfaces/gdb/sframe-gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/sframe/gdb COMPONENT gdb)
  install(FILES interfaces/lldb/sframe_lldb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/sframe/lldb COMPONENT gdb)
  install(DIRECTORY interfaces/python/sframe DESTINATION ${CMAKE_INSTALL_DATADIR}/sframe/python COMPONENT gdb
    FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
  if(SFRAME_GDB_AUTO_LOAD)
    cmake_path(GET SFRAME_GDB_AUTO_LOAD PARENT_PATH folder)
    cmake_path(GET SFRAME_GDB_AUTO_LOAD FILENAME name)
    file(RELATIVE_PATH script /gdb/auto-load${folder} /sframe/gdb/sframe-gdb.py)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}-gdb.py CONTENT
"# Loaded by gdb with the dynamic loader: for every program that is linked dynamically.
import os
import runpy

runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), \"${script}\"))
")
    install(FILES ${PROJECT_BINARY_DIR}/${name}-gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/gdb/auto-load${folder} COMPONENT gdb)
  endif()
endif()

# CMake.
configure_package_config_file(cmake/sframe-config.cmake.in ${PROJECT_BINARY_DIR}/sframe-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sframe-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT sframe-targets NAMESPACE sframe:: DESTINATION ${package_dir} COMPONENT devel)
install(FILES ${PROJECT_BINARY_DIR}/sframe-config.cmake ${PROJECT_BINARY_DIR}/sframe-config-version.cmake cmake/SFrame.cmake
  DESTINATION ${package_dir} COMPONENT devel)

# pkg-config. The prefix follows the file's place, so that an installed folder can be moved.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
function(sframe_pkg_config name description)
  # FOLDER: below those of headers and libraries; STATIC: with --static, what the shared libraries have in
  # them
  cmake_parse_arguments(arg "" "FOLDER;LIBS;STATIC;REQUIRES;DEFINES;COMPONENT" "" ${ARGN})
  if(NOT arg_COMPONENT)
    set(arg_COMPONENT devel)
  endif()
  string(REGEX REPLACE "/$" "" prefix "\${pcfiledir}/${up}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.pc CONTENT
"prefix=${prefix}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: ${name}
Description: ${description}
Version: ${PROJECT_VERSION}
Requires: ${arg_REQUIRES}
Cflags: -I\${includedir}${arg_FOLDER} ${arg_DEFINES}
Libs: -L\${libdir}${arg_FOLDER} ${arg_LIBS}
Libs.private: ${arg_STATIC}
" @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${arg_COMPONENT})
endfunction()
set(language "C++20")
set(defines "")
if(SFRAME_STD_EXPECTED)
  set(language "C++23")
  set(defines "-DSFRAME_STD_EXPECTED")
endif()
sframe_pkg_config(sframe "SFrame sections: reading and writing (${language})" LIBS "-lsframe++" DEFINES "${defines}")
if(TARGET sframe_here)
  sframe_pkg_config(sframe-here "The calling thread's stack (${language})"
    LIBS "-lsframe-here -lsframe-unwind" STATIC "-lsframe-cfi -lsframe-base -pthread" REQUIRES sframe)
  sframe_pkg_config(sframe-jit "Rows for generated code (${language})"
    LIBS "-lsframe-jit -lsframe-unwind" STATIC "-lsframe-cfi -lsframe-base -pthread" REQUIRES sframe)
  if(SFRAME_TOOLS)
    sframe_pkg_config(sframe-jit-check "Rows compared with generated code (${language})"
      LIBS "-lsframe-jit-check" REQUIRES sframe-jit)
  endif()
endif()
if(SFRAME_TOOLS)
  sframe_pkg_config(sframe-walk "Stacks of cores, processes and other address spaces (${language})"
    LIBS "-lsframe-walk -lsframe-unwind" REQUIRES sframe)
  sframe_pkg_config(sframe-c "SFrame sections and stacks (C)" LIBS "-lsframe-c")
  sframe_pkg_config(sframe-gnu "GNU binutils' interface to SFrame sections (C)" FOLDER "/sframe-gnu" LIBS "-lsframe")
endif()

if(TARGET sframe_bpf-loader)
  sframe_pkg_config(sframe-bpf "User stacks in BPF programs (C)" COMPONENT bpf
    LIBS "-lsframe-bpf-loader -lsframe-bpf -lsframe-base -lsframe++ -lbpf -lstdc++ -lm -pthread")
endif()

# For the tools that build packages; only if asked for by component.
if(SFRAME_TOOLS)
  install(PROGRAMS packaging/debhelper/dh_sframe DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT debhelper EXCLUDE_FROM_ALL)
  install(FILES packaging/debhelper/sframe.pm DESTINATION ${CMAKE_INSTALL_DATADIR}/perl5/Debian/Debhelper/Sequence
    COMPONENT debhelper EXCLUDE_FROM_ALL)
  install(FILES packaging/package-summary.awk DESTINATION ${CMAKE_INSTALL_DATADIR}/sframe/debhelper
    COMPONENT debhelper EXCLUDE_FROM_ALL)
  find_program(SFRAME_POD2MAN pod2man DOC "The program that makes dh_sframe's man page")
  mark_as_advanced(SFRAME_POD2MAN)
  if(SFRAME_POD2MAN)
    set(page ${PROJECT_BINARY_DIR}/dh_sframe.1)
    # No date: the same bytes in every build.
    add_custom_command(OUTPUT ${page} DEPENDS packaging/debhelper/dh_sframe
      COMMAND ${SFRAME_POD2MAN} --utf8 --section=1 --name=DH_SFRAME --center=Debhelper "--release=sframe-utils ${PROJECT_VERSION}" "--date= "
              ${PROJECT_SOURCE_DIR}/packaging/debhelper/dh_sframe ${page} VERBATIM)
    add_custom_target(sframe-debhelper-page ALL DEPENDS ${page})
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT debhelper EXCLUDE_FROM_ALL)
  endif()
  install(PROGRAMS packaging/rpm/brp-sframe DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sframe COMPONENT rpm EXCLUDE_FROM_ALL)
  install(FILES packaging/package-summary.awk DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sframe COMPONENT rpm EXCLUDE_FROM_ALL)
  install(FILES packaging/rpm/macros.sframe DESTINATION lib/rpm/macros.d COMPONENT rpm EXCLUDE_FROM_ALL)
endif()

install(FILES LICENSE README.md SECURITY.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${doc_dir} COMPONENT docs)
install(DIRECTORY docs/ DESTINATION ${doc_dir}/docs COMPONENT docs)
install(DIRECTORY test/extension DESTINATION ${doc_dir}/test COMPONENT docs) # what docs/dev/adding-*.md refer to
install(DIRECTORY packaging/bazel packaging/github-action DESTINATION ${doc_dir}/packaging COMPONENT docs)
install(DIRECTORY examples/ DESTINATION ${doc_dir}/examples COMPONENT docs PATTERN CMakeLists.txt EXCLUDE)

# cpack -G DEB (or RPM) in the build folder: a package per component.
set(CPACK_PACKAGE_NAME sframe-utils)
set(CPACK_PACKAGE_VENDOR "sframe-utils")
set(CPACK_PACKAGE_CONTACT "The sframe-utils developers <sframe-utils@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL programs sweep conformance runtime devel gdb docs debhelper rpm)
set(CPACK_COMPONENTS_GROUPING IGNORE)

set(CPACK_SFRAME_LIBDIR ${CMAKE_INSTALL_LIBDIR})
set(CPACK_SFRAME_MULTIARCH ${CMAKE_LIBRARY_ARCHITECTURE})
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/CPackStage.cmake)
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION "SFrame is a small stack-trace table in programs, by which kernels, C
libraries and profilers walk stacks. sframe-gen makes it from call frame
information, sframe-verify checks it, sframe-dump prints it, sframe-unwind
prints the stacks of cores and processes, and sframe-profile profiles them.")
set(CPACK_COMPONENT_SWEEP_DESCRIPTION "sframe-sweep converts and verifies the programs and libraries of many
packages, on one machine or many, and keeps the results in a database.")
set(CPACK_COMPONENT_CONFORMANCE_DESCRIPTION "sframe-conformance tests readers and writers of SFrame sections by
cases whose answers follow from the specification.")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Reads and writes SFrame sections, and walks the stacks of the calling
thread, of cores, processes and other address spaces, from C and C++;
libunwind's interface; and GNU binutils' interface to SFrame sections.")
set(CPACK_COMPONENT_DEVEL_DESCRIPTION "Headers, static libraries in C++, man pages of the C interface, and the
files for CMake and pkg-config.")
set(CPACK_COMPONENT_GDB_DESCRIPTION "An unwinder that uses SFrame sections, in files and as sidecars, for
backtraces of cores and live processes; and the Python package sframe.")
set(CPACK_COMPONENT_DOCS_DESCRIPTION "The pages of sframe-utils, and examples of programs that use its libraries.")
set(CPACK_COMPONENT_DEBHELPER_DESCRIPTION "dh --with sframe adds SFrame sections to the programs and libraries of a
package.")
set(CPACK_COMPONENT_RPM_DESCRIPTION "Macros by which rpmbuild adds SFrame sections to the programs and libraries of
packages.")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME sframe-utils)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS libcapstone4) # loaded when it is needed (lib/code/src/capstone.h)
set(CPACK_DEBIAN_SWEEP_PACKAGE_NAME sframe-sweep)
set(CPACK_DEBIAN_SWEEP_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_SWEEP_PACKAGE_DEPENDS "python3 (>= 3.11), sframe-utils")
set(CPACK_DEBIAN_CONFORMANCE_PACKAGE_NAME sframe-conformance)
set(CPACK_DEBIAN_CONFORMANCE_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_CONFORMANCE_PACKAGE_DEPENDS "python3 (>= 3.11)")
set(CPACK_DEBIAN_CONFORMANCE_PACKAGE_SUGGESTS sframe-utils)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libsframe-c${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/cpack/triggers)
set(CPACK_DEBIAN_DEVEL_PACKAGE_NAME libsframe-utils-dev)
set(CPACK_DEBIAN_DEVEL_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVEL_PACKAGE_DEPENDS "libsframe-c${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
if(NOT SFRAME_STD_EXPECTED)
  string(APPEND CPACK_DEBIAN_DEVEL_PACKAGE_DEPENDS ", libexpected-dev")
endif()
set(CPACK_DEBIAN_GDB_PACKAGE_NAME sframe-gdb)
set(CPACK_DEBIAN_GDB_PACKAGE_DEPENDS "gdb (>= 13), libsframe-c${PROJECT_VERSION_MAJOR}")
set(CPACK_DEBIAN_DOCS_PACKAGE_NAME sframe-utils-doc)
set(CPACK_DEBIAN_DOCS_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOCS_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DEBHELPER_PACKAGE_NAME dh-sframe)
set(CPACK_DEBIAN_DEBHELPER_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DEBHELPER_PACKAGE_DEPENDS "debhelper, sframe-utils")
set(CPACK_DEBIAN_DEBHELPER_PACKAGE_PROVIDES dh-sequence-sframe) # what a source package may build-depend on

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0 WITH LLVM-exception")
set(CPACK_RPM_PROGRAMS_PACKAGE_NAME sframe-utils)
set(CPACK_RPM_SWEEP_PACKAGE_NAME sframe-sweep)
set(CPACK_RPM_SWEEP_PACKAGE_ARCHITECTURE noarch)
set(CPACK_RPM_SWEEP_PACKAGE_REQUIRES "python3 >= 3.11, sframe-utils")
set(CPACK_RPM_CONFORMANCE_PACKAGE_NAME sframe-conformance)
set(CPACK_RPM_CONFORMANCE_PACKAGE_ARCHITECTURE noarch)
set(CPACK_RPM_CONFORMANCE_PACKAGE_REQUIRES "python3 >= 3.11")
set(CPACK_RPM_CONFORMANCE_PACKAGE_SUGGESTS sframe-utils)
set(CPACK_RPM_RUNTIME_PACKAGE_NAME libsframe-c${PROJECT_VERSION_MAJOR})
set(CPACK_RPM_DEVEL_PACKAGE_NAME libsframe-utils-devel)
set(CPACK_RPM_DEVEL_PACKAGE_REQUIRES "libsframe-c${PROJECT_VERSION_MAJOR} = ${PROJECT_VERSION}")
set(CPACK_RPM_GDB_PACKAGE_NAME sframe-gdb)
set(CPACK_RPM_GDB_PACKAGE_REQUIRES "gdb >= 13, libsframe-c${PROJECT_VERSION_MAJOR}")
set(CPACK_RPM_DOCS_PACKAGE_NAME sframe-utils-doc)
set(CPACK_RPM_DOCS_PACKAGE_ARCHITECTURE noarch)
set(CPACK_RPM_RPM_PACKAGE_NAME sframe-rpm-macros)
set(CPACK_RPM_RPM_PACKAGE_ARCHITECTURE noarch)
set(CPACK_RPM_RPM_PACKAGE_REQUIRES "sframe-utils")
# Each format has its own tools only.
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/CPackFormat.cmake)
include(CPack)
