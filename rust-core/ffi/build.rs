//! Compiles the C++ side of the bridges into the static library. Headers appear under
//! `target/cxxbridge/`.

fn main() {
    const BRIDGES: [&str; 11] = [
        "src/aqm.rs",
        "src/icn.rs",
        "src/recovery.rs",
        "src/router.rs",
        "src/types.rs",
        "src/scenario.rs",
        "src/tcp.rs",
        "src/trace.rs",
        "src/transport.rs",
        "src/wire.rs",
        "src/workload.rs",
    ];
    cxx_build::bridges(BRIDGES)
        .std("c++17")
        .warnings(false)
        .compile("ferrocc_ffi_glue");
    for bridge in BRIDGES {
        println!("cargo:rerun-if-changed={bridge}");
    }
}
