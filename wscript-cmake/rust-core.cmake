# The Rust core as a CMake target.
#
# Needs FERROCC_ROOT, the repository's root by its real path. Sets
#   FERROCC_CARGO     the cargo program, or FERROCC_CARGO-NOTFOUND; nothing else is set then
#   FERROCC_INCLUDE   include path of the generated bridge headers ("ferrocc-ffi/src/<domain>.rs.h")
# and makes the target ferrocc_ffi, an imported static library that cargo builds whenever a Rust
# source changed. cxx_build puts the C++ half of the bridges into the same library.

find_program(
  FERROCC_CARGO cargo
  HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin"
  DOC "Rust's cargo, which builds ferrocc's core"
)
if(NOT FERROCC_CARGO)
  return()
endif()

# Where cargo builds; the same place as for `cargo build` by hand, so that nothing is built twice.
if(NOT DEFINED FERROCC_CARGO_TARGET_DIR)
  set(FERROCC_CARGO_TARGET_DIR "${FERROCC_ROOT}/target")
endif()
set(FERROCC_INCLUDE "${FERROCC_CARGO_TARGET_DIR}/cxxbridge")
set(FERROCC_ARCHIVE "${FERROCC_CARGO_TARGET_DIR}/release/libferrocc_ffi.a")

file(
  GLOB_RECURSE FERROCC_RUST_SOURCES CONFIGURE_DEPENDS
  "${FERROCC_ROOT}/rust-core/src/*"
  "${FERROCC_ROOT}/rust-core/cli/src/*"
  "${FERROCC_ROOT}/rust-core/ffi/src/*.rs"
  "${FERROCC_ROOT}/scenarios/*.json"
)
foreach(
  file
  Cargo.toml
  Cargo.lock
  rust-core/Cargo.toml
  rust-core/build.rs
  rust-core/cli/Cargo.toml
  rust-core/cli/build.rs
  rust-core/ffi/Cargo.toml
  rust-core/ffi/build.rs
)
  if(EXISTS "${FERROCC_ROOT}/${file}")
    list(APPEND FERROCC_RUST_SOURCES "${FERROCC_ROOT}/${file}")
  endif()
endforeach()

# The bridge headers are written by the same command; sources that include one depend on the archive.
add_custom_command(
  OUTPUT "${FERROCC_ARCHIVE}"
  COMMAND
    "${FERROCC_CARGO}" build --release --locked --package ferrocc-ffi --manifest-path
    "${FERROCC_ROOT}/Cargo.toml" --target-dir "${FERROCC_CARGO_TARGET_DIR}"
  # cargo leaves the archive alone if nothing in it changed; the build tool wants to see that it is
  # newer than its sources.
  COMMAND "${CMAKE_COMMAND}" -E touch_nocreate "${FERROCC_ARCHIVE}"
  DEPENDS ${FERROCC_RUST_SOURCES}
  WORKING_DIRECTORY "${FERROCC_ROOT}"
  COMMENT "Building ferrocc's Rust core with cargo"
  USES_TERMINAL VERBATIM
)
add_custom_target(ferrocc_ffi_build DEPENDS "${FERROCC_ARCHIVE}")

# The folder must exist when CMake generates, before cargo has run for the first time.
file(MAKE_DIRECTORY "${FERROCC_INCLUDE}")
add_library(ferrocc_ffi STATIC IMPORTED GLOBAL)
set_target_properties(ferrocc_ffi PROPERTIES IMPORTED_LOCATION "${FERROCC_ARCHIVE}")
add_dependencies(ferrocc_ffi ferrocc_ffi_build)
