//! The receiver's window control of early congestion detection (ECD) in ICN: Reno's growth and
//! halving, and a cut in proportion to the share of DATA that routers have marked.
//!
//! Source: the ECD paper, section 4.3, equations (2) to (6) and Algorithm 2; the estimate of the
//! degree of congestion alpha is that of DCTCP (RFC 8257, section 3.3). With routers that never
//! mark this is NewReno but for the retransmission timeout.
//!
//! Algorithm 2 and the text of section 4.3 contradict each other. What is taken, and the parameter
//! that has the printed form ([`Variant`] sets them together):
//!
//! - Line 18 sets the threshold on a timeout by equation (6), which is alpha. The text wants
//!   equation (4), half of the window; the window follows it and does not collapse to one packet.
//!   (`timeout_response`)
//! - Losses that later DATA proves are not in the algorithm; by the text they halve the window, here
//!   once for what one window lost. (`loss_response`)
//! - Lines 8 to 11 update alpha only when a marked packet arrives, so that alpha does not fall while
//!   nothing is marked. The text updates it once per window of data. (`alpha_update`)
//! - A cut for marks leaves ssthresh alone in the algorithm, so that a flow in slow start goes on
//!   doubling. Here the cut ends slow start. (`ssthresh_on_mark`)
//! - "Expire an RTT" is a window of data: from the first DATA that was requested after the last
//!   window began. First alpha, with the share of the window that has just ended, then the cut with
//!   the new alpha. RFC 8257 cuts at a window's first mark with the alpha it has.
//!   (`first_mark_immediate`)
//! - Neither says what alpha is at first; RFC 8257 begins with 1. (`alpha`)
//! - Marked DATA never grows the window, unmarked DATA of the same window does. The window is not
//!   cut below two packets. (`min_window`)
//! - Equation (3), applied packet by packet, adds slightly less than a packet per window; the
//!   default counts packets as NewReno does. (`congestion_avoidance`)
//!
//! DATA that was requested before the window was halved for a loss neither grows the window nor is
//! it a reason to cut for its marks; they count in alpha. A loss halves also after a cut for marks
//! in the same window, as in RFC 8257, section 3.5.

use super::range::check;
use super::window::Window;
use super::{Allowance, Controller, Data, Loss, Restart, Setup, Snapshot, Timeout};
use crate::feedback::RecoveryGuard;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Equation (4): what remains of the window after a loss.
const LOSS_FACTOR: f64 = 0.5;

/// A set of defaults for the parameters that are not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// The text of section 4.3 where it and the algorithm differ.
    Settled,
    /// Marks as Algorithm 2 has them; losses and timeouts as the text does.
    #[serde(rename = "algorithm-2")]
    Algorithm2,
    /// Every line of Algorithm 2 as it is printed.
    Printed,
}

/// When alpha is updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlphaUpdate {
    /// Once per window of data, marked or not; a cut follows if something was marked.
    Window,
    /// When marked DATA arrives and the last update is a window of data ago; a cut follows.
    Mark,
}

/// What a loss does that later DATA proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossResponse {
    /// Equation (4), once for what one window lost.
    Halve,
    /// Nothing but the repetition of the request.
    None,
}

/// What a retransmission timeout does to ssthresh and the window, which become the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutResponse {
    /// Equation (4).
    Halve,
    /// Equation (6): alpha, which is never more than a packet, so that it is `min_window`.
    Alpha,
}

/// How the window grows beyond ssthresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionAvoidance {
    /// One packet when a window of unmarked packets has arrived, as NewReno (RFC 5681, section 3.1).
    Counted,
    /// 1/cwnd for each unmarked packet: equation (3).
    PerPacket,
}

/// Parameters of ECD. Those that are null are the variant's:
///
/// | | `settled` | `algorithm-2` | `printed` |
/// |---|---|---|---|
/// | `alpha_update` | window | mark | mark |
/// | `ssthresh_on_mark` | true | false | false |
/// | `loss_response` | halve | halve | none |
/// | `timeout_response` | halve | halve | alpha |
/// | `min_window` | 2 | 2 | 1 |
/// | `congestion_avoidance` | counted | counted | per-packet |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The defaults of the parameters that are null.
    pub variant: Variant,
    /// First window in packets, 1..1e6 (Algorithm 2: 2); 0 means the transport's.
    pub initial_window: f64,
    /// The degree of congestion alpha before the first window of data has ended, 0..1.
    pub alpha: f64,
    /// Weight of a window's share of marks in alpha: omega of equation (6), 0.000001..1.
    pub gain: f64,
    /// The window is not cut below so many packets, 1..100.
    pub min_window: Option<f64>,
    /// When alpha is updated.
    pub alpha_update: Option<AlphaUpdate>,
    /// Whether a cut for marks ends slow start: ssthresh becomes the window.
    pub ssthresh_on_mark: Option<bool>,
    /// Whether the cut comes with the first mark of a window and the alpha of the last one (RFC 8257),
    /// not at the window's end. No effect with `alpha_update: mark`, which is as immediate.
    pub first_mark_immediate: bool,
    /// What a loss does that later DATA proves.
    pub loss_response: Option<LossResponse>,
    /// What a retransmission timeout does.
    pub timeout_response: Option<TimeoutResponse>,
    /// How the window grows beyond ssthresh.
    pub congestion_avoidance: Option<CongestionAvoidance>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            variant: Variant::Settled,
            initial_window: 2.0,
            alpha: 1.0,
            // RFC 8257, section 4.2, and the ECD paper: 1/16.
            gain: 0.0625,
            min_window: None,
            alpha_update: None,
            ssthresh_on_mark: None,
            first_mark_immediate: false,
            loss_response: None,
            timeout_response: None,
            congestion_avoidance: None,
        }
    }
}

/// Parameters with the variant's values in place.
#[derive(Debug, Clone, Copy)]
struct Rules {
    first_alpha: f64,
    gain: f64,
    min_window: f64,
    alpha_update: AlphaUpdate,
    ssthresh_on_mark: bool,
    first_mark_immediate: bool,
    loss_response: LossResponse,
    timeout_response: TimeoutResponse,
    congestion_avoidance: CongestionAvoidance,
}

impl Config {
    fn rules(&self) -> Result<Rules, String> {
        let settled = self.variant == Variant::Settled;
        let printed = self.variant == Variant::Printed;
        let choose = |yes, a, b| if yes { a } else { b };
        let min_window = self.min_window.unwrap_or(if printed { 1.0 } else { 2.0 });
        check("alpha", self.alpha, 0.0..=1.0)?;
        check("gain", self.gain, 1e-6..=1.0)?;
        check("min_window", min_window, 1.0..=100.0)?;
        if self.initial_window != 0.0 {
            check("initial_window", self.initial_window, 1.0..=1e6)?;
        }
        Ok(Rules {
            first_alpha: self.alpha,
            gain: self.gain,
            min_window,
            alpha_update: self.alpha_update.unwrap_or(choose(
                settled,
                AlphaUpdate::Window,
                AlphaUpdate::Mark,
            )),
            ssthresh_on_mark: self.ssthresh_on_mark.unwrap_or(settled),
            first_mark_immediate: self.first_mark_immediate,
            loss_response: self.loss_response.unwrap_or(if printed {
                LossResponse::None
            } else {
                LossResponse::Halve
            }),
            timeout_response: self.timeout_response.unwrap_or(if printed {
                TimeoutResponse::Alpha
            } else {
                TimeoutResponse::Halve
            }),
            congestion_avoidance: self.congestion_avoidance.unwrap_or(if printed {
                CongestionAvoidance::PerPacket
            } else {
                CongestionAvoidance::Counted
            }),
        })
    }
}

/// What the marks of a path say.
#[derive(Debug, Clone, Copy, Default)]
struct Marks {
    /// The degree of congestion, 0..1.
    alpha: f64,
    /// The window of data that is being counted ends with the first unit from this request on.
    window_end: u64,
    /// Units of it that have arrived, and those among them that were marked.
    received: u64,
    marked: u64,
    /// F: the share of marked units in the window of data before.
    share: f64,
    /// Something was marked in this window that a cut at its end must answer.
    cut_due: bool,
    /// What left before the last cut that answered a mark at once.
    answered: RecoveryGuard,
    /// Requests below this left on an earlier path.
    path_start: u64,
}

impl Marks {
    fn new(alpha: f64, next_pn: u64) -> Marks {
        Marks {
            alpha,
            window_end: next_pn,
            path_start: next_pn,
            ..Marks::default()
        }
    }

    /// Ends a window of data if `data` is the first of the next one. True if one has ended.
    fn roll(&mut self, data: &Data) -> bool {
        if data.pn < self.window_end {
            return false;
        }
        let ended = self.received > 0;
        if ended {
            self.share = self.marked as f64 / self.received as f64;
        }
        (self.window_end, self.received, self.marked) = (data.next_pn, 0, 0);
        ended
    }

    /// Equation (6).
    fn update_alpha(&mut self, gain: f64) {
        self.alpha = ((1.0 - gain) * self.alpha + gain * self.share).clamp(0.0, 1.0);
    }
}

/// Window control by early congestion detection.
#[derive(Debug, Clone)]
pub struct Ecd {
    rules: Rules,
    window: Window,
    marks: Marks,
    /// Packets that arrived in congestion avoidance and have not grown the window yet.
    credit: f64,
}

impl Ecd {
    /// A controller in slow start.
    pub fn new(setup: &Setup, config: &Config) -> Result<Ecd, String> {
        let rules = config.rules()?;
        Ok(Ecd {
            rules,
            window: Window::new(setup, config.initial_window, false)?,
            marks: Marks::new(rules.first_alpha, 0),
            credit: 0.0,
        })
    }

    /// Counts marks, updates alpha and cuts for them.
    fn judge_marks(&mut self, data: &Data) {
        let by_window = self.rules.alpha_update == AlphaUpdate::Window;
        if self.marks.roll(data) && by_window {
            self.marks.update_alpha(self.rules.gain);
            if std::mem::take(&mut self.marks.cut_due) {
                self.cut_for_marks();
            }
        }
        self.marks.received += 1;
        self.marks.marked += u64::from(data.marked);
        if !data.marked || !self.window.is_new_episode(data.pn) {
            return;
        }
        let immediate = self.rules.first_mark_immediate || !by_window;
        if !immediate {
            self.marks.cut_due = true;
        } else if self.marks.answered.is_new_episode(data.pn) {
            if !by_window {
                self.marks.update_alpha(self.rules.gain);
            }
            self.cut_for_marks();
            self.marks.answered.begin(data.next_pn);
        }
    }

    /// Equation (5).
    fn cut_for_marks(&mut self) {
        let factor = 1.0 - self.marks.alpha / 2.0;
        self.window.shrink(factor, self.rules.min_window);
        if self.rules.ssthresh_on_mark {
            self.window.leave_slow_start();
        }
        self.credit = 0.0;
    }

    /// Equation (4), or less: ssthresh and the window become `factor` times the window.
    fn cut_for_loss(&mut self, factor: f64, next_pn: u64) {
        self.window.shrink(factor, self.rules.min_window);
        self.window.leave_slow_start();
        self.window.begin_episode(next_pn);
        // The halving answers this window's marks as well.
        self.marks.cut_due = false;
        self.credit = 0.0;
    }

    /// Equation (3) for `packets` packets.
    fn avoid_congestion(&mut self, packets: f64) {
        let cwnd = self.window.cwnd();
        match self.rules.congestion_avoidance {
            CongestionAvoidance::PerPacket => self.window.grow(packets / cwnd),
            CongestionAvoidance::Counted => {
                self.credit += packets;
                let whole = (self.credit / cwnd).floor();
                self.credit -= whole * cwnd;
                self.window.grow(whole);
            }
        }
    }
}

impl Controller for Ecd {
    fn on_data(&mut self, data: &Data) {
        let admitted = self.window.admit(data);
        if data.pn >= self.marks.path_start {
            self.judge_marks(data);
        }
        let Some(mut packets) = admitted.filter(|_| !data.marked) else {
            return;
        };
        if self.window.in_slow_start() {
            packets = self.window.slow_start(packets, 1.0);
        }
        if packets > 0.0 {
            self.avoid_congestion(packets);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if self.rules.loss_response == LossResponse::Halve
            && self.window.is_new_episode(loss.largest_pn())
        {
            self.cut_for_loss(LOSS_FACTOR, loss.next_pn);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout<'_>) {
        if self.window.is_new_episode(timeout.largest_pn()) {
            let factor = match self.rules.timeout_response {
                TimeoutResponse::Halve => LOSS_FACTOR,
                TimeoutResponse::Alpha => 0.0,
            };
            self.cut_for_loss(factor, timeout.next_pn);
        }
    }

    fn on_restart(&mut self, restart: &Restart) {
        self.window.restart(restart.next_pn);
        self.marks = Marks::new(self.rules.first_alpha, restart.next_pn);
        self.credit = 0.0;
    }

    fn allowance(&self) -> Allowance {
        self.window.allowance()
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.window.phase(),
            ssthresh: self.window.traced_ssthresh(),
            alpha: Some(self.marks.alpha),
            ..Snapshot::default()
        }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests;
