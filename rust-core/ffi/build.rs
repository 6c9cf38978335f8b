//! Compiles the C++ side of the bridges into the static library. Headers appear under
//! `target/cxxbridge/`.

fn main() {
    const BRIDGES: [&str; 8] = [
        "src/aqm.rs",
        "src/icn.rs",
        "src/router.rs",
        "src/types.rs",
        "src/scenario.rs",
        "src/trace.rs",
        "src/transport.rs",
        "src/wire.rs",
    ];
    cxx_build::bridges(BRIDGES)
        .std("c++17")
        .warnings(false)
        .compile("ferrocc_ffi_glue");
    for bridge in BRIDGES {
        println!("cargo:rerun-if-changed={bridge}");
    }
}
