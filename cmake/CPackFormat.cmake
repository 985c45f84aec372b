# Read by cpack for each format: leaves out the components for the other one's package tools.
if(CPACK_GENERATOR STREQUAL DEB)
  list(REMOVE_ITEM CPACK_COMPONENTS_ALL rpm)
elseif(CPACK_GENERATOR STREQUAL RPM)
  list(REMOVE_ITEM CPACK_COMPONENTS_ALL debhelper)
endif()
