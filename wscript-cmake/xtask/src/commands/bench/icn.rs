//! What an ICN run did, from its `summary.json`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::failure::{Failure, IoContext, Result};

/// PPP header of a point-to-point link, bytes.
const LINK_HEADER: f64 = 2.0;

/// The facts of one loss-free transfer that the UDP floor repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// Packets over the bottleneck in DATA direction.
    pub data: u64,
    /// Packets in the other direction.
    pub reqs: u64,
    /// Mean size of DATA at the IPv4 layer, bytes.
    pub data_size: u32,
    /// Mean size of a REQ at the IPv4 layer, bytes.
    pub req_size: u32,
    /// From the first request to the last byte, s.
    pub length_s: f64,
    /// Application bytes delivered.
    pub bytes: f64,
}

impl Transfer {
    /// Reads a run of one flow; anything but a complete transfer without loss is a failure.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("summary.json");
        let text = fs::read_to_string(&path).context(format!("cannot read {}", path.display()))?;
        let summary: Value = serde_json::from_str(&text)
            .map_err(|error| Failure::step(format!("{}: {error}", path.display())))?;
        Self::from_summary(&summary)
            .map_err(|problem| Failure::step(format!("{}: {problem}", path.display())))
    }

    fn from_summary(summary: &Value) -> Result<Self, String> {
        let number = |pointer: &str| {
            summary
                .pointer(pointer)
                .and_then(Value::as_f64)
                .ok_or_else(|| format!("no number at {pointer}"))
        };
        if summary.pointer("/flows/0/completed") != Some(&Value::Bool(true)) {
            return Err("the transfer did not end".into());
        }
        for pointer in [
            "/flows/0/losses",
            "/flows/0/retransmissions",
            "/links/0/dropped",
        ] {
            if number(pointer)? != 0.0 {
                return Err(format!("the run is not free of loss: {pointer}"));
            }
        }
        let (start, end) = (number("/flows/0/start_s")?, number("/flows/0/end_s")?);
        let (data, reqs) = (number("/links/0/arrivals")?, number("/links/1/arrivals")?);
        // utilisation = bits sent with the link header / (rate x time from first start to the end).
        let time = number("/duration_s")? - start;
        let mean_size = |link: &str, packets: f64| -> Result<u32, String> {
            let share = number(&format!("/links/{link}/utilisation"))?;
            let rate = number(&format!("/links/{link}/rate_mbps"))? * 1e6;
            Ok((share * rate * time / 8.0 / packets - LINK_HEADER).round() as u32)
        };
        Ok(Self {
            data: data as u64,
            reqs: reqs as u64,
            data_size: mean_size("0", data)?,
            req_size: mean_size("1", reqs)?,
            length_s: end - start,
            bytes: number("/flows/0/bytes")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn summary() -> Value {
        json!({
            "duration_s": 10.1,
            "flows": [{"completed": true, "losses": 0, "retransmissions": 0, "start_s": 0.1,
                       "end_s": 1.3, "bytes": 6_250_000}],
            // 5,000 packets of 1,360 B and 2,500 of 108 B with the link header, in 10 s.
            "links": [
                {"arrivals": 5000, "dropped": 0, "rate_mbps": 50.0, "utilisation": 0.1088},
                {"arrivals": 2500, "dropped": 0, "rate_mbps": 50.0, "utilisation": 0.00432},
            ],
        })
    }

    #[test]
    fn counts_and_sizes_are_recovered_from_the_summary() {
        let transfer = Transfer::from_summary(&summary()).unwrap();
        assert_eq!((transfer.data, transfer.data_size), (5000, 1358));
        assert_eq!((transfer.reqs, transfer.req_size), (2500, 106));
        assert!((transfer.length_s - 1.2).abs() < 1e-9);
    }

    #[test]
    fn a_run_with_loss_or_without_an_end_is_refused() {
        for (pointer, value) in [
            ("/flows/0/losses", json!(1)),
            ("/links/0/dropped", json!(3)),
            ("/flows/0/completed", json!(false)),
        ] {
            let mut changed = summary();
            *changed.pointer_mut(pointer).unwrap() = value;
            assert!(Transfer::from_summary(&changed).is_err(), "{pointer}");
        }
        assert!(Transfer::from_summary(&json!({})).is_err());
    }
}
