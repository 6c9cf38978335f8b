//! HyStart++ (RFC 9406): ends slow start when the round-trip time grows, before losses do it.

use super::Data;
use crate::units::Duration;

/// RFC 9406, section 4.3: MIN_RTT_THRESH, 4 ms.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
/// RFC 9406, section 4.3: MAX_RTT_THRESH, 16 ms.
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
/// RFC 9406, section 4.3: MIN_RTT_DIVISOR, dimensionless.
const MIN_RTT_DIVISOR: u64 = 8;
/// RFC 9406, section 4.3: N_RTT_SAMPLE, samples of a round before it is judged.
const N_RTT_SAMPLE: u32 = 8;
/// RFC 9406, section 4.3: CSS_GROWTH_DIVISOR, dimensionless.
const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// RFC 9406, section 4.3: CSS_ROUNDS, rounds of conservative slow start.
const CSS_ROUNDS: u32 = 5;

/// What slow start is to do with the DATA at hand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    /// Grow by this many packets per packet that arrived.
    Grow(f64),
    /// Go on with congestion avoidance.
    Exit,
}

/// The detector's state. Rounds are the transport's packet-timed round trips.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HyStart {
    last_round_min_rtt: Option<Duration>,
    current_round_min_rtt: Option<Duration>,
    samples: u32,
    css: Option<Css>,
}

/// Conservative slow start.
#[derive(Debug, Clone, Copy)]
struct Css {
    /// The round's minimum when it was entered; a smaller one later means that it was in error.
    baseline_min_rtt: Duration,
    rounds: u32,
}

impl HyStart {
    /// Judges DATA that arrived in slow start.
    pub(super) fn on_data(&mut self, data: &Data) -> Verdict {
        if data.round_start {
            self.last_round_min_rtt = self.current_round_min_rtt.take();
            self.samples = 0;
            if let Some(css) = &mut self.css {
                css.rounds += 1;
                if css.rounds >= CSS_ROUNDS {
                    return Verdict::Exit;
                }
            }
        }
        if let Some(rtt) = data.rtt {
            self.current_round_min_rtt =
                Some(self.current_round_min_rtt.map_or(rtt, |min| min.min(rtt)));
            self.samples += 1;
        }
        if let (true, Some(current)) = (self.samples >= N_RTT_SAMPLE, self.current_round_min_rtt) {
            self.judge(current);
        }
        Verdict::Grow(if self.css.is_some() {
            1.0 / CSS_GROWTH_DIVISOR
        } else {
            1.0
        })
    }

    fn judge(&mut self, current: Duration) {
        match (self.css, self.last_round_min_rtt) {
            (Some(css), _) if current < css.baseline_min_rtt => self.css = None,
            (None, Some(last)) => {
                let threshold = (last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if current >= last + threshold {
                    self.css = Some(Css {
                        baseline_min_rtt: current,
                        rounds: 0,
                    });
                }
            }
            _ => {}
        }
    }
}
