//! Quantities as text.

use super::*;
use proptest::prelude::*;

#[test]
fn accepts_what_the_documentation_says() {
    for (text, bps) in [
        ("20 Mbps", 20e6),
        ("20Mbps", 20e6),
        ("1 Gbps", 1e9),
        ("9.6kbps", 9600.0),
        ("1Kbps", 1e3),
    ] {
        assert_eq!(
            text.parse(),
            Ok(RateText(Rate::from_bps(bps as u64))),
            "{text}"
        );
    }
    assert_eq!("2.1 s".parse(), Ok(TimeText(Duration::from_millis(2100))));
    assert_eq!(" 1e3 us ".parse(), Ok(TimeText(Duration::from_millis(1))));
    assert_eq!("10 MB".parse(), Ok(SizeText(Bytes::new(10_000_000))));
    assert_eq!("2KiB".parse(), Ok(SizeText(Bytes::new(2048))));
    assert_eq!("200p".parse(), Ok(Buffer::Packets(200)));
    assert_eq!("50kB".parse(), Ok(Buffer::Bytes(Bytes::new(50_000))));
    assert_eq!("1bdp".parse(), Ok(Buffer::Bdp(1.0)));
    assert_eq!("0.5 BDP".parse(), Ok(Buffer::Bdp(0.5)));
    assert_eq!("1 rtprop".parse(), Ok(Jitter::Rtprop(1.0)));
    assert_eq!("-5 ms".parse(), Ok(OffsetText { nanos: -5_000_000 }));
    assert_eq!("50 ppm".parse(), Ok(SkewText { ppb: 50_000 }));
    assert_eq!("-0.25ppm".parse(), Ok(SkewText { ppb: -250 }));
}

#[test]
fn says_what_is_wrong() {
    let rate = |text: &str| text.parse::<RateText>().unwrap_err();
    assert_eq!(
        rate("20"),
        "\"20\" has no unit (accepted: bps, kbps, Mbps, Gbps, Tbps, as in \"20 Mbps\")"
    );
    assert_eq!(
        rate("20 mbps"),
        "\"20 mbps\" has an unknown unit of a rate (accepted: bps, kbps, Mbps, Gbps, Tbps; did \
         you mean Mbps?)"
    );
    for text in ["50mbit", "50Mbit/s", "50 Mb/s"] {
        assert!(
            rate(text).ends_with("did you mean Mbps?)"),
            "{}",
            rate(text)
        );
    }
    for text in ["0.5p", "1.5p"] {
        let error = text.parse::<Buffer>().unwrap_err();
        assert!(
            error.contains("is not a whole number of packets"),
            "{error}"
        );
    }
    assert_eq!(rate("-3 Mbps"), "\"-3 Mbps\" is negative");
    assert_eq!(rate("1e300 Tbps"), "\"1e300 Tbps\" is too large");
    for text in [
        "",
        "Mbps",
        "nan Mbps",
        "inf Mbps",
        "1,5 Mbps",
        "--1 Mbps",
        "1e999 bps",
    ] {
        assert!(rate(text).contains("accepted"), "{text}: {}", rate(text));
    }
    let skew = "50".parse::<SkewText>().unwrap_err();
    assert_eq!(
        skew,
        "\"50\" has no unit (accepted: ppb, ppm, as in \"50 ppm\")"
    );
    assert!("-1bdp".parse::<Buffer>().unwrap_err().contains("negative"));
}

#[test]
fn prints_exactly() {
    let time = |n| TimeText(Duration::from_nanos(n)).to_string();
    assert_eq!(time(2_100_000_000), "2.1 s");
    assert_eq!(time(0), "0 ns");
    assert_eq!(SkewText { ppb: -50_500 }.to_string(), "-50.5 ppm");
    assert_eq!(SkewText { ppb: 999 }.to_string(), "999 ppb");
    assert_eq!(time(1_000_000_001), "1.000000001 s");
    assert_eq!(time(90_000_000_000), "90 s");
    assert_eq!(OffsetText { nanos: -1_500 }.to_string(), "-1.5 us");
}

proptest! {
    #[test]
    fn never_panics(text in ".{0,24}") {
        let _ = text.parse::<RateText>();
        let _ = text.parse::<TimeText>();
        let _ = text.parse::<OffsetText>();
        let _ = text.parse::<SizeText>();
        let _ = text.parse::<Buffer>();
        let _ = text.parse::<Jitter>();
    }

    #[test]
    fn what_is_printed_is_read_back(n in 0u64..1 << 50, k in 0u32..51) {
        let n = n >> k;
        let time = TimeText(Duration::from_nanos(n));
        prop_assert_eq!(time.to_string().parse(), Ok(time));
        let rate = RateText(Rate::from_bps(n));
        prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        let size = SizeText(Bytes::new(n));
        prop_assert_eq!(size.to_string().parse(), Ok(size));
        let buffer = Buffer::Bytes(Bytes::new(n));
        prop_assert_eq!(buffer.to_string().parse(), Ok(buffer));
    }

    #[test]
    fn a_space_makes_no_difference(n in 0.0f64..1e6, unit in 0usize..5) {
        let unit = RATES[unit].0;
        let spaced: RateText = format!("{n} {unit}").parse().unwrap();
        prop_assert_eq!(format!("{n}{unit}").parse(), Ok(spaced));
    }
}
