# Makes the archive of cmake/Static.cmake: VERSION, ARCHIVE (its path), SOURCE (the source tree), PAGES (man pages and completions),
# PROGRAMS (their directory), STRIP, BPF (sframe-profile has libbpf in it). Equal programs give equal bytes.
cmake_path(GET ARCHIVE FILENAME name)
string(REGEX REPLACE "[.]tar.*" "" name ${name})
set(stage ${ARCHIVE}.d)
set(root ${stage}/${name})
file(REMOVE_RECURSE ${stage})
file(MAKE_DIRECTORY ${root}/bin)
foreach(program dump gen verify unwind profile)
  execute_process(COMMAND ${STRIP} -o ${root}/bin/sframe-${program} ${PROGRAMS}/sframe-${program}-static COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(COPY ${PAGES}/man1 DESTINATION ${root}/share/man)
file(COPY ${PAGES}/bash/ DESTINATION ${root}/share/bash-completion/completions)
file(COPY ${PAGES}/zsh/ DESTINATION ${root}/share/zsh/site-functions)
file(COPY ${PAGES}/fish/ DESTINATION ${root}/share/fish/vendor_completions.d)
file(COPY ${SOURCE}/LICENSE ${SOURCE}/CHANGELOG.md DESTINATION ${root})

# What is linked in has licences of its own.
file(STRINGS ${SOURCE}/packaging/static/linked-packages packages)
if(BPF)
  list(APPEND packages libbpf-dev libelf-dev)
endif()
foreach(package IN LISTS packages)
  if(EXISTS /usr/share/doc/${package}/copyright)
    file(READ /usr/share/doc/${package}/copyright text) # which may be a link
    file(WRITE ${root}/licences/${package} "${text}")
  endif()
endforeach()

file(STRINGS ${SOURCE}/CHANGELOG.md heading REGEX "^## ${VERSION} \\(")
string(REGEX REPLACE ".*\\((.*)\\).*" "\\1" date "${heading}")
execute_process(COMMAND tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=${date}\ 00:00Z --mode=u=rwX,go=rX
    -C ${stage} -cJf ${ARCHIVE} ${name} COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${stage})
message(STATUS "${ARCHIVE}")
