//! NewReno: RFC 5681 and RFC 6582 as RFC 9002, section 7 words them for a transport that knows
//! exactly what is outstanding.
//!
//! Departures: there is no window inflation during recovery, because arrivals are taken off the
//! outstanding bytes one by one; and congestion avoidance counts bytes (RFC 5681, section 3.1,
//! after equation (3)), which gives exactly one packet per window of DATA.
//!
//! By default a cut is final, as in these RFCs: the plain NewReno is what others are compared with,
//! under reordering above all. `undo` adds the response of RFC 4015 to cuts and timeouts whose
//! losses all turn out to be none (the `undo` module).

use super::undo::Undo;
use super::window::{Saved, TimeoutKind, Window, check_beta, check_mark_beta};
use super::{
    Allowance, Controller, Data, Loss, LostUnit, Restart, Setup, Snapshot, SpuriousLoss, Timeout,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of NewReno.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// First window in packets, 1..1e6; 0 means the transport's.
    pub initial_window_packets: f64,
    /// Factor on the window at a loss, between 0 and 1 (RFC 5681: 0.5).
    pub beta: f64,
    /// Factor on the window at a mark, above 0 (RFC 3168: as for a loss; RFC 8511: 0.8); 1 ignores
    /// marks.
    pub mark_beta: f64,
    /// Window after a retransmission timeout in packets, 1..10 (RFC 5681: 1; RFC 9002: 2).
    pub timeout_window_packets: f64,
    /// Whether a reduction is taken back when all its losses turn out to be none (RFC 4015; not part
    /// of RFC 6582).
    pub undo: bool,
    /// Whether requests are spread over the round trip.
    pub pacing: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            initial_window_packets: 0.0,
            beta: 0.5,
            mark_beta: 0.5,
            timeout_window_packets: 1.0,
            undo: false,
            pacing: false,
        }
    }
}

/// NewReno.
#[derive(Debug, Clone)]
pub struct NewReno {
    config: Config,
    window: Window,
    /// Packets that arrived in congestion avoidance and have not grown the window yet.
    credit: f64,
    undo: Option<Undo<Before>>,
}

/// What a needless reduction returns to.
#[derive(Debug, Clone, Copy)]
struct Before {
    window: Saved,
    credit: f64,
}

impl NewReno {
    /// A controller in slow start.
    pub fn new(setup: &Setup, config: &Config) -> Result<NewReno, String> {
        check_beta("beta", config.beta)?;
        check_mark_beta(config.mark_beta)?;
        if !(1.0..=10.0).contains(&config.timeout_window_packets) {
            return Err(format!(
                "timeout_window_packets: {} is not in 1..10",
                config.timeout_window_packets
            ));
        }
        let window = Window::new(setup, config.initial_window_packets, config.pacing)?;
        Ok(NewReno {
            config: *config,
            window,
            credit: 0.0,
            undo: None,
        })
    }

    /// Congestion avoidance: one packet per window of DATA.
    fn avoid_congestion(&mut self, packets: f64) {
        self.credit += packets;
        let cwnd = self.window.cwnd();
        let whole = (self.credit / cwnd).floor();
        self.credit -= whole * cwnd;
        self.window.grow(whole);
    }

    /// Remembers what the reduction for the first of `units` that begins an episode may return to.
    fn note_reduction(&mut self, units: &[LostUnit], next_pn: u64) {
        let new = |u: &&LostUnit| self.window.is_new_episode(u.pn);
        let first_pn = units.iter().find(new).map_or(next_pn, |u| u.pn);
        let before = Before {
            window: self.window.save(),
            credit: self.credit,
        };
        self.undo = (self.config.undo).then(|| Undo::new(before, first_pn, next_pn));
    }

    fn cut(&mut self, beta: f64, next_pn: u64) {
        self.window.cut(beta, next_pn);
        self.credit = 0.0;
    }
}

impl Controller for NewReno {
    fn on_data(&mut self, data: &Data) {
        let admitted = self.window.admit(data);
        if data.marked && self.config.mark_beta < 1.0 && self.window.is_new_episode(data.pn) {
            self.cut(self.config.mark_beta, data.next_pn);
            self.undo = None; // A mark is never spurious.
            return;
        }
        let Some(mut packets) = admitted else { return };
        if self.window.in_slow_start() {
            packets = self.window.slow_start(packets, 1.0);
        }
        if packets > 0.0 {
            self.avoid_congestion(packets);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if self.window.is_new_episode(loss.largest_pn()) {
            self.note_reduction(loss.units, loss.next_pn);
            self.cut(self.config.beta, loss.next_pn);
        }
        if let Some(undo) = &mut self.undo {
            undo.on_loss(loss.units);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout<'_>) {
        let kind = self.window.judge_timeout(timeout.largest_pn());
        match kind {
            TimeoutKind::NewEpisode => self.note_reduction(timeout.units, timeout.next_pn),
            TimeoutKind::BackedOff => self.undo = None,
            TimeoutKind::SameEpisode | TimeoutKind::OldPath => {}
        }
        if let Some(undo) = &mut self.undo {
            undo.on_loss(timeout.units);
        }
        let config = &self.config;
        self.window.collapse(
            kind,
            config.timeout_window_packets,
            config.beta,
            timeout.next_pn,
        );
        if kind != TimeoutKind::OldPath {
            self.credit = 0.0;
        }
    }

    fn on_restart(&mut self, restart: &Restart) {
        self.window.restart(restart.next_pn);
        self.credit = 0.0;
        self.undo = None;
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        if let Some(before) = Undo::on_spurious_loss(&mut self.undo, spurious.pn) {
            self.window.restore(&before.window);
            self.credit = before.credit;
        }
    }

    fn allowance(&self) -> Allowance {
        self.window.allowance()
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.window.phase(),
            ssthresh: self.window.traced_ssthresh(),
            ..Snapshot::default()
        }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MSS, Script};
    use super::super::{Phase, RestartCause};
    use super::*;
    use crate::units::{Bytes, Instant};

    fn script(config: Config) -> Script<NewReno> {
        Script::new(NewReno::new(&Setup::default(), &config).unwrap())
    }

    fn reno() -> Script<NewReno> {
        script(Config::default())
    }

    #[test]
    fn slow_start_doubles_each_round() {
        let mut s = reno();
        for expected in [20.0, 40.0, 80.0] {
            s.round();
            assert_eq!(s.cwnd(), expected);
        }
        assert_eq!(s.controller.snapshot().phase, Phase::SlowStart);
    }

    #[test]
    fn congestion_avoidance_adds_exactly_one_packet_per_round() {
        let mut s = reno();
        s.round();
        s.lose(1); // 20 -> 10
        s.drain();
        assert_eq!(s.cwnd(), 10.0);
        for k in 1..=30 {
            s.round();
            assert_eq!(s.cwnd(), 10.0 + f64::from(k), "round {k}");
        }
    }

    #[test]
    fn growth_beyond_the_window_in_one_event_is_counted_in_full() {
        let mut s = reno();
        s.lose(1); // 10 -> 5
        s.drain();
        s.data_of(12.0); // two windows and two packets
        assert_eq!(s.cwnd(), 7.0);
        s.data_of(5.0); // 2 + 5 = 7: one more window
        assert_eq!(s.cwnd(), 8.0);
    }

    #[test]
    fn a_burst_of_losses_in_one_window_halves_once() {
        let mut s = reno();
        s.round(); // 20
        s.send(20);
        for _ in 0..7 {
            s.lose_outstanding(1);
        }
        assert_eq!(s.cwnd(), 10.0);
        assert_eq!(s.controller.snapshot().phase, Phase::Recovery);
        // DATA of that window does not grow it, and its end does not let old losses in again.
        while s.outstanding() > 1 {
            s.data();
        }
        assert_eq!(s.cwnd(), 10.0);
        s.send(1);
        s.data_of_newest();
        let before = s.cwnd();
        s.lose_outstanding(1);
        assert_eq!(s.cwnd(), before);
        // A loss of what left after the cut is another episode.
        s.send(1);
        s.lose_outstanding(1);
        assert_eq!(s.cwnd(), before / 2.0);
    }

    #[test]
    fn the_floor_is_two_packets_and_one_after_a_timeout() {
        let mut s = reno();
        for _ in 0..10 {
            s.lose(1);
            s.drain();
        }
        assert_eq!(s.cwnd(), 2.0);
        s.timeout();
        assert_eq!(s.cwnd(), 1.0);
        assert_eq!(s.controller.snapshot().ssthresh, Some(MSS * 2));
    }

    #[test]
    fn a_timer_that_backs_off_keeps_the_threshold() {
        let mut s = reno();
        s.round();
        s.round(); // 40
        s.timeout();
        s.timeout();
        s.timeout();
        assert_eq!(s.cwnd(), 1.0);
        assert_eq!(s.controller.snapshot().ssthresh, Some(MSS * 20));
        // Slow start up to the threshold, then one packet per round.
        for expected in [2.0, 4.0, 8.0, 16.0, 20.0, 21.0] {
            s.round();
            assert_eq!(s.cwnd(), expected);
        }
    }

    #[test]
    fn a_timeout_of_what_was_cut_for_already_keeps_the_threshold() {
        let mut s = reno();
        s.round(); // 20
        s.send(20);
        s.lose_outstanding(1); // 10
        s.expire_outstanding();
        assert_eq!(s.cwnd(), 1.0);
        assert_eq!(s.controller.snapshot().ssthresh, Some(MSS * 10));
    }

    #[test]
    fn no_growth_while_application_limited() {
        let mut s = reno();
        s.app_limited = true;
        s.round();
        assert_eq!(s.cwnd(), 10.0);
        s.app_limited = false;
        s.round();
        assert_eq!(s.cwnd(), 20.0);
    }

    #[test]
    fn a_mark_cuts_once_per_window_and_can_be_ignored() {
        let mut s = reno();
        s.marked = true;
        s.round();
        assert_eq!(s.cwnd(), 5.0);
        let mut s = script(Config {
            mark_beta: 1.0,
            ..Config::default()
        });
        s.marked = true;
        s.round();
        assert_eq!(s.cwnd(), 20.0);
    }

    #[test]
    fn a_restart_forgets_the_old_path() {
        let mut s = reno();
        s.round();
        s.lose(1);
        s.drain();
        s.send(8);
        s.restart(RestartCause::PathChanged);
        assert_eq!(s.cwnd(), 10.0);
        assert_eq!(s.controller.snapshot().ssthresh, None);
        s.lose_outstanding(3);
        s.expire_outstanding();
        assert_eq!(
            s.cwnd(),
            10.0,
            "the old path's losses say nothing about the new one"
        );
        s.round();
        assert_eq!(s.cwnd(), 20.0);
    }

    /// Mathis et al.: one loss per 1/p packets gives a mean window of sqrt(3/(2p)).
    #[test]
    fn mean_window_under_periodic_loss() {
        for p in [0.01, 0.001] {
            let mean = reno().mean_window_with_periodic_loss(p, 40);
            let expected = (1.5_f64 / p).sqrt();
            assert!(
                (mean / expected - 1.0).abs() < 0.1,
                "p {p}: {mean}, expected {expected}"
            );
        }
    }

    #[test]
    fn spurious_reductions_are_taken_back_if_that_is_wanted() {
        for undo in [false, true] {
            let make = || {
                script(Config {
                    undo,
                    ..Config::default()
                })
            };
            let after = |kept: f64, restored: f64| if undo { restored } else { kept };
            // A loss, told in two events.
            let mut s = make();
            s.round(); // 20
            s.send(20);
            let mut lost = s.lose_outstanding(2);
            lost.extend(s.lose_outstanding(1));
            for (at, pn) in lost.iter().enumerate() {
                assert_eq!(s.cwnd(), 10.0, "{at} of three have arrived");
                s.spurious(*pn);
            }
            assert_eq!(s.cwnd(), after(10.0, 20.0));
            assert_eq!(s.controller.snapshot().ssthresh.is_none(), undo);
            // What left before is judged anew: a real loss of the same window cuts.
            s.lose_outstanding(1);
            assert_eq!(s.cwnd(), 10.0);
            // A timeout.
            let mut s = make();
            s.round(); // 20
            let lost = s.timeout();
            assert_eq!(s.cwnd(), 1.0);
            for pn in lost {
                s.spurious(pn);
            }
            assert_eq!(s.cwnd(), after(1.0, 20.0));
        }
    }

    #[test]
    fn one_genuine_loss_keeps_the_reduction() {
        let mut s = script(Config {
            undo: true,
            ..Config::default()
        });
        s.round(); // 20
        s.send(20);
        let lost = s.lose_outstanding(2);
        s.spurious(lost[1]);
        s.drain();
        assert_eq!(s.cwnd(), 10.0);
        // A late arrival of an older episode does not touch the newer one.
        s.lose(1);
        let cut = s.cwnd();
        s.spurious(lost[0]);
        assert_eq!(s.cwnd(), cut);
    }

    #[test]
    fn pacing_needs_an_rtt_and_spreads_the_window() {
        let mut s = script(Config {
            pacing: true,
            ..Config::default()
        });
        assert_eq!(s.controller.allowance().pacing, None);
        s.round(); // 20 packets, RTT 100 ms
        let pacing = s.controller.allowance().pacing.unwrap();
        assert_eq!(pacing.as_packets_per_sec(MSS), 2.0 * 20.0 / 0.1);
    }

    #[test]
    fn bad_parameters_are_told_in_one_line() {
        for (config, field) in [
            (
                Config {
                    beta: 1.0,
                    ..Config::default()
                },
                "beta",
            ),
            (
                Config {
                    beta: f64::NAN,
                    ..Config::default()
                },
                "beta",
            ),
            (
                Config {
                    mark_beta: 0.0,
                    ..Config::default()
                },
                "mark_beta",
            ),
            (
                Config {
                    timeout_window_packets: 0.5,
                    ..Config::default()
                },
                "timeout_window_packets",
            ),
            (
                Config {
                    initial_window_packets: -1.0,
                    ..Config::default()
                },
                "initial_window_packets",
            ),
        ] {
            let error = NewReno::new(&Setup::default(), &config).unwrap_err();
            assert!(error.starts_with(field) && !error.contains('\n'), "{error}");
        }
        let no_mss = Setup {
            mss: Bytes::ZERO,
            ..Setup::default()
        };
        assert!(
            NewReno::new(&no_mss, &Config::default())
                .unwrap_err()
                .starts_with("mss")
        );
    }

    #[test]
    fn windows_beyond_four_gigabytes_and_late_times_are_exact() {
        let mut s = reno();
        s.now = Instant::MAX;
        s.data_of(4e6); // 5 GB at once
        assert_eq!(s.cwnd(), 4_000_010.0);
        assert_eq!(s.controller.allowance().window, MSS * 4_000_010);
    }
}
