//! Arbitrary bytes as a message of a name server: parsing never panics, what parses has one
//! encoding, and the server's replies are valid.
#![no_main]

use ferrocc::icn::{Message, NameServer};
use ferrocc::units::Instant;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(message) = Message::parse(bytes) {
        let mut emitted = Vec::new();
        message.emit(&mut emitted);
        assert_eq!(emitted, bytes);
    }
    let mut server = NameServer::default();
    let reply = server.on_message(Instant::ZERO, [10, 0, 0, 1].into(), bytes);
    assert!(reply.is_empty() || Message::parse(reply).is_ok());
});
