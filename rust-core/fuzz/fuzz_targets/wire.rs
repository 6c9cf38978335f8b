//! Arbitrary bytes as an ICN header: parsing never panics, and what parses survives being emitted.
#![no_main]

use ferrocc::wire::{Repr, Sum, header_len, set_mark, verify_checksum};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = verify_checksum(bytes, Sum::ZERO);
    let _ = set_mark(&mut bytes.to_vec());
    let Ok(repr) = Repr::parse(bytes) else { return };
    let _ = repr.to_string();
    let mut emitted = Vec::new();
    repr.emit(Sum::ZERO, &mut emitted);
    assert_eq!(header_len(&emitted), Some(emitted.len()));
    assert!(verify_checksum(&emitted, Sum::ZERO));
    assert_eq!(Repr::parse(&emitted), Ok(repr));
});
