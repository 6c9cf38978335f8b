# The programs that `cargo xtask bench` compares the module with. Included by the module's
# CMakeLists.txt in an ns-3 tree and by the standalone project, after the library ferrocc is defined.

foreach(bench bench-aqm bench-udp-floor bench-tcp)
  if(COMMAND build_exec)
    build_exec(
      EXECNAME ${bench}
      SOURCE_FILES "${CMAKE_CURRENT_LIST_DIR}/${bench}.cc"
      LIBRARIES_TO_LINK ${libferrocc} ${ferrocc_libraries}
      EXECUTABLE_DIRECTORY_PATH ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
    )
  else()
    add_executable(${bench} "${CMAKE_CURRENT_LIST_DIR}/${bench}.cc")
    target_link_libraries(${bench} PRIVATE ferrocc)
  endif()
endforeach()
